package agent

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
	"multis/knowledge"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// brokenModel says one thing or fails.
type brokenModel struct {
	says string
	err  error
}

func (brokenModel) Name() string { return "test/broken" }

func (m brokenModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if m.err != nil {
			yield(llm.Delta{}, m.err)
			return
		}
		yield(llm.Delta{Text: m.says, Stop: llm.StopEnd}, nil)
	}
}

// brokenPages are web pages that cannot be read.
type brokenPages struct{ err error }

func (p brokenPages) Refresh(context.Context, []store.DocumentID) (bool, error) { return false, p.err }

func (brokenPages) Find(context.Context, string) bool { return false }

// Whatever fails on the way to an answer, the customer gets the agreed sentence and nothing else, and the owner a notice.
func TestAnswer_FailureEscalatesUnseen(t *testing.T) {
	t.Parallel()
	const answered, unknown = "What does tuning an upright piano cost?", "Do you sell bicycles?"
	agreed := "[Nora] " + catalog.Texts{}.Text(catalog.Escalated, catalog.English)
	for name, c := range map[string]struct {
		model    llm.Model
		pages    Pages
		atCap    bool
		question string
	}{
		"nothing is found":                          {llm.None{}, nil, false, unknown},
		"no page is found either":                   {llm.None{}, brokenPages{}, false, unknown},
		"the pages cannot be read":                  {llm.None{}, brokenPages{errors.New("connection refused")}, false, answered},
		"the model is down and nothing is found":    {brokenModel{err: errors.New("503 overloaded")}, nil, false, unknown},
		"the model found nothing":                   {brokenModel{says: `{"sentences":[]}`}, nil, false, answered},
		"the budget is spent, and a person answers": {brokenModel{err: &llm.OverBudgetError{}}, nil, true, answered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, c.model)
			b.agent.Turns.pages, b.agent.Turns.escalateAtCap = c.pages, c.atCap
			b.storeContactMessage(c.question, policy.ActionAnswer)
			require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job", true))
			require.Equal(t, []string{agreed}, b.queuedTexts(b.chat))
			require.Equal(t, 1, storetest.Count(t, b.store,
				"select count(*) from escalations e join outbox o on o.id = e.card_id where e.closed_at is null and o.state = 'queued'"), "a card")
			require.NotEmpty(t, b.queuedTexts(b.admin), "the owner gets a notice")
			require.Zero(t, storetest.Count(t, b.store, "select count(*) from messages where chat_id = $1 and answered_at is null", b.chat.ID))
		})
	}
}

func TestAnswer_WithoutModelQuotesDocument(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"down": errors.New("503 overloaded"), "unpaid": &llm.OverBudgetError{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, brokenModel{err: err})
			b.storeContactMessage("What does tuning an upright piano cost?", policy.ActionAnswer)
			require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job", true))
			require.Len(t, b.queuedTexts(b.chat), 1)
			require.Contains(t, b.queuedTexts(b.chat)[0], "Tuning an upright piano costs 90 euro.")
			require.Zero(t, storetest.Count(t, b.store, "select count(*) from escalations"))
		})
	}
}

// The document is removed while the model answers from it.
func TestSource_RemovedDuringAnswerEscalates(t *testing.T) {
	t.Parallel()
	var b *fixture
	model, _ := scripted(t, func(ctx context.Context, _ llmtest.Request) llmtest.Reply {
		var origin string
		require.NoError(t, b.store.DB().QueryRow(ctx, "select origin from documents where name = 'prices.md'").Scan(&origin))
		require.NoError(t, knowledge.New(b.store).Remove(ctx, origin))
		return llmtest.Reply{Text: answerJSON("Tuning an upright piano costs 90 euro.", 1, "Tuning an upright piano costs 90 euro.")}
	})
	b = setup(t, model)
	b.storeContactMessage("What does tuning an upright piano cost?", policy.ActionAnswer)
	require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job", true))
	require.Equal(t, []string{"[Nora] " + catalog.Texts{}.Text(catalog.Escalated, catalog.English)}, b.queuedTexts(b.chat))
	require.Equal(t, 1, storetest.Count(t, b.store,
		"select count(*) from escalations e join outbox o on o.id = e.card_id where e.closed_at is null and o.state = 'queued'"), "a card")
}
