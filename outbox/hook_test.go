package outbox

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestHook_StopsOrDrafts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	verdict := policy.HookVerdict{Decision: policy.HookDeny, Why: "The hook guard says deny."}
	asked := 0
	b.box.settings.BeforeSend = func(_ context.Context, chat store.Chat, o store.OutboxMessage) (policy.HookVerdict, error) {
		asked++
		require.Equal(t, b.chat.ID, chat.ID)
		require.Contains(t, TextOf(o), "We deliver")
		return verdict, nil
	}
	denied, d := b.queue(b.reply("We deliver on Mondays."))
	require.True(t, d.Allow, d.Why)
	require.NoError(t, b.send(denied))
	require.Empty(t, b.sender.sent)
	require.Equal(t, store.OutboxDropped, b.row(denied).State)
	require.Equal(t, policy.CodeHook, b.row(denied).Code)
	require.Equal(t, verdict.Why, b.row(denied).Reason, "/why tells it")
	require.Equal(t, 1, storetest.Count(t, b.store,
		"select count(*) from outbox where chat_id = $1 and content->>'body' like '%The hook guard says deny%'", b.admin.ID))

	verdict = policy.HookVerdict{Decision: policy.HookAsk, Why: "The hook guard says ask."}
	draft, _ := b.queue(b.reply("We deliver on Tuesdays."))
	require.NoError(t, b.send(draft))
	require.Empty(t, b.sender.sent)
	require.Equal(t, store.OutboxDraft, b.row(draft).State)
	require.Equal(t, 1, storetest.Count(t, b.store, "select count(*) from river.river_job where kind = 'present_draft'"))
	b.tx(func(ctx context.Context, tx store.Tx) error {
		d, err := b.box.ApproveDraft(ctx, tx, draft)
		require.True(t, d.Allow, d.Why)
		return err
	})
	require.NoError(t, b.send(draft))
	require.Equal(t, []id.RoomID{"!ana:x"}, b.sender.sent, "the owner's yes answers the question")

	verdict = policy.HookVerdict{}
	nothing, _ := b.queue(b.reply("We deliver on Fridays."))
	require.NoError(t, b.send(nothing))
	require.Equal(t, store.OutboxDropped, b.row(nothing).State, "no decision is a no")
	before := asked
	var notice uuid.UUID
	require.NoError(t, b.store.Pool().QueryRow(t.Context(), "select id from outbox where chat_id = $1 order by seq limit 1",
		b.admin.ID).Scan(&notice))
	require.NoError(t, b.send(notice))
	require.Equal(t, before, asked, "notices to the owner are not asked about")
	require.Len(t, b.sender.sent, 2)
}

// What changes while a hook is asked holds for the message, too.
func TestGate_RechecksAfterHooks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var meanwhile func(ctx context.Context, tx store.Tx) error
	b.box.settings.BeforeSend = func(ctx context.Context, _ store.Chat, _ store.OutboxMessage) (policy.HookVerdict, error) {
		return policy.HookVerdict{Decision: policy.HookAllow}, b.store.InTx(ctx, func(tx store.Tx) error { return meanwhile(ctx, tx) })
	}
	meanwhile = func(ctx context.Context, tx store.Tx) error { return store.SetMode(ctx, tx, b.chat.ID, policy.ModeOff) }
	out, d := b.queue(b.reply("We deliver on Mondays."))
	require.True(t, d.Allow, d.Why)
	require.NoError(t, b.send(out))
	require.Empty(t, b.sender.sent)
	require.Equal(t, store.OutboxDropped, b.row(out).State)
}

func TestQueue_FollowsDeliveryOfChat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shadowed, _ := b.queue(b.reply("We deliver on Mondays."))
	deliver := func(d policy.Delivery) {
		b.tx(func(ctx context.Context, tx store.Tx) error { return store.SetDelivery(ctx, tx, b.chat.ID, d) })
	}
	deliver(policy.DeliveryShadow)
	require.NoError(t, b.send(shadowed))
	require.Equal(t, policy.CodeShadow, b.row(shadowed).Code)

	deliver(policy.DeliveryAuto)
	draft, _ := b.queue(b.reply("We deliver on Tuesdays."))
	deliver(policy.DeliveryDraft)
	require.NoError(t, b.send(draft))
	require.Equal(t, store.OutboxDraft, b.row(draft).State)
	require.Empty(t, b.sender.sent)
}

func TestRetract_ShadowAnswerEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.tx(func(ctx context.Context, tx store.Tx) error {
		return store.SetDelivery(ctx, tx, b.chat.ID, policy.DeliveryShadow)
	})
	out, _ := b.queue(b.reply("We deliver on Mondays."))
	require.Equal(t, store.OutboxShadow, b.row(out).State)
	require.NoError(t, b.box.Retract(t.Context(), out))
}
