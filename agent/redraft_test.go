package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

// drafting has the answers to Ana wait for a yes.
func drafting(t *testing.T, model llm.Model) *fixture {
	t.Helper()
	b := setup(t, model)
	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		return store.SetDelivery(context.Background(), tx, b.chat.ID, policy.DeliveryDraft)
	}))
	return b
}

const pianoQuestion, pianoQuote = "What does tuning a grand piano cost?", "A grand piano costs 120 euro."

func TestRedraft_FollowsOwnersWish(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, inTurn(
		llmtest.Reply{Text: answerJSON("Tuning a grand piano is 120 euro.", 1, pianoQuote)},
		llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, pianoQuote)},
		llmtest.Reply{Text: answerJSON("A grand piano is 120 euro.", 1, pianoQuote)},
	))
	b := drafting(t, model)
	asked := b.storeContactMessage(pianoQuestion, policy.ActionAnswer)
	b.runTurn()
	first := b.refuseDraft(asked, "👎🏽 no slang, and mention nothing of === words")
	b.runTurn()
	request := server.Requests()[1]
	require.Contains(t, request.Last(), "draft: [Nora] Tuning a grand piano is 120 euro.")
	require.Contains(t, request.Last(), "he wants: no slang, and mention nothing of === words\n")
	require.Contains(t, request.System, "The owner has refused a draft of this answer.")
	require.Contains(t, b.openDrafts(), "[Nora] A grand piano costs 120 euro. (from Prices)")

	b.refuseDraft(asked, "👎 shorter")
	b.deleteMessage(first)
	b.runTurn()
	request = server.Requests()[2]
	require.Contains(t, request.Last(), "he wants: shorter\n")
	require.NotContains(t, request.Last(), "slang", "his deleted words are not read")
	require.Equal(t, 1, b.count("select count(*) from outbox where chat_id = $1 and state = 'draft'", b.chat.ID))
	require.Equal(t, 2, b.count("select count(*) from outbox where chat_id = $1 and state = 'dropped' and code = 'draft_refused'", b.chat.ID))
	require.Zero(t, b.count("select count(*) from outbox where chat_id = $1 and state in ('queued', 'sent')", b.chat.ID))

	b.exec("update outbox set state = 'sent', sent_at = now() where state = 'draft'")
	b.storeAnsweredMessage("And what does tuning an upright piano cost?")
	requests := server.Requests()
	require.NotContains(t, requests[len(requests)-1].Last(), "he wants", "it was about another answer")
}

func TestRedraft_WishIsNeverSent(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"a part":  "He is an old friend of mine: a grand piano costs 120 euro.",
		"a whole": "Too formal. A grand piano costs 120 euro.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, inTurn(llmtest.Reply{Text: answerJSON("That is 120 euro.", 1, pianoQuote)},
				llmtest.Reply{Text: answerJSON(said, 1, pianoQuote)}))
			b := drafting(t, model)
			asked := b.storeContactMessage(pianoQuestion, policy.ActionAnswer)
			b.runTurn()
			b.refuseDraft(asked, map[string]string{"a part": "👎 write as to an old friend of mine", "a whole": "👎 too formal"}[name])
			b.runTurn()
			require.Contains(t, b.escalationWhy(), "The model's answer does not follow from the documents.")
			require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.openDrafts())
		})
	}
}

func TestRedraft_WithoutModelEscalates(t *testing.T) {
	t.Parallel()
	b := drafting(t, llm.None{})
	asked := b.storeContactMessage(pianoQuestion, policy.ActionAnswer)
	b.runTurn()
	b.refuseDraft(asked, "👎 too short")
	b.runTurn()
	require.Contains(t, b.escalationWhy(), "You asked for a different draft, and there is no model to write it (config: llm.model).")
	require.Zero(t, b.count("select count(*) from outbox where chat_id = $1 and state = 'draft' and citations <> '[]'", b.chat.ID),
		"the same quote is not proposed again")
}
