package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsNote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"note", "Note: she is a friend", "NOTE she asks twice", "note, ask Eva", "note\nask Eva", "  note ask Eva", "> note quoted", "**note** bold", "_note_ x", "`note` x",
		"\u200bnote x", "no\u200bte x", "\u202enote x", "\u2066note\u2069 x", "ｎｏｔｅ x", "nоte with a Cyrillic o", "nοtе x", "notes: two", "📝 ask Eva", "📝ask Eva", " 📝\ufe0f x", "🗒️ x",
		"@eva can you?", "\ufeffnote x", "“note” x", "ⓝⓞⓣⓔ x", "nóte x", "- note x", "(note) x", "note 📝", "note-to-self", "note…",
	} {
		require.True(t, IsNote(s), "%q", s)
	}
	for _, s := range []string{
		"", "Your order is on its way", "Please note that we close at 6", "notebook prices are on the site", "noted!", "Notice: we moved", "no te preocupes", "not yet", "Write to me@example.com", "ok 📝",
	} {
		require.False(t, IsNote(s), "%q", s)
	}
}
