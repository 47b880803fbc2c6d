package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestShadowAnswersAreMadeAsAlwaysAndNobodyIsEscalated(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.SetDelivery(ctx, tx, b.chat.ID, policy.DeliveryShadow) }))
	b.storeContactMessage("How much is the delivery?", policy.ActionAnswer)
	require.NoError(t, b.agent.Turns.Turn(ctx, b.chat.ID, "job", false))
	b.escalate("I want my money back")
	require.Empty(t, b.queuedTexts(b.chat))
	require.Equal(t, 2, storetest.Count(t, b.store, "select count(*) from outbox where chat_id = $1 and state = 'shadow'", b.chat.ID))
	require.Zero(t, storetest.Count(t, b.store, "select count(*) from escalations"))
	require.Zero(t, storetest.Count(t, b.store, "select count(*) from messages where answered_at is null"), "no message is tried again")
	decided, err := store.DecidedMessages(ctx, b.store.DB(), b.chat.ID, "", 1)
	require.NoError(t, err)
	require.Contains(t, decided[0].Reason, "I would have handed over to you.")
}
