package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestModelText_IsCleanedForPostgres(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, reply := range map[string]llmtest.Reply{
		"in a text":      {Text: `{"sentences": [{"text": "It is\u0000 120 euro.", "source": 0, "quote": ""}]}`},
		"in plain words": {Text: "It is\x00 120 euro."},
		"in a call":      {Calls: []llmtest.Call{{Name: "search_docs", Args: `{"query": "grand\u0000 piano"}`}}},
		"in a name":      {Calls: []llmtest.Call{{Name: "search\x00docs", Args: `{"query": "piano"}`}}},
		"in broken JSON": {Calls: []llmtest.Call{{Name: "search_docs", Args: "{\"query\": \"\x00"}}},
		"half a letter":  {Calls: []llmtest.Call{{Name: "search_docs", Args: `{"query": "\ud800 piano"}`}}},
		"in a reason":    {Calls: []llmtest.Call{{Name: "escalate", Args: `{"reason": "She is\u0000 angry"}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil)
			b.agent.personas.All = []persona.Persona{{ID: "main", Default: true, Instructions: "Be\x00 short."}}
			b.agent.personas.Model, _ = scripted(t, inTurn(reply,
				llmtest.Reply{Text: answerJSON("It is 120 euro.", 1, "A grand piano costs 120 euro.")}))
			b.setTools()
			m := b.storeQuestion("what does a grand piano cost?")
			require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
			require.Len(t, b.queuedTexts(b.admin), 1)
			b.agent.personas.Model, _ = scripted(t, inTurn(reply,
				llmtest.Reply{Text: answerJSON("It is 120 euro.", 1, "A grand piano costs 120 euro.")}))
			b.storeContactMessage("What does a grand piano cost?", policy.ActionAnswer)
			b.runTurn()
			require.Len(t, b.queuedTexts(b.chat), 1)
		})
	}
}

func TestSavedTask_DelegateInheritsToolLimits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server, shop := newTeam(t, inTurn(calls("delegate", map[string]string{"agent": "shop", "task": "switch the lamp on"}),
		llmtest.Reply{Text: answerJSON("It cannot.", 0, "")}),
		inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: answerJSON("I have none.", 0, "")}))
	l := &countingTool{tier: tools.Read}
	b.setTools(tools.Delegate{}, l)
	m := b.storeQuestion("/run light")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := b.agent.Questions.StartSavedTask(ctx, tx, b.admin, m, skills.SavedTask{
			Name:   "light",
			Prompt: "light, please",
			Tools:  []string{"delegate"},
		})
		return err
	}))
	task, _ := b.task()
	b.resume(task.ID)
	require.Equal(t, []string{"delegate"}, offeredTools(server.Requests()[0]))
	b.resume(b.children()[0].ID)
	require.Empty(t, offeredTools(shop.Requests()[0]))
	require.Zero(t, l.lit.Load())
}

func TestHandoff_ChargesOneQuestion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _, _ := newTeam(t, nil, nil)
	pass := calls("handoff", map[string]string{"agent": "shop", "summary": "Yours."})
	pass.In, pass.Out = 3000, 500
	again := calls("handoff", map[string]string{"agent": "main", "summary": "Yours again."})
	again.In, again.Out = 3000, 500
	last := llmtest.Reply{Text: answerJSON("Done.", 0, ""), In: 3000, Out: 500}
	b.agent.personas.Model = b.openPaidModel(t, inTurn(pass, last))
	b.agent.personas.All = []persona.Persona{
		{ID: "main", Default: true, Delegates: []string{"*"}},
		{ID: "shop", Model: b.openPaidModel(t, inTurn(again)), Delegates: []string{"*"}},
	}
	b.agent.currency = "EUR"
	b.setTools(tools.Handoff{})
	m := b.storeQuestion("whose is it?")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	for range 2 {
		task, _ := b.task()
		b.resume(task.ID)
	}
	require.Equal(t, 1, b.count("select count(distinct run) from usage"), "all of it is one run, within budget.per_run")
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 3)
	require.True(t, strings.HasPrefix(said[2], "Done."), said[2])
	task, _ := b.task()
	require.EqualValues(t, 3*3500, task.Cost)
}

// What a model calls a tool, and its call, is as much text of its own as its answer; both are kept after a message is
// forgotten, and in the audit log.
func TestCall_InventedNameIsNotStored(t *testing.T) {
	t.Parallel()
	const said = "Ana Maria Schmidt, +43 664 1234567, owes 480 euro"
	for name, call := range map[string]llmtest.Call{
		"a name":      {Name: said, Args: `{}`},
		"a long name": {Name: strings.Repeat("a b", 3500) + said, Args: `{}`},
		"an id":       {Name: "search_docs", ID: said, Args: `{"query": "piano"}`},
		"a long id":   {Name: "search_docs", ID: strings.Repeat("x", 10_000) + said, Args: `{"query": "piano"}`},
		"words as id": {Name: "search_docs", ID: "Ana.Maria.Schmidt_00436641234567_owes_480_euro", Args: `{"query": "piano"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, server := scripted(t, inTurn(llmtest.Reply{Calls: []llmtest.Call{call}},
				calls("escalate", map[string]string{"reason": "She asks."})))
			b := setup(t, model)
			b.setTools()
			b.storeContactMessage("What does a grand piano cost?", policy.ActionAnswer)
			b.runTurn()
			require.Len(t, server.Requests(), 2, "the turn goes on")
			require.NotContains(t, server.Requests()[1].Last(), "Schmidt")
			require.Empty(t, storetest.ColumnsContaining(t, b.store, "Schmidt"))
			require.Equal(t, 2,
				b.count("select count(*) from task_steps where kind = 'tool' and name in ('unknown', 'search_docs', 'escalate') and call_id ~ '^call[0-9]{5}$'"))
		})
	}
}

func TestCall_DuplicateIDIsAnotherCall(t *testing.T) {
	t.Parallel()
	search := func(ids ...string) (r llmtest.Reply) {
		for i, id := range ids {
			r.Calls = append(r.Calls, llmtest.Call{Name: "search_docs", ID: id, Args: fmt.Sprintf(`{"query": "piano %d%s"}`, i, id)})
		}
		return r
	}
	model, _ := scripted(t, inTurn(search("call00001", "call00001"), search("call00000", "no id"),
		calls("escalate", map[string]string{"reason": "She asks."})))
	b := setup(t, model)
	b.setTools()
	b.storeContactMessage("What does a grand piano cost?", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, 5, b.count("select count(distinct call_id) from task_steps where kind = 'tool' and not is_error"))
}
