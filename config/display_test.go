package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What "config get" prints can be typed after "config set", also where "off" was written.
func TestDisplay_EachValueCanBeSet(t *testing.T) {
	t.Parallel()
	c := defaults()
	for _, f := range c.fields() {
		if f.isSecret || f.isSecretFile || f.node != nil || f.entry != nil || f.clear != nil || f.example != "" {
			continue
		}
		for _, change := range []func() error{func() error { return nil }, func() error { return f.set("off") }} {
			before := f.value()
			if text, isText := before.(string); change() != nil || isText && text == "" {
				continue
			}
			want := f.value()
			require.NoError(t, f.set(f.display()), "%s: %q", f.key, f.display())
			require.Equal(t, want, f.value(), "%s: %q", f.key, f.display())
		}
	}
	c.Chats.OwnerPause = 90 * time.Minute
	for _, f := range c.fields() {
		if f.key == "chats.admin_pause_minutes" {
			require.Equal(t, "90", f.display())
		}
	}
}
