package outbox

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// newDraftFixture returns a chat where nothing goes out by itself.
func newDraftFixture(t *testing.T) *fixture {
	t.Helper()
	b := setup(t)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.SetDelivery(ctx, tx, b.chat.ID, policy.DeliveryDraft)
	})
	return b
}

func TestDraft_NothingGoesUnapproved(t *testing.T) {
	t.Parallel()
	b := newDraftFixture(t)
	for _, purpose := range []policy.Purpose{
		policy.PurposeReply, policy.PurposeClarify, policy.PurposeGreeting, policy.PurposeEscalation,
		policy.PurposeOperator,
	} {
		l := b.reply("hello")
		l.Purpose = purpose
		out := b.mustQueue(l)
		require.Equal(t, store.OutboxDraft, b.row(out).State, purpose)
		require.Zero(t, b.sends(out), purpose)
		require.NoError(t, b.send(out))
	}
	require.Empty(t, b.sender.sent)
	approved := b.reply("hello")
	approved.Purpose = policy.PurposeDraft
	require.Equal(t, store.OutboxQueued, b.row(b.mustQueue(approved)).State)
	require.Equal(t, store.OutboxQueued, b.row(b.mustQueue(NewNotice(b.admin, "to the owner", Quiet))).State)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.SetDelivery(ctx, tx, b.chat.ID, policy.DeliveryAuto)
	})
	held := b.reply("hello")
	held.Draft = true
	require.Equal(t, store.OutboxDraft, b.row(b.mustQueue(held)).State, "a letter can ask for it anywhere")
}

func TestDraft_PartsGoWhole(t *testing.T) {
	t.Parallel()
	b := newDraftFixture(t)
	first := b.mustQueue(b.reply(strings.Repeat("Many words. ", 200)))
	parts := func() []store.OutboxMessage {
		rows, err := store.Parts(context.Background(), b.store.DB(), first)
		require.NoError(t, err)
		return rows
	}
	before := parts()
	require.Len(t, before, 2)
	decide := func(fn func(ctx context.Context, tx store.Tx) error) error {
		return b.store.InTx(context.Background(), func(tx store.Tx) error { return fn(context.Background(), tx) })
	}
	release := func(ctx context.Context, tx store.Tx) error {
		_, err := b.box.ApproveDraft(ctx, tx, first)
		return err
	}
	require.NoError(t, decide(release))
	require.ErrorIs(t, decide(release), ErrDraftDecided)
	for i, o := range parts() {
		require.NoError(t, b.send(o.ID))
		require.Equal(t, string(before[i].Content), string(b.row(o.ID).Content))
		require.Equal(t, store.OutboxSent, b.row(o.ID).State)
	}

	second := b.mustQueue(b.reply(strings.Repeat("More words. ", 200)))
	refuse := func(out uuid.UUID) error {
		return decide(func(ctx context.Context, tx store.Tx) error {
			return b.box.DropDraft(ctx, tx, out, policy.CodeDraftDropped)
		})
	}
	require.NoError(t, refuse(second))
	require.ErrorIs(t, refuse(second), ErrDraftDecided)
	first = second
	for _, o := range parts() {
		require.Equal(t, store.OutboxDropped, o.State)
	}
}

func TestDraft_ProfileStartsInDrafts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.store.Pool().Exec(context.Background(), "update chats set mode = null, mode_set_at = null")
	require.NoError(t, err)
	b.box.settings.Defaults = policy.Defaults{Profile: policy.ProfileBusiness}
	require.Equal(t, store.OutboxDraft, b.row(b.mustQueue(b.reply("hello"))).State)
	b.box.settings.Defaults.FirstDelivery = policy.DeliveryAuto
	require.Equal(t, store.OutboxQueued, b.row(b.mustQueue(b.reply("hello"))).State)
	b.box.settings.Defaults.FirstDelivery = policy.DeliveryDraft
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.SetMode(ctx, tx, b.chat.ID, policy.ModeBusiness)
	})
	require.Equal(t, store.OutboxQueued, b.row(b.mustQueue(b.reply("hello"))).State, "by hand")
}

// contactAsks stores a message of the contact that waits for an answer.
func (b *fixture) contactAsks(body string) (asked store.MessageID) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx store.Tx) (err error) {
		asked, err = store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: id.EventID("$" + uuid.NewString()),
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    body,
			At:      time.Now(),
			Action:  policy.ActionAnswer,
		})
		return err
	})
	return asked
}

