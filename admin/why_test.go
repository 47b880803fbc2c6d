package admin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// addMessage stores a contact's message that was received two seconds after it was written.
func (r *rig) addMessage(c store.Chat, body string, ago time.Duration, action policy.Action, code policy.Code,
	reason string,
) store.Message {
	r.t.Helper()
	m := store.Message{
		ChatID:  c.ID,
		EventID: r.event(),
		Author:  policy.AuthorContact,
		Sender:  "@ana:example.com",
		Kind:    "text",
		Body:    body,
		At:      r.now.Add(-ago),
		Action:  action,
		Code:    code,
		Reason:  reason,
	}
	r.tx(func(tx store.Tx) (err error) {
		m.ID, err = store.InsertMessage(r.ctx, tx, m)
		return err
	})
	r.exec("update messages set received_at = ts + interval '2 seconds' where id = $1", m.ID)
	return m
}

// citations returns a quote from a public document called faq.md that names prices.md.
func (r *rig) citations(source, quote string) []store.Citation {
	r.t.Helper()
	citation := storetest.Cite(r.t, r.st, policy.RolePublic, index.KindKnowledge, "See prices.md.")
	citation.Source, citation.Quote = source, quote
	return []store.Citation{citation}
}

// addAnswer queues an answer to a message and settles the message, as a turn does.
func (r *rig) addAnswer(c store.Chat, m store.Message, purpose policy.Purpose, body, reason string, citations ...store.Citation) uuid.UUID {
	r.t.Helper()
	var out uuid.UUID
	r.tx(func(tx store.Tx) (err error) {
		if out, _, err = r.box.Queue(r.ctx, tx, outbox.Message{
			Chat:      r.reload(c),
			Purpose:   purpose,
			Text:      body,
			Citations: citations,
		}); err != nil {
			return err
		}
		_, err = store.MarkAnswered(r.ctx, tx, []store.MessageID{m.ID}, &out, "quoted", reason)
		return err
	})
	return out
}

func TestWhy_NamesResponder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	r.addMessage(ana, "hello", time.Hour, policy.ActionArchive, policy.CodeSilent, "silent")
	r.agent.answers = func(c store.Chat) (string, string) {
		if c.ID != ana.ID {
			return "", ""
		}
		return "sales", "the space that the room is in"
	}
	require.Contains(t, r.asOwner("/why"), " `@sales` answers there, by the space that the room is in.")
}

func TestWhy_Answer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	r.exec("update chats set mode_set_at = $1 where id = $2", noon.Add(-74*time.Hour), ana.ID)
	m := r.addMessage(ana, "do you deliver\non Sundays?", time.Hour, policy.ActionAnswer, policy.CodeAnswer, "fresh")
	require.Equal(t, text(
		"**I am still at it** in Ana · WhatsApp at 17:00",
		"“do you deliver on Sundays?”",
		"fresh",
		"The chat is **business** now, set by you, Tue 17 Nov, 16:00.",
	), r.asOwner("/why"))

	out := r.addAnswer(ana, m, policy.PurposeReply, "Monday to Saturday. (from prices.md)",
		"Source [prices.md › Delivery, lines 12-14] carries 80 % of what was asked.",
		r.citations("[prices.md › Delivery, lines 12-14]", "Deliveries run Monday to Saturday.")...)
	explained := text(
		"**Why I answered** in Ana · WhatsApp at 17:00",
		"“do you deliver on Sundays?”",
		"Source [prices.md › Delivery, lines 12-14] carries 80 % of what was asked.",
		"My words: “[Nora] Monday to Saturday. (from prices.md)”",
		"Source [prices.md › Delivery, lines 12-14]: “Deliveries run Monday to Saturday.”",
		"The chat is business, you were away, it quotes a source. · ",
	)
	now := "\nThe chat is **business** now, set by you, Tue 17 Nov, 16:00."
	require.Contains(t, r.asOwner("/why ana · whatsapp"), explained+"waits to be sent"+now)
	r.exec("update outbox set sent_at = $2 where id = $1", out, noon.Add(-59*time.Minute))
	require.Equal(t, explained+"sent 17:01:00"+now, r.asOwner("/why"))
	r.tx(func(tx store.Tx) error {
		return store.MarkDelivered(r.ctx, tx, out, noon.Add(-59*time.Minute+time.Second))
	})
	delivered := explained + "sent 17:01:00, delivered 17:01:01" + now
	for _, line := range []string{
		"/why " + m.EventID.String(),
		"/why https://matrix.to/#/!room:example.com/" + m.EventID.String() + "?via=example.com",
		"/why $out-" + out.String(),
		"/why https://matrix.to/#/!room:example.com/$out-" + out.String(),
	} {
		require.Equal(t, delivered, r.asOwner(line), line)
	}
	require.Equal(t, delivered, r.asOperator("/why"), "operators may look as well")
}

