package text_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
)

func TestFields_KeepsOrderAndRepeatedNames(t *testing.T) {
	t.Parallel()
	fields, ok := text.Fields(` {"b": "x y", "a": [1, "2"], "b": null} `)
	require.True(t, ok)
	require.Equal(t, []text.Field{{"b", "x y"}, {"a", `[1, "2"]`}, {"b", ""}}, fields)
	for _, other := range []string{"", "{}", "[1]", `"x"`, `{"a": 1} {"b": 2}`, `{"a": 1`, `{"a"}`, "rm -rf /"} {
		_, ok := text.Fields(other)
		require.False(t, ok, other)
	}
}

func TestUnhidden_EscapesWhatNobodySees(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain ü €":      "plain ü €",
		"a\nb":           `a\nb`,
		"a  b":           `a \x20b`,
		"a\u202eb":       `a\u202eb`,
		"a\u2800b":       `a\u2800b`,
		"a\u00a0b\u200b": `a\u00a0b\u200b`,
	} {
		require.Equal(t, want, text.Unhidden(in))
	}
}
