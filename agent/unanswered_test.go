package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/policy"
	"multis/store"
)

func TestUnanswered_ThirdQuestionEscalates(t *testing.T) {
	t.Parallel()
	const question, third = "What does tuning an upright piano cost?", "What does delivery cost within the city?"
	for name, c := range map[string]struct {
		between   func(b *fixture)
		escalated bool
	}{
		"at once":                {func(*fixture) {}, true},
		"after thanks":           {func(b *fixture) { b.storeAnsweredMessage("thanks") }, true},
		"after a person's reply": {func(b *fixture) { b.storeMessage(b.chat, policy.AuthorOwnerPhone, "90 euro", time.Now()) }, false},
		"in another conversation": {func(b *fixture) {
			b.exec("update messages set answered_at = answered_at - interval '13 hours'")
			b.exec("update outbox set created_at = created_at - interval '13 hours'")
		}, false},
		"after an answer that went out": {func(b *fixture) {
			b.storeAnsweredMessage("What does a grand piano cost?")
			b.exec("update outbox set state = 'sent', sent_at = now() where state = 'draft'")
			b.askAndDropDraft(question)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, llm.None{})
			require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
				return store.SetDelivery(context.Background(), tx, b.chat.ID, policy.DeliveryDraft)
			}))
			b.askAndDropDraft(question)
			if name != "after an answer that went out" {
				b.askAndDropDraft(question)
			}
			require.Zero(t, b.count("select count(*) from escalations"), "two are not enough")
			c.between(b)
			m := b.storeAnsweredMessage(third)
			if !c.escalated {
				require.Equal(t, codeQuoted, m.Code)
				return
			}
			require.Equal(t, codeEscalated, m.Code)
			require.Contains(t, m.Reason, "The 2 questions before it got no answer.")
			require.Equal(t, 1, b.count("select count(*) from escalations where cause = 'unanswered' and proposals::text like '%5 euro%'"),
				"with the answer that was found")
		})
	}
}