func TestWhy_Silence(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "Nobody wrote to you since I started.", r.asOwner("/why"))
	ana, signal, _ := r.addChats()
	r.addMessage(signal, "hi", time.Hour, policy.ActionArchive, policy.CodeSilent, policy.CodeSilent.Sentence())
	require.Equal(t, text(
		"**Why I was silent** in Ana · Signal at 17:00",
		"“hi”",
		"The chat is silent.",
		"Nothing was sent.",
		"The chat is **silent** now, by default (New chats are silent in the personal profile).",
	), r.asOwner("/why"))

	r.exec("update chats set mode_set_at = $1 where id = $2", noon.Add(-time.Hour), ana.ID)
	m := r.addMessage(ana, "Can I get a refund?", time.Minute, policy.ActionEscalate, policy.CodeKeyword,
		`The word "refund" escalates to a person.`)
	r.tx(func(tx store.Tx) error {
		return store.PutSetting(r.ctx, tx, store.SettingPause, store.Pause{Since: noon})
	})
	r.addAnswer(ana, m, policy.PurposeEscalation, "Let me check with the team.", `The word "refund" escalates to a person.`)
	require.Equal(t, text(
		"**Why I was silent** in Ana · WhatsApp at 17:59",
		"“Can I get a refund?”",
		`The word "refund" escalates to a person.`,
		"My words: “[Nora] Let me check with the team.”",
		"Not sent: Everything is paused; /resume ends it.",
		"The chat is **business** now, set by you, 17:00.",
	), r.asOwner("/why"))
	late := r.addMessage(signal, "so late", 0, policy.ActionArchive, policy.CodeSilent, policy.CodeSilent.Sentence())
	r.exec("update messages set received_at = ts + interval '5 minutes' where id = $1", late.ID)
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, signal.ID, policy.ModeOff) })
	r.exec("update chats set mode_set_at = $1 where id = $2", noon, signal.ID)
	require.Equal(t, text(
		"**Why I was silent** in Ana · Signal at 18:00",
		"“so late” · arrived after 5 min",
		"The chat is silent.",
		"Nothing was sent.",
		"The chat is **off** now, set by you, 18:00.",
	), r.asOwner("/why"), "what decided then is not what holds now")
	require.Equal(t, "I know no message of a contact under that link. Nothing is stored of chats that are off.", r.asOwner("/why $nothing"))
	require.Equal(t, "Bank alerts · Telegram is **off**: I store nothing there, so there is nothing to explain.", r.asOwner("/why bank"))
	require.Equal(t, "Nothing came from **Dr. Weber · WhatsApp** since I started.", r.asOwner("/why dr. weber"))
}

func TestWhy_EscalationAndUndelivered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	m := r.addMessage(ana, "a human please", time.Minute, policy.ActionEscalate, policy.CodeWantsHuman, "It asks for a person.")
	out := r.addAnswer(ana, m, policy.PurposeEscalation, "Let me check.", "It asks for a person. I escalated to you.")
	r.sendQueued()
	require.Contains(t, r.asOwner("/why"), "**Why I escalated to you** in Ana · WhatsApp at 17:59")
	r.exec("update outbox set created_at = $2 where id = $1", out, noon)
	r.tx(func(tx store.Tx) error {
		_, err := store.MarkFailed(r.ctx, tx, out, "logged out")
		return err
	})
	got := r.asOwner("/why")
	require.Contains(t, got, "**My answer did not arrive** in Ana · WhatsApp at 17:59")
	ref := out.String()[32:]
	require.Contains(t, got, "did not arrive: logged out (#"+ref+")")
	require.Contains(t, r.asOwner("/status"), "⚠️ 1 message did not arrive in the last 24 h: `/why` and the chat's name says why.")
}

