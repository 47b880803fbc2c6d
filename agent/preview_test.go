package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestPreview_SendsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.Turns.escalationKeywords = []string{"refund"}
	p := b.preview("What does delivery cost within the city?")
	require.Contains(t, p.Text, "Delivery costs 5 euro within the city.")
	require.Contains(t, p.Citations[0].Source, "prices.md")
	require.False(t, p.Escalates)
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, []string{"[Nora] " + p.Text}, b.queuedTexts(b.chat), "the same words")

	b = setup(t, llm.None{})
	b.agent.Turns.escalationKeywords = []string{"refund"}
	b.agent.Turns.standard.texts = catalog.Texts{}
	for question, why := range map[string]string{
		"I want a refund": "refund", "Can I talk to a person?": "person", "Do you rent out tents?": noDocumentReason,
		"Please cancel my order": "done",
	} {
		p := b.preview(question)
		require.True(t, p.Escalates, question)
		require.Contains(t, p.Why, why)
		require.Equal(t, "Let me check with the team and get back to you.", p.Text)
	}
	require.Equal(t, "Hello! How can I help you?", b.preview("Hello").Text)
	require.Equal(t, Preview{Why: policy.CodeAcknowledged.Sentence()}, b.preview("thanks"))
	require.Zero(t, b.count("select count(*) from escalations"))
}

func TestPreview_AppliesBusinessRules(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city.")}
	})
	b := setup(t, model)
	b.agent.business = Business{
		Name:   "Piano House",
		Topics: []string{"prices", "delivery"},
		Rules:  []string{"Never promise a date"},
		Tone:   "brief",
	}
	b.storeQuestion("a secret of the owner's room")
	p := b.preview("What does delivery cost within the city?")
	require.Equal(t, "Delivery is 5 euro. (from Prices)", p.Text)
	asked := server.Requests()[0].System + server.Requests()[0].Last()
	require.Contains(t, asked, "The business is called Piano House.")
	require.Contains(t, asked, "- Never promise a date")
	require.NotContains(t, asked, "secret of the owner")

	p, err := b.agent.Turns.Preview(t.Context(), b.admin, store.Message{}, "What does delivery cost within the city?")
	require.NoError(t, err)
	require.Equal(t, "Delivery is 5 euro. (from Prices)", p.Text, "the page asks without a message")
	require.Equal(t, 2, b.count("select count(*) from tasks where state = 'completed' and key like 'preview:%'"))
}
