package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestWhy_ExplainsRepliedMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	r.exec("update chats set delivery = 'draft' where id = $1", ana.ID)
	first := r.addMessage(ana, "do you deliver?", 2*time.Minute, policy.ActionAnswer, policy.CodeAnswer, "fresh")
	const answer = "Monday to Saturday."
	r.addAnswer(ana, first, policy.PurposeReply, answer, "It quotes prices.md.", r.citations("prices.md", answer)...)
	card := r.presentDrafts()[0]
	r.addMessage(ana, "hello?", time.Minute, policy.ActionArchive, policy.CodeAcknowledged, "It only says hello.")

	why := func(m store.Message) string {
		m.Body = "/why"
		return bodies(r.handle(m))
	}
	require.Contains(t, why(store.Message{}), "“hello?”", "the newest")
	require.Contains(t, why(store.Message{RelatesTo: card.Event}), "“do you deliver?”\nIt quotes prices.md.")
	require.Contains(t, why(store.Message{RelatesTo: "$nothing"}), "I know no message of a contact")
	r.react(card.Event, "👍")
	require.Contains(t, why(store.Message{RelatesTo: card.Event}), "**Why I answered** in Ana · WhatsApp", "its card still names it")
	said := r.storeCommand(store.Message{Body: "/drafts"})
	require.NoError(t, r.runJobs(said, false))
	notice := r.sendQueued()[0]
	require.Contains(t, why(store.Message{RelatesTo: notice.Event}), "/drafts", "what it answers")
}

// Each message that multis sends has a reason, by whichever way it came.
func TestWhy_ExplainsEverySentMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		send func(r *rig, ana store.Chat)
		want string
	}{
		"a schedule": {func(r *rig, _ store.Chat) {
			r.asOwner("/remind 1h --to Ana see you at seven")
			r.runUntil(2 * time.Hour)
		}, "Job 1 was due "},
		"a message of the owner": {func(r *rig, _ store.Chat) { r.asOwner("/send --now Ana see you at seven") }, "You sent it with `/send`."},
		"a follow-up": {func(r *rig, ana store.Chat) {
			r.queueTo(ana, outbox.Message{Purpose: policy.PurposeFollowUp, Text: "see you at seven", Draft: true})
			r.react(r.presentDrafts()[0].Event, "👍")
		}, "The contact had not answered for days (`/followup`)."},
		"the thread of an escalation": {func(r *rig, ana store.Chat) {
			said := r.storeCommand(store.Message{Body: "see you at seven"})
			r.queueTo(ana, outbox.Message{Purpose: policy.PurposeDraft, Text: "see you at seven", Quotes: []store.MessageID{said}})
		}, "you wrote it in the thread of the escalation."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Kind = policy.KindDM })
			r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness) })
			c.send(r, ana)
			r.sendQueued()
			var event string
			require.NoError(t, r.st.DB().QueryRow(r.ctx, "select event_id from outbox where chat_id = $1 and event_id is not null", ana.ID).Scan(&event))
			got := r.asOwner("/why " + event)
			require.Contains(t, got, "**Why I sent this** to Ana · WhatsApp at ")
			require.Contains(t, got, c.want)
			require.Contains(t, got, "see you at seven")
			got = r.asOwner("/why Ana")
			require.Contains(t, got, "**Also sent there:**")
			require.Contains(t, got, c.want)
		})
	}
}

// queueTo queues a message to a chat.
func (r *rig) queueTo(c store.Chat, m outbox.Message) {
	r.t.Helper()
	m.Chat = r.reload(c)
	r.tx(func(tx store.Tx) error {
		_, decision, err := r.box.Queue(r.ctx, tx, m)
		require.True(r.t, decision.Allow, decision.Why)
		return err
	})
}

func TestWhy_ShowsWithdrawnDrafts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _, _ := r.addChats()
	r.exec("update chats set delivery = 'draft' where id = $1", ana.ID)
	m := r.addMessage(ana, "how much is a puncture?", 2*time.Minute, policy.ActionAnswer, policy.CodeAnswer, "fresh")
	r.tx(func(tx store.Tx) error {
		out, _, err := r.box.Queue(r.ctx, tx, outbox.Message{
			Chat:      r.reload(ana),
			Purpose:   policy.PurposeReply,
			Text:      "We mend punctures.",
			SeenID:    m.ID,
			Citations: r.citations("prices.md", "We mend punctures."),
		})
		if err != nil {
			return err
		}
		_, err = store.MarkAnswered(r.ctx, tx, []store.MessageID{m.ID}, &out, "quoted", "It quotes prices.md.")
		return err
	})
	r.presentDrafts()
	later := r.addMessage(ana, "a person please", time.Minute, policy.ActionEscalate, policy.CodeWantsHuman, "It asks for a person.")
	r.tx(func(tx store.Tx) error {
		_, err := store.MarkAnswered(r.ctx, tx, []store.MessageID{m.ID, later.ID}, nil, "escalated", "I escalated it to you.")
		return err
	})
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from outbox where code = 'draft_outdated'"))
	got := r.asOwner("/why " + m.EventID.String())
	require.Contains(t, got, "was withdrawn: Something was written, changed or deleted in the chat after it was drafted.")
	require.Contains(t, got, "It was “[Nora] We mend punctures.”")
	require.NotContains(t, r.asOwner("/why "+later.EventID.String()), "We mend", "it was never an answer to that message")
}

func TestWhy_NamesTheTrace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Kind = policy.KindDM })
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness) })
	r.asOwner("/send --now Ana see you at seven")
	r.sendQueued()
	var event string
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select event_id from outbox where chat_id = $1 and event_id is not null", ana.ID).Scan(&event))
	require.NotContains(t, r.asOwner("/why "+event), "trace", "nothing was traced")
	r.exec("update outbox set trace_id = '4bf92f3577b34da6a3ce929d0e0e4736' where chat_id = $1", ana.ID)
	require.Contains(t, r.asOwner("/why "+event), "trace `4bf92f3577b34da6a3ce929d0e0e4736`")
}
