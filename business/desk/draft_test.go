package desk_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// TestThread_ReplyToDraftDoesOneThing has a client send a message in the thread as a reply to the card of a draft.
func TestThread_ReplyToDraftDoesOneThing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	question := r.say(anasRoom, contactOf(anasRoom), "What does delivery cost?")
	m, err := store.MessageByEvent(r.ctx, r.st.DB(), ana.ID, question)
	require.NoError(t, err)
	r.tx(func(tx store.Tx) error { return store.SetDelivery(r.ctx, tx, ana.ID, policy.DeliveryDraft) })
	const answer = "Delivery costs 80 euro."
	var draft store.OutboxMessage
	r.tx(func(tx store.Tx) error {
		out, _, err := r.box.Queue(r.ctx, tx, outbox.Message{
			Chat:      r.reload(ana),
			Purpose:   policy.PurposeReply,
			Text:      answer,
			SeenID:    m.ID,
			Citations: []store.Citation{storetest.Cite(t, r.st, policy.RolePublic, index.KindKnowledge, answer)},
		})
		if err != nil {
			return err
		}
		draft, err = store.OutboxMessageByID(r.ctx, tx, out)
		return err
	})
	require.Equal(t, store.OutboxDraft, draft.State)
	require.NoError(t, r.admin.Drafts.PresentDraft(r.ctx, draft.ID))
	r.runAllJobs()
	var shown id.EventID
	for _, e := range r.sender.sent {
		if e.room == deskRoom && e.thread == "" && e.event != card && e.reaction == "" {
			shown = e.event
		}
	}
	require.NotEmpty(t, shown)

	r.receive(r.event("m.room.message", deskRoom, eva, map[string]any{
		"msgtype": "m.text", "body": "It is on its way.",
		"m.relates_to": map[string]any{"rel_type": "m.thread", "event_id": card, "m.in_reply_to": map[string]any{"event_id": shown}},
	}))
	r.runAllJobs()
	require.Equal(t, []string{"It is on its way."}, r.sender.view(anasRoom, anyEvent), "it goes out once, and the draft keeps its words")
	draft, err = store.OutboxMessageByID(r.ctx, r.st.DB(), draft.ID)
	require.NoError(t, err)
	require.Equal(t, store.OutboxDropped, draft.State, "a person answered")
	require.Equal(t, policy.CodeDraftAnswered, draft.Code)
}

// An edit of an old reply leaves a draft that answers a newer question.
func TestEdit_OfReplyKeepsDraft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	m := r.reply(card, eva, "Pleas wait.")
	r.runAllJobs()
	r.react(owner, card, "✅")
	r.runAllJobs()
	asked, err := store.MessageByEvent(r.ctx, r.st.DB(), ana.ID, r.say(anasRoom, contactOf(anasRoom), "What does delivery cost?"))
	require.NoError(t, err)
	_, err = r.st.Pool().Exec(r.ctx, `insert into outbox (id, chat_id, purpose, send_as, event_type, content, state, seen_id, code, reason)
		values (gen_random_uuid(), $1, 'reply', 'owner', 'm.room.message', '{}', 'draft', $2, '', '')`, ana.ID, asked.ID)
	require.NoError(t, err)
	r.edit(deskRoom, eva, m, "Please wait.")
	r.runAllJobs()
	require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, anyEvent))
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from outbox where purpose = 'reply' and state = 'draft'"))
}
