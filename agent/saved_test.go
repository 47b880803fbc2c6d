package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/skills"
	"multis/store"
	"multis/tools"
)

func TestASavedTaskIsDoneByItsAgentWithItsToolsAboutItsChat(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, server := scripted(t, inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: says("Nothing new.", 0, "")}))
	b := setup(t, model)
	l := &lamp{tier: tools.Read}
	b.equip(l)
	b.agent.Personas = []Persona{{ID: "main", Default: true}, {ID: "shop", Instructions: "Sell."}}
	begin := func(s skills.Saved) store.Task {
		m := b.asks("/run week")
		require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return b.agent.Begin(ctx, tx, b.admin, m, s) }))
		task, _ := b.task()
		b.resume(task.ID)
		b.resume(task.ID)
		return b.taskByID(task.ID)
	}
	task := begin(skills.Saved{Prompt: "What is new?", Agent: "shop", Tools: []string{"search_*"}, Target: "Ana"})
	require.Equal(t, store.TaskCompleted, task.State)
	first := server.Requests()[0]
	require.Equal(t, []string{"search_docs"}, offered(first))
	require.Contains(t, first.System, "Sell.")
	require.Zero(t, l.lit.Load(), "and what is not offered is not done")
	require.Len(t, b.sent(b.admin), 1)
	require.Contains(t, b.sent(b.admin)[0], "Nothing new.")
	require.Contains(t, b.sent(b.admin)[0], "Ana", "it says where it looked")

	begin(skills.Saved{Prompt: "What is new?", Tools: []string{}})
	begin(skills.Saved{Prompt: "What is new?"})
	all := server.Requests()
	require.Empty(t, offered(all[2]))
	require.Equal(t, []string{"lamp", "search_docs"}, offered(all[3]))
}
