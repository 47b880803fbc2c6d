package desk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/internal/text"
	"multis/policy"
	"multis/store/storetest"
)

// What a person types in a thread reaches the contact as it is, clean, or not at all: commands, signs and notes stay in
// the room, however they are hidden.
func TestThread_HostileTexts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "A person, please")
	staying := []string{
		"", " ", "\u200b", "\u200b\u2060\ufeff", "\u202e", "\u200bnote SECRET", "\u202enote SECRET", "n\u200bote SECRET", "nоte SECRET",
		"ｎｏｔｅ SECRET", "NOTE\u00a0SECRET", "> note SECRET",
		"\ufeff📝 SECRET", "@eva\u200b SECRET", "\u200b/handoff SECRET", "\u202e!why SECRET", "/answers add SECRET = x", "!!! SECRET", "✋\u200b",
		"\u200b⏸\ufe0f", "🖐🏽",
	}
	for _, s := range staying {
		r.reply(card, eva, s)
		r.runAllJobs()
	}
	require.Empty(t, r.sender.view(anasRoom, anyEvent))

	going := []string{
		strings.Repeat("a", 3000), "It is \u202eevil\u2066 text", "pаypal with a Cyrillic letter", "[a](javascript:x) **b** <b>c</b>",
		"'; drop table outbox; --", "%s%d", "a\x01\x1b[31mb", "line\u2028next", "0", "$e1",
	}
	var want []string
	for _, s := range going {
		r.reply(card, bob, s)
		r.runAllJobs()
		want = append(want, strings.TrimSpace(text.Clean(s)))
	}
	got := r.sender.view(anasRoom, anyEvent)
	require.Equal(t, strings.Join(want, ""), strings.Join(got, ""), "as it is, in parts if it is long")
	require.False(t, slices.ContainsFunc(got, func(s string) bool { return strings.ContainsAny(s, "\u202e\u2066\u200b\x01\x1b") }))
	require.NotContains(t, strings.Join(got, ""), "SECRET")
	r.reply(card, bob, strings.Repeat("b", 10_000))
	r.runAllJobs()
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from outbox where send_as = 'owner' and content->>'msgtype' = 'm.file'"),
		"a text of many parts goes as a file, whole")
	before := storetest.Count(t, r.st, "select count(*) from outbox where send_as = 'owner'")
	r.reply(card, bob, strings.Repeat("c d ", 1<<18))
	r.runAllJobs()
	require.Equal(t, before+1, storetest.Count(t, r.st, "select count(*) from outbox where send_as = 'owner'"),
		"a megabyte, too, is one message")
}

// Events that are repeated, turned around, of strangers, or that name what is not there, send nothing and change nothing.
func TestThread_ForgedAndRepeatedEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	ben := r.chat("Ben", "!ben:example.com", policy.KindDM)
	card := r.escalate(anasRoom, "A person, please")
	const mallory = id.UserID("@mallory:example.com")
	reply := func(sender id.UserID, room id.RoomID, thread id.EventID, body string) func() id.EventID {
		evt := r.event("m.room.message", room, sender, map[string]any{
			"msgtype": "m.text", "body": body, "m.relates_to": map[string]any{"rel_type": "m.thread", "event_id": thread},
		})
		return func() id.EventID { return r.receive(evt) }
	}
	reply(mallory, deskRoom, card, "a stranger")()
	reply(contactOf(anasRoom), deskRoom, card, "the contact in the room of operators")()
	reply(eva, "!ben:example.com", card, "in the room of another chat")()
	reply(eva, deskRoom, "$forged", "in a thread that is none")()
	reply(eva, deskRoom, id.EventID(strings.Repeat("$x", 5000)), "a long id")()
	for _, sign := range []string{"✋", "⏸", "👍", "✅", "📝"} {
		r.react(mallory, card, sign)
		r.react(contactOf(anasRoom), card, sign)
		r.react(eva, "$forged", sign)
	}
	r.runAllJobs()
	for _, room := range []id.RoomID{anasRoom, "!ben:example.com"} {
		require.Empty(t, r.sender.view(room, func(e sentEvent) bool { return e.purpose == policy.PurposeDraft }))
	}
	e := r.escalation(ana.ID)
	require.True(t, e.IsWaiting())
	require.Empty(t, e.ClaimedBy)
	require.Nil(t, r.reload(ana).OwnerWroteAt)
	require.NotNil(t, r.reload(ben).OwnerWroteAt, "there she only wrote in the chat itself")

	once := reply(eva, deskRoom, card, "Once")
	for range 3 {
		once()
		r.runAllJobs()
		once()
	}
	first := reply(eva, deskRoom, card, "First")
	second := reply(eva, deskRoom, card, "Second")
	second()
	first()
	r.edit(deskRoom, bob, first(), "an edit by another")
	r.runAllJobs()
	require.Equal(t, []string{"Once", "Second", "First"}, r.sender.view(anasRoom, anyEvent))
}

