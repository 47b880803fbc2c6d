//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
)

// An operator answers in a thread what no document says, and the owner agrees to learn it: the next customer is answered
// from it, with its source.
func TestLearn_OperatorAnswerServesOtherChats(t *testing.T) {
	a := start(t, setup{Operators: fmt.Sprintf("[\"@lea:%s\"]", devstack.Domain)})
	a.learn()
	a.switchToBusiness("learn-ida", "learn-jon")
	lea := a.operator(t, "lea")
	const asked, answered = "Do you sell gift vouchers?", "Yes, we sell gift vouchers for any amount, valid for three years."
	_, err := a.Say(t.Context(), "learn-ida", asked)
	require.NoError(t, err)
	a.awaitDeliveries("learn-ida", 1) // that a person will answer
	var card id.EventID
	a.await("the card", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx, "select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id").Scan(&card)
		return card != "", err
	})
	began := time.Now()
	a.inThread(t, lea, card, answered)
	require.Equal(t, answered, a.awaitDeliveries("learn-ida", 2)[1].Text)

	var proposal id.EventID
	a.await("the question whether to learn it", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx,
			"select coalesce(max(o.event_id), '') from dialogs d join outbox o on o.id = d.outbox_id where d.kind = 'offer-answer'").Scan(&proposal)
		return proposal != "", err
	})
	offered := time.Since(began)
	require.Contains(t, a.read(a.adminRoom(), proposal), answered)
	public := &event.MessageEventContent{MsgType: event.MsgText, Body: "public", RelatesTo: (&event.RelatesTo{}).SetReplyTo(proposal)}
	sent, err := a.Owner.SendMessageEvent(t.Context(), a.adminRoom(), event.EventMessage, public)
	require.NoError(t, err)
	require.Contains(t, a.answer(sent.EventID), "customers are answered from it as well")
	a.await("the document", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select exists (select from documents where name = 'Answers.md' and role = 'public')")
	})

	_, err = a.Say(t.Context(), "learn-jon", asked)
	require.NoError(t, err)
	got := a.awaitDeliveries("learn-jon", 1)[0].Text
	took := time.Since(began)
	require.Contains(t, got, "(from Answers)")
	require.Contains(t, got, answered)
	require.NotContains(t, a.deliveriesSoFar("learn-ida")[1].Text, "(from Answers)")
	require.Equal(t, 1,
		a.count("select count(*) from outbox o, jsonb_array_elements(o.citations) s where s->>'source' like '%Answers.md%' and s->>'quote' = $1",
			answered))
	t.Logf("from the operator's answer to the owner being asked %s, to the next customer's answer %s", offered.Round(100*time.Millisecond),
		took.Round(100*time.Millisecond))
	require.Less(t, took, time.Minute)
}
