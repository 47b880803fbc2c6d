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

// What was asked of another agent was written by a model, and may repeat words of others.
func TestSessions_ListTaints(t *testing.T) {
	t.Parallel()
	b, _, _ := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if len(r.Messages) == 1 && len(offeredTools(r)) > 1 {
			return calls("sessions_list", map[string]any{})
		}
		return llmtest.Reply{Text: answerJSON("I see.", 0, "")}
	}, llmtest.Say(answerJSON("90 euro.", 1, "Tuning an upright piano costs 90 euro.")))
	b.setTools(tools.SessionsList{})
	b.agent.personas.All[0].Delegates = []string{"shop"}
	b.ask("@shop what does an upright cost?")
	b.ask("what was worked on?")
	task, _ := b.task()
	require.True(t, task.Tainted)
}

func TestSessions_ShowOnlyAllowedAgents(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var seen store.TaskID
	b, server, _ := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		switch len(r.Messages) {
		case 1:
			return calls("sessions_list", map[string]any{})
		case 3:
			return calls("sessions_history", map[string]store.TaskID{"session": seen})
		case 5:
			return calls("sessions_history", map[string]int64{"session": 4711})
		default:
			return llmtest.Reply{Text: answerJSON("I see.", 0, "")}
		}
	}, llmtest.Say(answerJSON("90 euro.", 1, "Tuning an upright piano costs 90 euro.")))
	b.setTools(tools.SessionsList{}, tools.SessionsHistory{})
	b.agent.personas.All = append(b.agent.personas.All, persona.Persona{ID: "secret", Model: b.agent.personas.All[1].Model})
	b.agent.personas.All[0].Delegates = []string{"shop"}
	b.ask("@secret what must nobody know?")
	b.ask("@shop what does an upright cost?")
	task, _ := b.task()
	seen = task.ID
	m := b.storeQuestion("what did shop find out?")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	requests := server.Requests()
	require.Contains(t, requests[1].Last(), fmt.Sprintf("%d shop (completed", seen))
	require.NotContains(t, requests[1].Last(), "secret")
	require.Contains(t, requests[2].Last(), "asked: @shop what does an upright cost?\nanswered: 90 euro.")
	require.Contains(t, requests[3].Last(), "There is no such session")
	mine, _ := b.task()
	require.Subset(t, mine.Sources, b.taskByID(seen).Sources, "what it read of it goes when that goes")

	now := b.agent.now
	b.agent.now = func() time.Time { return now().Add(2 * time.Hour) }
	b.ask("and now?")
	all := server.Requests()
	require.Contains(t, all[5].Last(), "Nothing in the last hour.")
	b.agent.personas.All[0].Delegates = nil
	b.ask("and alone?")
	all = server.Requests()
	require.Equal(t, []string{"search_docs"}, offeredTools(all[8]))
}

func TestSessions_WriteToFormerAgent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var to store.TaskID
	n := 0
	b, server, shop := newTeam(t, func(context.Context, llmtest.Request) llmtest.Reply {
		if n++; n > 7 {
			return llmtest.Reply{Text: answerJSON("Enough.", 0, "")}
		}
		return calls("sessions_send", map[string]any{"session": to, "message": fmt.Sprint("and question ", n, "?")})
	}, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question 3?") {
			return llmtest.Reply{Text: `{"sentences": []}`}
		}
		return llmtest.Reply{Text: answerJSON("90 euro.", 1, "Tuning an upright piano costs 90 euro.")}
	})
	b.setTools(tools.SessionsSend{})
	b.ask("@shop what does an upright cost?")
	first, _ := b.task()
	to = first.ID
	m := b.storeQuestion("go on")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	parent, err := store.TaskByKey(ctx, b.store.DB(), fmt.Sprintf("ask:%d", m.ID))
	require.NoError(t, err)
	require.Equal(t, store.TaskWaiting, parent.State, "it is put aside meanwhile")
	for i := range maxContinuations {
		children := b.children()
		require.Len(t, children, i+1)
		require.NoError(t, b.agent.Tasks.Resume(ctx, children[i].ID, true))
		to = children[i].ID
		if i == 3 {
			to = first.ID
		}
		require.NoError(t, b.agent.Tasks.Resume(ctx, parent.ID, false))
	}
	asked, read := shop.Requests(), server.Requests()
	require.Contains(t, asked[1].Last(), "Asked: @shop what does an upright cost?\nYou answered: 90 euro.\n")
	require.Contains(t, asked[1].Last(), "question to answer\nand question 1?")
	require.NotContains(t, asked[1].Last(), "go on", "it sees nothing of the conversation")
	require.Contains(t, asked[3].Last(), "Asked: and question 1?\nYou answered: 90 euro.", "a thread is read whole")
	require.Contains(t, asked[3].Last(), "Asked: and question 2?")
	require.NotContains(t, asked[5].Last(), "Asked: and question", "the first piece of work has a thread of its own")
	require.Contains(t, read[3].Last(), "shop has nothing to say to that.")
	require.Contains(t, read[6].Last(), "You wrote to others 5 times already.")
	require.Contains(t, b.queuedTexts(b.admin)[1], "Enough.")
	require.Subset(t, b.children()[0].Sources, first.Sources, "what it read of it goes when that goes")

	n, to = 6, parent.ID
	b.ask("and alone?")
	require.Contains(t, server.Requests()[8+1].Last(), "That was your own work.")
	n, to = 6, 4711
	b.ask("and nobody?")
	require.Contains(t, server.Requests()[8+3].Last(), "There is no such session")
}
