package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/store"
)

// newTeam returns a fixture with agents, and what a model says as each of them.
func newTeam(t *testing.T, main, shop llmtest.Script) (*fixture, *llmtest.Server, *llmtest.Server) {
	t.Helper()
	model, server := scripted(t, main)
	own, ownServer := scripted(t, shop)
	b := setup(t, model)
	b.setTools(tools.Delegate{})
	b.agent.personas.All = []persona.Persona{
		{ID: "main", Default: true, Delegates: []string{"*"}},
		{ID: "shop", Model: own, Capabilities: []string{"prices"}},
	}
	return b, server, ownServer
}

func TestDelegate_RunsWithoutBlocking(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server, shop := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question to answer") {
			return llmtest.Reply{Calls: []llmtest.Call{
				{Name: "delegate", Args: `{"agent": "prices", "task": "What does tuning an upright piano cost?"}`},
				{Name: "delegate", Args: `{"agent": "shop", "task": "What does tuning a grand piano cost?"}`},
				{Name: "delegate", Args: `{"agent": "nobody", "task": "x"}`},
				{Name: "search_docs", Args: `{"query": "delivery"}`},
			}}
		}
		return llmtest.Reply{Text: answerJSON("Both are known.", 0, "")}
	}, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "grand piano cost?") {
			return llmtest.Reply{Text: answerJSON("120 euro.", 1, "A grand piano costs 120 euro.")}
		}
		return llmtest.Reply{Text: answerJSON("90 euro.", 1, "Tuning an upright piano costs 90 euro.")}
	})
	m := b.storeQuestion("what do the two cost?")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	parent, err := store.TaskByKey(ctx, b.store.DB(), fmt.Sprintf("ask:%d", m.ID))
	require.NoError(t, err)
	require.Equal(t, store.TaskWaiting, parent.State)
	require.NotNil(t, b.messageByID(m.ID).AnsweredAt, "no worker and no inbox waits for it")
	require.Empty(t, b.queuedTexts(b.admin))
	children := b.children()
	require.Len(t, children, 2, "beside each other")
	require.Equal(t, 2, b.jobs("subtask"))
	require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false), "too early is nothing")
	require.Len(t, server.Requests(), 1)

	require.NoError(t, b.agent.Tasks.Resume(ctx, children[0].ID, false))
	require.NoError(t, b.agent.Tasks.Resume(ctx, children[0].ID, false), "again is nothing")
	require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false))
	require.Len(t, server.Requests(), 1, "one is missing")
	require.NoError(t, b.agent.Tasks.Resume(ctx, children[1].ID, false))
	require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false))
	require.Len(t, b.queuedTexts(b.admin), 1)
	require.Contains(t, b.queuedTexts(b.admin)[0], "Both are known.")
	require.Len(t, shop.Requests(), 2)
	asked := shop.Requests()[0]
	require.NotContains(t, asked.Last(), "what do the two cost?", "it sees nothing of the conversation")
	require.NotContains(t, strings.Join(offeredTools(asked), " "), "delegate", "and asks nobody itself")
	require.Contains(t, asked.System, "Another agent of the same owner")
	var read strings.Builder
	for _, message := range server.Requests()[1].Messages {
		read.WriteString(message.Text + "\n")
	}
	require.Contains(t, read.String(), "90 euro. [prices.md › Pianos")
	require.Contains(t, read.String(), "120 euro. [prices.md › Pianos")
	require.Contains(t, read.String(), "There are: shop (prices).", "who is not there is not asked")
	p, err := b.agent.Replays.Replay(ctx, parent.ID, nil)
	require.NoError(t, err)
	require.Empty(t, p.Difference+p.Incomplete)
}

