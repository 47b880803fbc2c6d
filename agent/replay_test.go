package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestReplay_IsByteEqualWithoutEffects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123"
	model, server := scripted(t, inTurn(
		calls("search_docs", map[string]any{"query": "grand piano " + secret}),
		llmtest.Reply{Calls: []llmtest.Call{{Name: "lamp", Args: `{"on":   true}`}, {Name: "search_docs", Args: `{"query":"delivery"}`}}},
		llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")},
	))
	b := setup(t, model)
	l := &countingTool{tier: tools.Read}
	b.setTools(l)
	b.note(policy.RoleAdmin, b.admin.ID, "The tuner is called Ben, his key is "+secret)
	b.ask("what does a grand piano cost? and light, please")
	task, _ := b.task()
	asked := len(server.Requests())
	for range 2 {
		p, err := b.agent.Replays.Replay(ctx, task.ID, nil)
		require.NoError(t, err)
		require.Empty(t, p.Difference)
		require.Empty(t, p.Incomplete)
		require.Equal(t, task.Answer, p.Answer)
		require.Len(t, p.Rounds, 3)
		require.Contains(t, p.Markdown(), "The same, to the byte.")
		require.Contains(t, p.Markdown(), "switched the lamp")
		require.NotContains(t, p.Markdown(), secret)
	}
	require.EqualValues(t, 1, l.lit.Load(), "nothing is done")
	require.Len(t, server.Requests(), asked, "and nobody is asked")

	other, otherServer := scripted(t, inTurn(calls("search_docs", map[string]string{"query": "grand piano [secret]"}),
		calls("lamp", map[string]bool{"on": false}), llmtest.Reply{Text: "Who knows."}))
	p, err := b.agent.Replays.Replay(ctx, task.ID, other)
	require.NoError(t, err)
	require.Empty(t, p.Difference)
	require.Contains(t, p.Markdown(), "openai/test (the same): calls search")
	require.Contains(t, p.Markdown(), "Who knows")
	require.Len(t, otherServer.Requests(), 3, "each round is asked as it was")
	require.EqualValues(t, 1, l.lit.Load())

	_, err = b.store.Pool().Exec(ctx, "update task_steps set text = 'The lamp is off.' where task_id = $1 and name = 'lamp'", task.ID)
	require.NoError(t, err)
	p, err = b.agent.Replays.Replay(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Equal(t, "what the model was asked in round 3", p.Difference)
	require.Contains(t, p.Markdown(), "Not the same")
}

func TestReplay_ContactTurnAsFarAsItWent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, _ := scripted(t, llmtest.Say(answerJSON("Tuning an upright piano costs 90 euro.", 1, "Tuning an upright piano costs 90 euro.")))
	b := setup(t, model)
	b.setTools()
	b.storeContactMessage("what does tuning an upright piano cost?", policy.ActionAnswer)
	b.runTurn()
	task, _ := b.task()
	p, err := b.agent.Replays.Replay(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Empty(t, p.Difference+p.Incomplete)
	require.Contains(t, p.Answer, "Tuning an upright piano costs 90 euro. (from Prices)")

	model, _ = scripted(t, inTurn(calls("search_docs", map[string]string{"query": "piano"}),
		calls("escalate", map[string]string{"reason": "She is angry."})))
	b.agent.personas.Model = model
	b.storeContactMessage("and what does a grand piano cost?", policy.ActionAnswer)
	b.runTurn()
	task, _ = b.task()
	p, err = b.agent.Replays.Replay(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Empty(t, p.Difference+p.Incomplete)
	require.Empty(t, p.Answer)
	require.Len(t, p.Rounds, 2)
}

func TestReplay_NamesMissingParts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, _ := scripted(t, inTurn(calls("search_docs", map[string]string{"query": "the hidden word"}),
		llmtest.Reply{Text: answerJSON("Done.", 0, "")}))
	b := setup(t, model)
	b.setTools()
	m := b.storeQuestion("the hidden word")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	task, _ := b.task()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, b.admin.ID, m.EventID, m.At)
		return err
	}))
	p, err := b.agent.Replays.Replay(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Contains(t, p.Markdown(), "its words are gone")
	require.Contains(t, p.Markdown(), "search\\_docs")
	require.NotContains(t, p.Markdown(), "hidden")

	model, _ = scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return calls("search_docs", map[string]string{"query": "piano"})
	})
	b.agent.personas.Model = model
	b.ask("what does a piano cost?")
	task, _ = b.task()
	p, err = b.agent.Replays.Replay(ctx, task.ID, nil)
	require.NoError(t, err)
	require.Contains(t, p.Incomplete, "same arguments 3 times")
	_, err = b.agent.Replays.Replay(ctx, 999, nil)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestReplay_OtherModelHasRunBudget(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, inTurn(calls("search_docs", map[string]string{"query": "piano"}), llmtest.Reply{Text: answerJSON("Done.", 0, "")}))
	b := setup(t, model)
	b.setTools()
	b.ask("what does a piano cost?")
	task, _ := b.task()
	p := &fakeLedger{}
	other, _ := paidBy(t, p, llmtest.Say("Who knows."))
	for range 2 {
		_, err := b.agent.Replays.Replay(context.Background(), task.ID, other)
		require.NoError(t, err)
	}
	require.Len(t, p.spends, 4)
	require.Equal(t, p.spends[0].Run, p.spends[1].Run)
	require.Equal(t, p.spends[2].Run, p.spends[3].Run)
	require.NotEqual(t, p.spends[0].Run, p.spends[2].Run)
	require.Equal(t, "replay", p.spends[0].Purpose)
}
