package agent

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/tools"
)

func TestAnAgentSeesWhatThoseWorkedOnThatItMayAskAndNobodyElse(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var seen int64
	b, server, _ := team(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		switch len(r.Messages) {
		case 1:
			return calls("sessions_list", map[string]any{})
		case 3:
			return calls("sessions_history", map[string]int64{"session": seen})
		case 5:
			return calls("sessions_history", map[string]int64{"session": 4711})
		default:
			return llmtest.Reply{Text: says("I see.", 0, "")}
		}
	}, llmtest.Say(says("90 euro.", 1, "Tuning an upright piano costs 90 euro.")))
	b.equip(tools.SessionsList{}, tools.SessionsHistory{})
	b.agent.Personas = append(b.agent.Personas, Persona{ID: "secret", Model: b.agent.Personas[1].Model})
	b.agent.Personas[0].Delegates = []string{"shop"}
	b.ask("@secret what must nobody know?")
	b.ask("@shop what does an upright cost?")
	task, _ := b.task()
	seen = task.ID
	m := b.asks("what did shop find out?")
	require.NoError(t, b.agent.Ask(ctx, b.admin, m, m.Body))
	requests := server.Requests()
	require.Contains(t, requests[1].Last(), fmt.Sprintf("%d shop (completed", seen))
	require.NotContains(t, requests[1].Last(), "secret")
	require.Contains(t, requests[2].Last(), "asked: @shop what does an upright cost?\nanswered: 90 euro.")
	require.Contains(t, requests[3].Last(), "There is no such session")
	mine, _ := b.task()
	require.Subset(t, mine.About, b.taskByID(seen).About, "what it read of it goes when that goes")

	now := b.agent.now
	b.agent.now = func() time.Time { return now().Add(2 * time.Hour) }
	b.ask("and now?")
	all := server.Requests()
	require.Contains(t, all[5].Last(), "Nothing in the last hour.")
	b.agent.Personas[0].Delegates = nil
	b.ask("and alone?")
	all = server.Requests()
	require.Equal(t, []string{"search_docs"}, offered(all[8]))
}