// What a former operator wrote stays as it is at the contact.
func TestEdit_FormerOperatorChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	m := r.reply(card, eva, "Please wait.")
	r.runAllJobs()
	r.desk.Operators = nil
	r.edit(deskRoom, eva, m, "Pay to another account instead")
	r.runAllJobs()
	require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, anyEvent))
	require.Contains(t, r.inThread(card), "may not answer here")
}

// A list that a contact writes is read as a list, below the name of who wrote it, so that no line of it looks like one of somebody else.
func TestThread_LinesStayLines(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Hello,\nI need a person")
	require.Contains(t, r.card(card), "> Hello,\n> I need a person\n")
	r.say(anasRoom, contactOf(anasRoom), "2 breads\n3 rolls\u2028✅ **resolved** by eva\n💬 **the owner**: pay Eve\n")
	r.say(anasRoom, contactOf(anasRoom), "For Friday\n")
	r.runAllJobs()
	lines := strings.Split(r.inThread(card), "\n")
	require.Contains(t, lines, "> 2 breads")
	require.Contains(t, lines, "> 3 rolls")
	require.Contains(t, lines, "> ✅ **resolved** by eva")
	require.Contains(t, lines, "> 💬 **the owner**: pay Eve")
	require.Contains(t, lines, "💬 customer **Ana**: For Friday")
}

// A card shows what a contact wrote and is called as it is, on its own line: no line, link, mention, sign or proposal of
// the card can be forged, and only those who are on call are called.
func TestCard_HostileQuestionsAndNames(t *testing.T) {
	t.Parallel()
	forged := "Suggested reply (👍 sends it):"
	for _, said := range []string{
		"Help\n\n" + forged + "\n\n> Pay Eve", "Help\u2028\u2028" + forged, "Help\u2029" + forged, "Help\u0085\u0085" + forged,
		"Help\v\v" + forged, "Help\r\r" + forged, "Help\f" + forged,
		"@room @eva:example.com [take it](https://evil.example) <b>x</b> <img src=x>", "\u202epmal eulb\u2066", strings.Repeat("a", 10_000),
		strings.Repeat("\u202e", 3000) + "x", "✅ **resolved** by eva", "💬 \u202e", "`code` ```\nblock\n```",
		"http://evil.example/@eva:example.com",
	} {
		r := newRig(t)
		r.desk.OnCall = []id.UserID{bob}
		r.chat("Ana\n\n"+forged+" @room \u202e[x](y)", anasRoom, policy.KindDM)
		card := r.escalate(anasRoom, said, func(c *desk.Case) { c.Closed, c.Proposals = true, proposals("Please wait.") })
		var shown sentEvent
		for _, e := range r.sender.sent {
			if e.event == card {
				shown = e
			}
		}
		require.Equal(t, []id.UserID{bob}, shown.mentions, "%.40q", said)
		lines := strings.Split(shown.body, "\n")
		own := 0
		for _, line := range lines {
			if strings.HasPrefix(line, forged) {
				own++
			}
			require.False(t, strings.HasPrefix(line, "✅ **resolved**"), "%.40q", said)
		}
		require.Equal(t, 1, own, "%.40q: %s", said, shown.body)
		require.False(t, strings.ContainsAny(shown.body, "\u202e\u2066\u2028\u2029\u0085\v\f\r\x1b"), "%.40q", said)
		require.Less(t, len(shown.body), 3000)
		r.react(contactOf(anasRoom), card, "✋")
		r.react(eve, card, "✋")
		r.runAllJobs()
		require.Empty(t, r.sender.view(anasRoom, func(e sentEvent) bool { return e.purpose == policy.PurposeDraft }))
	}
}
