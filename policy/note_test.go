package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsNote(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"note", "Note: she is a friend", "NOTE she asks twice", "note, ask Eva", "note\nask Eva", "  note ask Eva", "> note quoted",
		"**note** bold", "_note_ x", "`note` x",
		"\u200bnote x", "no\u200bte x", "\u202enote x", "\u2066note\u2069 x", "ｎｏｔｅ x", "nоte with a Cyrillic o", "nοtе x", "notes: two",
		"📝 ask Eva", "📝ask Eva", " 📝\ufe0f x", "🗒️ x",
		"@eva can you?", "\ufeffnote x", "“note” x", "ⓝⓞⓣⓔ x", "nóte x", "- note x", "(note) x", "note 📝", "note-to-self", "note…",
		"🤫 note: x", "🤫note x", "🤫🏽\ufe0f 📝 x", "👩‍💻 note x", "🇩🇪 notes x", "🙂@eva x", "€ note x", "→ note x", "☎️ 🗒 x", "🤫 ⓝote x",
	} {
		t.Run(s, func(t *testing.T) {
			require.True(t, IsNote(s), "%q", s)
		})
	}
	for _, s := range []string{
		"", "Your order is on its way", "Please note that we close at 6", "notebook prices are on the site", "noted!", "Notice: we moved",
		"no te preocupes", "not yet", "🙂 We deliver at 6", "👍 noted", "5 notes", "Write to me@example.com", "ok 📝",
	} {
		t.Run(s, func(t *testing.T) {
			require.False(t, IsNote(s), "%q", s)
		})
	}
}

func TestSign_ReadInAnyColour(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]ThreadSign{
		"✋": SignClaim, " ✋🏽\ufe0f ": SignClaim, "\u200b✋": SignClaim, "✋\u2060\ufeff": SignClaim, "🙋\u200d♀\ufe0f": SignClaim, "✔️": SignResolve,
		"\u202e✅": SignResolve, "⏸️": SignPause,
		"👍🏿": SignSend, "2️⃣": SignSecond, "3⃣": SignThird, "2": "", "🗒️": SignNote, "✋ mine": "", "": "", "\u200b": "", "+1": "",
	} {
		t.Run(s, func(t *testing.T) {
			require.Equal(t, want, ThreadSignOf(s), "%q", s)
		})
	}
}

func TestThread_RepliesKeepAssistantQuiet(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"Which lamp is it?": true, "✋": true, "⏸": true, "👍": true, "2️⃣": true, "2": true, "✅": false, "📝": false,
		"learn 2": false, "note x": false, "@eva x": false, "/why": false,
		"\u200b/why": false, " !why": false, "／pause all": false, "！wa logout": false,
	} {
		t.Run(s, func(t *testing.T) {
			require.Equal(t, want, IsTakeover(s), "%q", s)
		})
	}
}

func TestLearnNumber(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"learn": 1, "Learn 2": 2, " learn  3 ": 3, "learn -1": 0, "learn more": 0, "we learn": 0, "learn 2 now": 0, "": 0,
	} {
		t.Run(s, func(t *testing.T) {
			require.Equal(t, want, LearnNumber(s))
		})
	}
}

func TestRefusalReason(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"👎 too formal": "too formal", "👎🏽: too formal": "too formal", "❌ \n too formal\nand long": "too formal\nand long",
		"👎too formal": "too formal", " \u200b👎\ufe0f – no": "no", "👎": "", "👎🏿": "",
	} {
		t.Run(s, func(t *testing.T) {
			reason, isRefusal := RefusalReason(s)
			require.True(t, isRefusal, "%q", s)
			require.Equal(t, want, reason, "%q", s)
		})
	}
	for _, s := range []string{"", "too formal 👎", "👍 fine", "We deliver"} {
		t.Run(s, func(t *testing.T) {
			_, isRefusal := RefusalReason(s)
			require.False(t, isRefusal, "%q", s)
		})
	}
}
