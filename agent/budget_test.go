package agent

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
)

// fakeLedger is a ledger that records what is spent, and refuses with a cap.
type fakeLedger struct {
	refuse policy.Cap

	mu     sync.Mutex
	spends []policy.SpendRequest
}

func (p *fakeLedger) Reserve(_ context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spends = append(p.spends, s)
	return policy.Reservation{Refused: p.refuse}, nil
}

func (*fakeLedger) Settle(context.Context, int64, policy.Settlement) error { return nil }

// paidBy opens a scripted model that is paid from a ledger.
func paidBy(t *testing.T, p *fakeLedger, script llmtest.Script) (llm.Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, script)
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: server.URL}}, Timeout: time.Minute,
		Prices: map[string]llm.Price{"openai/test": {In: 1, Out: 1}},
		Budget: llm.Budget{Ledger: p, Today: func() string { return "2026-11-20" }},
	})
	require.NoError(t, err)
	model, err := models.Open([]string{"openai/test"}, "")
	require.NoError(t, err)
	return model, server
}

func TestBudget_ChargesAgentTaskAndChat(t *testing.T) {
	t.Parallel()
	p := &fakeLedger{}
	model, _ := paidBy(t, p, llmtest.Say(answerJSON("Tuning costs 90 euro.", 1, "Tuning an upright piano costs 90 euro.")))
	b := setup(t, model)
	b.agent.personas.All = []persona.Persona{{ID: "shop", Default: true}}
	b.storeContactMessage("what does tuning an upright piano cost?", policy.ActionAnswer)
	b.runTurn()
	task, _ := b.task()
	require.Len(t, p.spends, 1)
	require.Equal(t, []any{"reply", b.chat.ID, "shop", fmt.Sprint(task.ID)},
		[]any{p.spends[0].Purpose, p.spends[0].Chat, p.spends[0].Agent, p.spends[0].Run})

	b.ask("what does tuning an upright piano cost?")
	asked, _ := b.task()
	require.NotEqual(t, task.ID, asked.ID)
	require.Len(t, p.spends, 2)
	require.Equal(t, []any{"ask", "shop", fmt.Sprint(asked.ID)}, []any{p.spends[1].Purpose, p.spends[1].Agent, p.spends[1].Run})
}

func TestBudget_ContactAtCapGetsSetting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		escalates bool
		says      string
	}{
		"the documents' own words": {false, "Tuning an upright piano costs 90 euro."},
		"a person":                 {true, "Let me check with the team and get back to you."},
	} {
		for _, refuse := range []policy.Cap{policy.CapDay, policy.CapChat, policy.CapAgent, policy.CapRun} {
			t.Run(name+" at the cap of the "+string(refuse), func(t *testing.T) {
				t.Parallel()
				model, server := paidBy(t, &fakeLedger{refuse: refuse}, llmtest.Say("never"))
				b := setup(t, model)
				b.agent.Turns.escalateAtCap = c.escalates
				b.storeContactMessage("what does tuning an upright piano cost?", policy.ActionAnswer)
				b.runTurn()
				said := b.queuedTexts(b.chat)
				require.Len(t, said, 1)
				require.Contains(t, said[0], c.says)
				require.Empty(t, server.Requests(), "no call is made")
			})
		}
	}
}

func TestBudget_OwnerAtCapGetsPassages(t *testing.T) {
	t.Parallel()
	model, server := paidBy(t, &fakeLedger{refuse: policy.CapDay}, llmtest.Say("never"))
	b := setup(t, model)
	b.agent.Turns.escalateAtCap = true
	require.Contains(t, b.ask("what does tuning an upright piano cost?"), "Tuning an upright piano costs 90 euro.")
	require.Empty(t, server.Requests())
}
