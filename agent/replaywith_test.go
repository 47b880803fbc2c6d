package agent

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/llm/llmtest"
	"multis/store"
)

func TestReplay_OtherModelPaysOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, _ := scripted(t, inTurn(calls("search_docs", map[string]string{"query": "piano"}), llmtest.Reply{Text: answerJSON("Done.", 0, "")}))
	b := setup(t, model)
	b.setTools()
	b.ask("what does a piano cost?")
	first, _ := b.task()
	other, server := scripted(t, inTurn(llmtest.Reply{Text: "Who knows."}))
	b.agent.Replays.openModel = func(name string) (llm.Model, error) {
		if name != "openai/other" {
			return nil, errors.New("there is no such model")
		}
		return other, nil
	}
	begin := func(model string) store.Task {
		m := b.storeQuestion("/replay")
		require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return b.agent.Replays.ReplayWith(ctx, tx, b.admin, m, first, model) }))
		task, _ := b.task()
		return task
	}
	said := func() string {
		all := b.queuedTexts(b.admin)
		return all[len(all)-1]
	}

	task := begin("openai/other")
	require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, false))
	require.Len(t, server.Requests(), 2, "one for each round")
	require.Contains(t, said(), "Who knows.")
	require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, false))
	require.Len(t, server.Requests(), 2)

	// An attempt ended in the midst of its second call.
	task = begin("openai/other")
	task, err := store.ClaimTask(ctx, b.store.Writer(), task.ID)
	require.NoError(t, err)
	done := store.Step{Seq: 0, Kind: store.StepModel, Name: "openai/other", Text: "It said this before."}
	require.NoError(t, store.BeginStep(ctx, b.store.Writer(), task, done))
	require.NoError(t, store.EndStep(ctx, b.store.Writer(), task, done))
	require.NoError(t, store.BeginStep(ctx, b.store.Writer(), task, store.Step{Seq: 1, Kind: store.StepModel, Name: "openai/other"}))
	require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, true))
	require.Len(t, server.Requests(), 2)
	require.Contains(t, said(), "It said this before.")
	require.Contains(t, said(), "a paid call is not repeated")

	require.NoError(t, b.agent.Tasks.Resume(ctx, begin("openai/none").ID, false))
	require.Contains(t, said(), "there is no such model")
}
