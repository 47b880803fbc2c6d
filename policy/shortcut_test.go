package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func shortcuts(tb testing.TB, pairs ...string) (all []Shortcut) {
	tb.Helper()
	for i := 0; i < len(pairs); i += 2 {
		s, err := NewShortcut(pairs[i], pairs[i+1])
		require.NoError(tb, err)
		all = append(all, s)
	}
	return all
}

func TestExpandShortcut_UsesFirstMatch(t *testing.T) {
	t.Parallel()
	all := shortcuts(t, `stop everything[.!]*|alarm`, "/pause all", `erinner mich (.+)`, "/remind $1", `(\w+) gets answers`,
		"/mode business ${1}", `.*piano.*`, "/ask $0")
	for text, want := range map[string]string{
		"Stop everything!":             "/pause all",
		" ALARM \n":                    "/pause all",
		"erinner mich morgen 9:00 Ana": "/remind morgen 9:00 Ana",
		"Ana gets answers":             "/mode business Ana",
		"my piano\nis out of tune":     "/ask my piano\nis out of tune",
	} {
		t.Run(text, func(t *testing.T) {
			got, ok := ExpandShortcut(all, text)
			require.True(t, ok, text)
			require.Equal(t, want, got)
		})
	}
	for _, text := range []string{"", "do not stop everything", "false alarm", "erinner mich", strings.Repeat("piano ", 100)} {
		t.Run(text, func(t *testing.T) {
			_, ok := ExpandShortcut(all, text)
			require.False(t, ok, text)
		})
	}
	_, err := NewShortcut("(", "/help")
	require.Error(t, err)
}

func BenchmarkExpandShortcut(b *testing.B) {
	var pairs []string
	for i := range 20 {
		pairs = append(pairs, fmt.Sprintf(`(?:please )?remind me of (.+) number %d`, i), "/remind $1", fmt.Sprintf(`.*word%d.*`, i), "/ask $0")
	}
	all := shortcuts(b, pairs...)
	text := strings.Repeat("remind me of it ", 400/16)
	for b.Loop() {
		ExpandShortcut(all, text)
	}
}
