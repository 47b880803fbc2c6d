package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

const twoBoats = `# Boats

## Canoes

A deposit of 50 euro is due.

## Sailing boats

A deposit of 300 euro is due.

## Opening hours

### Harbour

The office is open Monday to Friday.

### Station

The office is open Tuesday to Saturday.
`

const (
	asksBack = "[Nora] Do you mean Canoes or Sailing boats?"
	agreed   = "[Nora] Let me check with the team and get back to you."
)

// newBoatsFixture returns a fixture with deposits and offices, two of each.
func newBoatsFixture(t *testing.T, model llm.Model) *fixture {
	t.Helper()
	b := setup(t, model)
	b.learn("boats.md", twoBoats)
	return b
}

func TestClarify_AsksOnceAndReplyDecides(t *testing.T) {
	t.Parallel()
	b := newBoatsFixture(t, llm.None{})
	m := b.storeAnsweredMessage("How much is the deposit?")
	require.Equal(t, []string{asksBack}, b.queuedTexts(b.chat))
	require.Equal(t, policy.CodeClarified, m.Code)
	require.Contains(t, m.Reason, "I asked which one is meant")
	require.Contains(t, m.Reason, "boats.md")
	out, err := store.OutboxMessageByID(context.Background(), b.store.DB(), *m.OutboxID)
	require.NoError(t, err)
	require.Equal(t, policy.PurposeClarify, out.Purpose)
	require.Len(t, out.Citations, 2)
	b.markAllSent()

	m = b.storeAnsweredMessage("the sailing one please")
	require.Equal(t, []string{"[Nora] A deposit of 300 euro is due. (from Boats)"}, b.queuedTexts(b.chat))
	require.Contains(t, m.Reason, "the reply is “Sailing boats”")
	require.Zero(t, b.count("select count(*) from escalations"))
	b.markAllSent()

	m = b.storeAnsweredMessage("When is the office open?")
	require.Equal(t, []string{agreed}, b.queuedTexts(b.chat), "one question back in a conversation")
	require.Contains(t, b.escalationWhy(), "I had asked back once already")
	require.Equal(t, codeEscalated, m.Code)

	b = newBoatsFixture(t, llm.None{})
	b.storeAnsweredMessage("How much is the deposit?")
	b.markAllSent()
	b.exec("update outbox set created_at = created_at - interval '13 hours', sent_at = sent_at - interval '13 hours'")
	b.exec("update messages set ts = ts - interval '13 hours', received_at = received_at - interval '13 hours'")
	b.storeAnsweredMessage("When is the office open?")
	require.Equal(t, []string{"[Nora] Do you mean Harbour or Station?"}, b.queuedTexts(b.chat), "another conversation")
}

func TestClarify_UnclearReplyEscalates(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"I don't know", "canoes and sailing boats", "what is the weather?", "the cheaper", "yes", "ok",
		"Ok, thanks!", "ja",
	} {
		b := newBoatsFixture(t, llm.None{})
		b.storeAnsweredMessage("How much is the deposit?")
		b.markAllSent()
		b.storeAnsweredMessage(reply)
		require.Equal(t, []string{agreed}, b.queuedTexts(b.chat), reply)
		require.Contains(t, b.escalationWhy(), "the reply does not say", reply)
		require.Contains(t, b.queuedTexts(b.admin)[0], "How much is the deposit?", "the person reads the question, too")
	}
}

func TestClarify_ReplyNeedsSentQuestion(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(b *fixture){
		"the owner wrote": func(b *fixture) { b.storeMessage(b.chat, policy.AuthorOwnerPhone, "Moment!", time.Now()) },
		"it was dropped":  func(b *fixture) { b.exec("update outbox set state = 'dropped' where purpose = 'clarify'") },
		"it is a draft":   func(b *fixture) { b.exec("update outbox set state = 'draft' where purpose = 'clarify'") },
		"the owner wrote the draft anew": func(b *fixture) {
			b.exec("update outbox set citations = '[]', purpose = 'draft' where purpose = 'clarify'")
		},
		"the question was deleted":        func(b *fixture) { b.exec("update messages set redacted_at = now() where code = 'clarified'") },
		"the document was removed":        func(b *fixture) { b.forgetDocument() },
		"it was asked in the last season": func(b *fixture) { b.exec("update outbox set created_at = created_at - interval '13 hours'") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBoatsFixture(t, llm.None{})
			b.storeAnsweredMessage("How much is the deposit?")
			b.markAllSent()
			then(b)
			require.NotContains(t, b.storeAnsweredMessage("canoes").Reason, "I had asked which one is meant")
		})
	}
}

func TestClarify_FollowsDeliveryOfChat(t *testing.T) {
	t.Parallel()
	for delivery, state := range map[policy.Delivery]store.OutboxState{
		policy.DeliveryDraft:  store.OutboxDraft,
		policy.DeliveryShadow: store.OutboxShadow,
	} {
		b := newBoatsFixture(t, llm.None{})
		require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
			return store.SetDelivery(context.Background(), tx, b.chat.ID, delivery)
		}))
		m := b.storeAnsweredMessage("How much is the deposit?")
		out, err := store.OutboxMessageByID(context.Background(), b.store.DB(), *m.OutboxID)
		require.NoError(t, err)
		require.Equal(t, state, out.State)
		require.Empty(t, b.queuedTexts(b.chat))
	}
}

func TestClarify_AsksModelWithConversation(t *testing.T) {
	t.Parallel()
	answer := answerJSON("A deposit of 50 euro is due.", 1, "A deposit of 50 euro is due.")
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Text: answer} })
	b := newBoatsFixture(t, model)
	b.storeMessage(b.chat, policy.AuthorContact, "I would like to try a canoe one day", time.Now().Add(-time.Hour))
	b.storeAnsweredMessage("How much is the deposit?")
	require.Len(t, server.Requests(), 1)
	require.NotContains(t, b.queuedTexts(b.chat), asksBack)

	answer = `{"sentences":[]}`
	b = newBoatsFixture(t, model)
	b.storeMessage(b.chat, policy.AuthorContact, "I was there in summer", time.Now().Add(-time.Hour))
	b.storeAnsweredMessage("How much is the deposit?")
	require.Equal(t, []string{asksBack}, b.queuedTexts(b.chat), "the model did not know either")
}

func TestClarify_PassesGateInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, lang := range catalog.Langs() {
		b := newBoatsFixture(t, llm.None{})
		b.agent.Turns.standard.texts.ForAll = map[catalog.Name]string{catalog.Clarify: catalog.Texts{}.Text(catalog.Clarify, lang)}
		b.storeAnsweredMessage("How much is the deposit?")
		require.Len(t, b.queuedTexts(b.chat), 1, lang)
		require.Contains(t, b.queuedTexts(b.chat)[0], "Canoes", lang)
		require.Zero(t, b.count("select count(*) from escalations"), lang)
	}
	b := newBoatsFixture(t, llm.None{})
	b.agent.Turns.standard.texts.ForAll = map[catalog.Name]string{catalog.Clarify: "{first} or {second}? Both cost 7 euro."}
	b.storeAnsweredMessage("How much is the deposit?")
	require.Equal(t, []string{agreed}, b.queuedTexts(b.chat), "what no source says does not go out")
}

func TestClarify_PreviewShowsQuestion(t *testing.T) {
	t.Parallel()
	b := newBoatsFixture(t, llm.None{})
	p := b.preview("How much is the deposit?")
	require.Equal(t, "Do you mean Canoes or Sailing boats?", p.Text)
	require.Len(t, p.Citations, 2)
	require.Contains(t, p.Why, "I asked which one is meant")
}
