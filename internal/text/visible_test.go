package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
)

func TestVisible_WritesOutInvisible(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"plain text, ä and 漢":       "plain text, ä and 漢",
		"gpj.\u202Eexe":             `gpj.\u202Eexe`,
		"a\u200Bb\x1b[31mc\x00":     `a\u200Bb\u001B[31mc\u0000`,
		"tag \U000E0041 of Unicode": `tag \U000E0041 of Unicode`,
	} {
		require.Equal(t, want, text.Visible(given))
	}
}