func TestDelegate_IsLimited(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := 0
	b, server, _ := newTeam(t, func(context.Context, llmtest.Request) llmtest.Reply {
		if n++; n > 6 {
			return llmtest.Reply{Text: answerJSON("Enough.", 0, "")}
		}
		return calls("delegate", map[string]string{"agent": "shop", "task": fmt.Sprint("part ", n)})
	}, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "part 2") {
			return llmtest.Reply{Status: 400}
		}
		return llmtest.Reply{Text: answerJSON("Done.", 0, "")}
	})
	m := b.storeQuestion("do it all")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	parent, err := store.TaskByKey(ctx, b.store.DB(), fmt.Sprintf("ask:%d", m.ID))
	require.NoError(t, err)
	for range 6 {
		for _, child := range b.children() {
			require.NoError(t, b.agent.Tasks.Resume(ctx, child.ID, true))
		}
		require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false))
	}
	require.Len(t, b.children(), maxChildren)
	require.Contains(t, b.queuedTexts(b.admin)[0], "Enough.")
	require.Contains(t, server.Requests()[2].Last(), "did not get it done")
	require.Contains(t, server.Requests()[5].Last(), "That was the work of 4 others already")

	b.agent.personas.All[0].Delegates = nil
	b.ask("and again?")
	all := server.Requests()
	require.NotContains(t, strings.Join(offeredTools(all[len(all)-1]), " "), "delegate", "nobody delegates who was not told that he may")
}

func TestDelegate_TimeoutAndCancelEndChildren(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	script := func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question to answer") {
			return calls("delegate", map[string]string{"agent": "shop", "task": "a long one"})
		}
		return llmtest.Reply{Text: answerJSON("He was silent.", 0, "")}
	}
	b, _, shop := newTeam(t, script, llmtest.Say(answerJSON("Too late.", 0, "")))
	m := b.storeQuestion("do it")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	late := b.agent.now
	b.agent.now = func() time.Time { return late().Add(2 * time.Hour) }
	parent, err := store.TaskByKey(ctx, b.store.DB(), fmt.Sprintf("ask:%d", m.ID))
	require.NoError(t, err)
	require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false))
	require.Contains(t, b.queuedTexts(b.admin)[0], "He was silent.")
	b.agent.now = late
	require.NoError(t, b.agent.Tasks.Resume(ctx, b.children()[0].ID, false))
	require.Equal(t, store.TaskKilled, b.children()[0].State)

	m = b.storeQuestion("do it again")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	parent, err = store.TaskByKey(ctx, b.store.DB(), fmt.Sprintf("ask:%d", m.ID))
	require.NoError(t, err)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.StopTask(ctx, tx, parent.ID, "you asked me to")
		return err
	}))
	require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false))
	require.Contains(t, b.queuedTexts(b.admin)[1], "Stopped: you asked me to.")
	require.NoError(t, b.agent.Tasks.Resume(ctx, b.children()[1].ID, false))
	require.Equal(t, store.TaskKilled, b.children()[1].State)
	require.Empty(t, shop.Requests(), "neither asked its model any more")
}

func TestDelegate_InheritsToolLimits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server, shop := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question to answer") {
			return calls("delegate", map[string]string{"agent": "shop", "task": "switch the lamp on"})
		}
		return llmtest.Reply{Text: answerJSON("It cannot.", 0, "")}
	}, inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: answerJSON("I have none.", 0, "")}))
	l := &countingTool{tier: tools.Read}
	b.setTools(tools.Delegate{}, l)
	key := b.runSchedule(store.Schedule{Body: "light, please", Session: store.SessionIsolated, Tools: []string{"delegate"}})
	require.NoError(t, b.agent.Questions.AnswerScheduled(ctx, b.admin, key, "light, please"))
	require.Equal(t, []string{"delegate"}, offeredTools(server.Requests()[0]))
	require.NoError(t, b.agent.Tasks.Resume(ctx, b.children()[0].ID, false))
	require.Empty(t, offeredTools(shop.Requests()[0]))
	require.Zero(t, l.lit.Load())
	require.Contains(t, shop.Requests()[1].Last(), "You have no such tool here")
}