// drafted queues a draft that answers a message.
func (b *fixture) drafted(m Message, asked store.MessageID) uuid.UUID {
	b.t.Helper()
	m.SeenID = asked
	out := b.mustQueue(m)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		_, err := store.MarkAnswered(ctx, tx, []store.MessageID{asked}, &out, policy.CodeAnswer, "")
		return err
	})
	return out
}

// draftedEscalation queues a draft that tells the contact that a person will answer.
func (b *fixture) draftedEscalation(asked store.MessageID) uuid.UUID {
	b.t.Helper()
	return b.drafted(Message{Chat: b.chat, Purpose: policy.PurposeEscalation, Text: "A person will answer you."}, asked)
}

// answeredBy returns the outbox message that answers a message; nil if it waits.
func (b *fixture) answeredBy(asked store.MessageID) *uuid.UUID {
	b.t.Helper()
	m, err := store.MessageByID(context.Background(), b.store.DB(), asked)
	require.NoError(b.t, err)
	require.Equal(b.t, m.OutboxID == nil, m.AnsweredAt == nil)
	return m.OutboxID
}

func (b *fixture) approve(out uuid.UUID) (d policy.Decision, err error) {
	b.t.Helper()
	err = b.store.InTx(context.Background(), func(tx store.Tx) error {
		d, err = b.box.ApproveDraft(context.Background(), tx, out)
		return err
	})
	return d, err
}

func (b *fixture) rewrite(out uuid.UUID, text string) (changed uuid.UUID) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx store.Tx) error {
		var d policy.Decision
		var err error
		changed, d, err = b.box.ReplaceDraft(ctx, tx, out, text)
		require.True(b.t, d.Allow)
		return err
	})
	return changed
}

func TestDraft_EscalationTextExpires(t *testing.T) {
	t.Parallel()
	b := newDraftFixture(t)
	asked := b.contactAsks("Can I pay by invoice?")
	out := b.draftedEscalation(asked)
	more := b.contactAsks("Hello?")
	require.Equal(t, store.OutboxDraft, b.row(out).State, "it stays when the contact writes more")
	d, err := b.approve(out)
	require.NoError(t, err)
	require.True(t, d.Allow)
	require.Equal(t, more, b.row(out).SeenID)
	require.NoError(t, b.send(out))
	require.Equal(t, store.OutboxSent, b.row(out).State)

	late := b.draftedEscalation(more)
	d, err = b.approve(late)
	require.NoError(t, err)
	require.True(t, d.Allow)
	b.contactAsks("Never mind.")
	require.Equal(t, policy.CodeDraftLate, b.row(late).Code, "what is written after the yes ends it")
	require.NoError(t, b.send(late))
	require.Nil(t, b.answeredBy(more), "and what it answers waits again")

	mine := b.draftedEscalation(more)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		_, err := store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: "$mine",
			Author:  policy.AuthorOwnerPhone,
			Sender:  "@you:x",
			Kind:    "text",
			Body:    "Yes, you can.",
			At:      time.Now(),
			Action:  policy.ActionArchive,
		})
		return err
	})
	require.Equal(t, policy.CodeDraftAnswered, b.row(mine).Code, "a person has answered")
	_, err = b.approve(mine)
	require.ErrorIs(t, err, ErrDraftDecided)
	require.Len(t, b.sender.sent, 1)
}

func TestDraft_EditedEscalationAnswersAll(t *testing.T) {
	t.Parallel()
	b := newDraftFixture(t)
	first := b.contactAsks("Can I pay by invoice?")
	out := b.draftedEscalation(first)
	second := b.contactAsks("What does delivery cost?")
	answer := b.drafted(b.reply("Delivery costs 5 euro."), second)
	words := b.rewrite(out, "Yes, and delivery costs 5 euro.")
	require.Equal(t, policy.CodeDraftChanged, b.row(out).Code)
	require.Equal(t, policy.CodeDraftChanged, b.row(answer).Code, "one answer is open in a chat")
	require.Equal(t, words, *b.answeredBy(first))
	require.Equal(t, words, *b.answeredBy(second))

	third := b.contactAsks("And on Sundays?")
	require.Equal(t, policy.CodeDraftOutdated, b.row(words).Code)
	for _, asked := range []store.MessageID{first, second, third} {
		require.Nil(t, b.answeredBy(asked), "each waits again")
	}
	words = b.rewrite(b.draftedEscalation(first), "Yes, and we deliver on Sundays.")
	for _, asked := range []store.MessageID{first, second, third} {
		require.Equal(t, words, *b.answeredBy(asked), "so that no turn answers it besides")
	}
	d, err := b.approve(words)
	require.NoError(t, err)
	require.True(t, d.Allow)
	require.NoError(t, b.send(words))
	require.Len(t, b.sender.sent, 1)
}

