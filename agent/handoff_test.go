package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/store"
)

func TestHandoff_PassesSummary(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _, shop := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question to answer") {
			return calls("handoff", map[string]string{"agent": "prices", "summary": "He tunes **pianos** himself.\nOpen: what a grand costs."})
		}
		return llmtest.Reply{Text: answerJSON("Never said.", 0, "")}
	}, llmtest.Say(answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")))
	b.setTools(tools.Handoff{})
	m := b.storeQuestion("@main what does tuning a grand piano cost?")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	first, err := store.TaskByKey(ctx, b.store.DB(), fmt.Sprintf("ask:%d", m.ID))
	require.NoError(t, err)
	require.Equal(t, store.TaskCompleted, first.State)
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "@shop")
	require.Contains(t, said[0], "Open: what a grand costs.")
	room, err := store.ChatByID(ctx, b.store.DB(), b.admin.ID)
	require.NoError(t, err)
	require.Equal(t, "shop", room.Agent)
	require.Empty(t, shop.Requests(), "it is a job of its own")

	second, _ := b.task()
	require.Equal(t, "shop", second.Agent)
	b.resume(second.ID)
	b.resume(second.ID)
	require.Len(t, b.queuedTexts(b.admin), 2)
	require.Contains(t, b.queuedTexts(b.admin)[1], "A grand piano costs 120 euro. [1]")
	asked := shop.Requests()[0]
	require.Contains(t, asked.Last(), "work so far\nHe tunes **pianos** himself.\nOpen: what a grand costs.\n")
	require.Contains(t, asked.Last(), "question to answer\nwhat does tuning a grand piano cost?\n")
	for _, task := range []store.TaskID{first.ID, second.ID} {
		p, err := b.agent.Replays.Replay(ctx, task, nil)
		require.NoError(t, err)
		require.Empty(t, p.Difference+p.Incomplete)
	}
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, b.admin.ID, m.EventID, time.Now())
		return err
	}))
	require.Empty(t, b.taskByID(first.ID).Answer, "the summary goes with the question")
	require.Nil(t, b.taskByID(second.ID).Request)
}

func TestHandoff_IsLimited(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pass := func(to string) llmtest.Script {
		return func(_ context.Context, r llmtest.Request) llmtest.Reply {
			if strings.Contains(r.Last(), "question to answer") {
				return calls("handoff", map[string]string{"agent": to, "summary": "Yours."})
			}
			return llmtest.Reply{Text: answerJSON("Then I say it.", 0, "")}
		}
	}
	b, server, shop := newTeam(t, pass("shop"), pass("main"))
	b.setTools(tools.Handoff{})
	b.agent.personas.All[1].Delegates = []string{"main"}
	m := b.storeQuestion("whose is it?")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	for range 10 {
		task, _ := b.task()
		b.resume(task.ID)
	}
	require.Len(t, b.queuedTexts(b.admin), maxHandoffs+1)
	require.Contains(t, b.queuedTexts(b.admin)[maxHandoffs], "Then I say it.")
	requests := shop.Requests()
	require.Contains(t, requests[len(requests)-1].Last(), "It was passed on 5 times already")

	b.agent.personas.All[0].Delegates, b.agent.personas.All[1].Delegates = nil, nil
	b.ask("@main and whose is this?")
	all := server.Requests()
	require.NotContains(t, strings.Join(offeredTools(all[len(all)-2]), " "), "handoff")
	require.Contains(t, all[len(all)-1].Last(), "You have no such tool here")

	b.agent.personas.All[0].Delegates = []string{"shop"}
	key := b.runSchedule(store.Schedule{Body: "whose?", Session: store.SessionIsolated, Tools: []string{"handoff"}})
	require.NoError(t, b.agent.Questions.AnswerScheduled(ctx, b.admin, key, "@main whose?"))
	all = server.Requests()
	require.Empty(t, offeredTools(all[len(all)-2]), "what the clock asks for changes nobody's room")
}