func TestWhy_RefusedCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	m := r.addMessage(ana, "what does tuning cost?", time.Minute, policy.ActionAnswer, policy.CodeAnswer, "It is a question.")
	asked := r.storeCommand(store.Message{Body: "fetch example.com", EventID: "$asked"})
	refuse := func(message store.MessageID, chat store.ChatID, tool, code, why string) {
		task, err := store.InsertTask(r.ctx, r.st.Writer(), store.Task{
			Key:       tool,
			Kind:      store.TaskTurn,
			ChatID:    chat,
			MessageID: &message,
			Sources:   []store.MessageID{message},
		})
		require.NoError(t, err)
		r.exec("insert into task_steps (task_id, seq, kind, name, call_id, text, is_error, code) values ($1, 1, 'tool', $2, 'a', $3, true, $4), ($1, 2, 'tool', 'search', 'b', 'no such page', true, 'not_found')", task.ID, tool, why, code)
	}
	refuse(m.ID, ana.ID, "remember", "not_allowed", "You have no such tool here.")
	refuse(asked, r.room.ID, "fetch_url", "refused", "Sales only answers. *Really*")
	got := r.asOwner("/why")
	require.Contains(t, got, "🚫 `remember` was refused: “You have no such tool here.”")
	require.NotContains(t, got, "no such page")
	require.Contains(t, r.asOwner("/why $asked"), "🚫 `fetch_url` was refused: “Sales only answers. *Really*”", "what the rule says")
	require.NotContains(t, r.asOperator("/why $asked"), "Sales only")
	quiet := r.storeCommand(store.Message{Body: "hello", EventID: "$quiet"})
	require.NotZero(t, quiet)
	require.Contains(t, r.asOwner("/why $quiet"), "No call of a tool was refused for it.")
}

func TestWhy_ListsNewestFive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	for i := range 7 {
		r.addMessage(ana, "message "+formatInt(int64(i)), time.Duration(10-i)*time.Minute, policy.ActionArchive, policy.CodeSilent,
			"The chat is silent.")
	}
	got := r.asOwner("/why Ana")
	require.Contains(t, got, "“message 6”")
	require.Contains(t, got, "“message 2”")
	require.NotContains(t, got, "“message 1”")
	require.Less(t, strings.Index(got, "“message 6”"), strings.Index(got, "“message 2”"))

	deleted := r.addMessage(ana, "a secret", 0, policy.ActionArchive, policy.CodeSilent, "The chat is silent.")
	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, ana.ID, deleted.EventID, r.now.Add(-time.Minute))
		return err
	})
	got = r.asOwner("/why")
	require.Contains(t, got, "a message that was deleted")
	require.NotContains(t, got, "secret")
}

// Whatever names and messages hold, it stays text: no markup, no links, no mentions, nothing that the send gate refuses.
func TestWhy_HostileTextIsEscaped(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"**bold** _it_ ~~gone~~ ||spoiler||", "<b>html</b> <script>alert(1)</script>", "[click](https://evil.example)", "<https://evil.example>",
		"`code` ```fence```", "@room @you:example.com", "# heading", "- item", "1. one", "> quote", "&lt;b&gt; &amp;",
		"a\n\n# b\n\n---\n| c | d |\n|---|---|",
		"\u202egnp.exe", "nul\x01\x1b[31m", "![img](mxc://evil/1)", "[you](https://matrix.to/#/@you:example.com)", "\\*x\\*", "$math$",
		"    indented",
	}
	r := newRig(t)
	for _, name := range hostile {
		c := r.chat(name, "whatsapp")
		r.setLastMessage(c, 0)
		r.addMessage(c, name, 0, policy.ActionArchive, policy.CodeSilent, "The chat is silent.")
		for _, line := range []string{"/why", "/chats", "/mode off " + c.ChannelID + name, "/x" + name} {
			r.asOwner(line)
		}
		require.Len(t, r.homeserver.sent, 4, "nothing was dropped: %q", name)
		for _, e := range r.homeserver.sent {
			require.NotRegexp(t, `<(a|img|script|b|h1|hr|del|table|span|li|pre|em)[ >]`, e.HTML, name)
			require.NotContains(t, e.HTML, "<strong>bold", name)
			require.NotContains(t, e.Body, "\u202e")
			require.Contains(t, string(e.Content), `"m.mentions": {}`)
		}
		r.homeserver.sent = nil
		r.exec("update chats set closed_reason = 'x', kind = 'space' where id = $1", c.ID)
		r.exec("delete from messages where chat_id = $1", c.ID)
	}
}

func TestWhy_HostileNameIsShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("**x** <b>y</b> [z](https://e.example)", "whatsapp")
	require.Contains(t, r.asOwner("/mode"), "1 **x** <b>y</b> [z](https://e.example) · WhatsApp — silent")
	require.Contains(t, r.lastSent().HTML, "1 **x** &lt;b&gt;y&lt;/b&gt; [z](https://e.example) · WhatsApp — silent")
}
