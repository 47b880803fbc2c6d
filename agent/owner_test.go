package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm"
	"multis/llm/llmtest"
)

func TestOwnerTurn_AnswersWithSources(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences":[{"text":"It is 90 euro.","source":1,"quote":"Tuning an upright piano costs 90 euro."},{"text":"Ask again later.","source":1,"quote":"never written"}]}`}
	})
	b := setup(t, model)
	text := b.ask("what does tuning an upright piano cost?")
	require.Contains(t, text, "It is 90 euro. [1] Ask again later.")
	require.Contains(t, text, "Pianos")
	require.NotContains(t, text, "never written")
	require.Len(t, server.Requests(), 1)
	require.Equal(t, []string{"Tuning an upright piano costs 90 euro."}, b.ownerQuotes(), "what proves it is stored with it")
}

func TestOwnerTurn_WithoutModelShowsPassages(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	text := b.ask("what does tuning an upright piano cost?")
	require.Contains(t, text, "I have no model configured, so here is what I found:")
	require.Contains(t, text, "90 euro")
	require.Contains(t, strings.Join(b.ownerQuotes(), " "), "90 euro")
	text = b.ask("zeppelin mooring mast")
	require.Empty(t, b.ownerQuotes())
	require.Equal(t, "I found nothing about that in your documents or chats.", text)
}

// What a model says that it did and what was done are two things.
func TestAnswer_SaysThatACallFailed(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, inTurn(calls("schedule", map[string]any{"do": "remove", "job": 3}),
		llmtest.Reply{Text: answerJSON("I removed the reminder.", 0, "")}))
	b := setup(t, model)
	b.setTools()
	b.agent.tools.Add(tools.Schedule{Store: b.store, Registry: b.agent.tools, Owner: "@me:x", Zone: time.UTC})
	require.Contains(t, b.ask("remove the reminder to call the school"),
		"I removed the reminder.\n\n⚠️ Not done: `schedule`. do is set, list or cancel")
}

// A follow-up is read with what was asked before it.
func TestOwnerTurn_FollowUpKeepsDocuments(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")))
	b := setup(t, model)
	b.setTools()
	b.ask("what does tuning a grand piano cost?")
	b.ask("And in July?")
	asked := server.Requests()
	require.Contains(t, asked[len(asked)-1].Last(), "| A grand piano costs 120 euro.")
}