func TestDraft_ApprovedSurvivesOtherChange(t *testing.T) {
	t.Parallel()
	b := newDraftFixture(t)
	out := b.draftedEscalation(b.contactAsks("Can I pay by invoice?"))
	second := b.contactAsks("What does delivery cost?")
	answer := b.drafted(b.reply("Delivery costs 5 euro."), second)
	d, err := b.approve(answer)
	require.NoError(t, err)
	require.True(t, d.Allow)
	b.rewrite(out, "Yes, you can.")
	require.NoError(t, b.send(answer))
	require.Equal(t, store.OutboxSent, b.row(answer).State)
	require.Equal(t, answer, *b.answeredBy(second))
}

func TestFollowUp_IsAlwaysDraft(t *testing.T) {
	t.Parallel()
	for delivery, state := range map[policy.Delivery]store.OutboxState{
		policy.DeliveryAuto:  store.OutboxDraft,
		policy.DeliveryDraft: store.OutboxDraft, policy.DeliveryShadow: store.OutboxShadow,
	} {
		b := setup(t)
		b.tx(func(ctx context.Context, tx store.Tx) error { return store.SetDelivery(ctx, tx, b.chat.ID, delivery) })
		out := b.mustQueue(Message{Chat: b.chat, Purpose: policy.PurposeFollowUp, Text: "Are you still there?"})
		require.Equal(t, state, b.row(out).State)
		require.Zero(t, b.sends(out))
		require.NoError(t, b.send(out))
		require.Empty(t, b.sender.sent, delivery)
	}
}

func TestDraft_ApprovedKeepsPurpose(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out := b.mustQueue(Message{Chat: b.chat, Purpose: policy.PurposeFollowUp, Text: "Are you still there?"})
	b.tx(func(ctx context.Context, tx store.Tx) error {
		decision, err := b.box.ApproveDraft(ctx, tx, out)
		require.True(t, decision.Allow)
		return err
	})
	require.Equal(t, policy.PurposeDraft, b.row(out).Purpose)
	require.Equal(t, policy.PurposeFollowUp, b.row(out).DraftedAs)
	require.NoError(t, b.send(out))
	require.Len(t, b.sender.sent, 1)

	out = b.mustQueue(Message{Chat: b.chat, Purpose: policy.PurposeFollowUp, Text: "Are you still there?"})
	b.tx(func(ctx context.Context, tx store.Tx) error {
		changed, _, err := b.box.ReplaceDraft(ctx, tx, out, "Shall I keep it for you?")
		out = changed
		return err
	})
	_, err := b.approve(out)
	require.NoError(t, err)
	require.Empty(t, b.row(out).DraftedAs, "a person wrote it")
}

func TestDraft_CountsAsApproved(t *testing.T) {
	t.Parallel()
	b := newDraftFixture(t)
	for _, changed := range []bool{true, false} {
		out := b.drafted(b.reply("Delivery costs 5 euro."), b.contactAsks("What does delivery cost?"))
		if changed {
			out = b.rewrite(out, "It costs 5 euro, and nothing above 50.")
		}
		_, err := b.approve(out)
		require.NoError(t, err)
		require.NoError(t, b.send(out))
	}
	facts, err := store.DeskFacts(t.Context(), b.store.DB(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour), time.Hour)
	require.NoError(t, err)
	counts := map[store.DeskFactKind]int{}
	for _, f := range facts {
		counts[f.Kind]++
	}
	require.Equal(t, 1, counts[store.FactChanged])
	require.Equal(t, 1, counts[store.FactDraft])
	require.Positive(t, counts[store.FactAnswered])
}
