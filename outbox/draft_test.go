package outbox

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

// drafting is a chat where nothing goes out by itself.
func drafting(t *testing.T) *fixture {
	t.Helper()
	b := setup(t)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.SetDelivery(ctx, tx, b.chat.ID, policy.DeliveryDraft)
	})
	return b
}

func TestInAChatOfDraftsNothingGoesToTheContactByItself(t *testing.T) {
	t.Parallel()
	b := drafting(t)
	for _, purpose := range []policy.Purpose{policy.PurposeReply, policy.PurposeClarify, policy.PurposeGreeting, policy.PurposeEscalation, policy.PurposeOperator} {
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

func TestADraftOfSeveralPartsGoesWholeAndAsItIs(t *testing.T) {
	t.Parallel()
	b := drafting(t)
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

func TestAChatThatAnswersByTheProfileStartsInDrafts(t *testing.T) {
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
