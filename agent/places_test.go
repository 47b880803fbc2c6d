package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestPlaces_AllChatsAreSearchedAfterDocuments(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.addMemory("the door code is 4711")
	b.indexCapture("The zeppelin lands on Friday.")
	ctx := t.Context()
	said := func(author policy.Author, body string) {
		b.storeMessage(b.chat, author, body, time.Now().Add(-time.Hour))
		require.NoError(t, b.agent.memory.IndexMessages(ctx))
	}
	said(policy.AuthorOwnerPhone, "Tuesday at three works for me")
	said(policy.AuthorContact, "the deposit is 200 euros")
	for question, answer := range map[string]string{
		"when does the zeppelin land?":        "lands on Friday",
		"what is the door code?":              "4711",
		"do you remember the door code?":      "4711",
		"what did I say about Tuesday?":       "works for me",
		"deposit":                             "200 euros",
		"how much did Ana say the deposit is": "200 euros",
	} {
		t.Run(question, func(t *testing.T) { require.Contains(t, b.ask(question), answer) })
	}
	prices := b.ask("what does tuning a grand piano cost?")
	require.Contains(t, prices, "120 euro")
	require.NotContains(t, prices, "200 euros", "documents that answer come alone")
	require.Equal(t, "I found nothing about that in your documents or chats.", b.ask("who sells submarines?"))

	named := b.ask("when does Ana's zeppelin land?")
	require.Contains(t, named, "Looked in: your documents, Ana · Demo.")
	b.anotherAna("signal")
	require.Contains(t, b.ask("when does the zeppelin of Ana land?"),
		"There are several chats of Ana: say the network (Demo, Signal), and I look there first.")

	b.exec("update chats set mode = 'off' where id = $1", b.chat.ID)
	require.NotContains(t, b.ask("what is the door code?"), "4711", "a chat that is off")
}

func TestPlaces_ModelSearchesAllChats(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, inTurn(
		llmtest.Reply{Text: answerJSON("It is 4711.", 1, "the door code is 4711")},
		calls("recall_memory", map[string]string{"query": "door code"}),
		llmtest.Reply{Text: answerJSON("It is 4711.", 1, "the door code is 4711")},
		llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")},
	))
	b := setup(t, model)
	b.addMemory("the door code is 4711")
	b.setTools(tools.RecallMemory{Memory: b.agent.memory})
	text := b.ask("what is the door code?")
	require.Contains(t, text, "It is 4711. [1]")
	require.Contains(t, text, "Looked in: your documents, your notes and chats.")
	task, _ := b.task()
	require.True(t, task.Tainted, "a message of somebody else was read")

	require.Contains(t, b.ask("look it up"), "4711", "the tool finds it, too")
	b.ask("what does tuning a grand piano cost?")
	requests := server.Requests()
	require.NotContains(t, requests[len(requests)-1].Last(), "] the door code", "no chat is read if a document answers")
}

func TestPlaces_SkillWithoutMemoryReadsNoChat(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.addMemory("the door code is 4711")
	area := documentsArea()
	found, err := b.agent.searchForOwner(t.Context(), &area, "what is the door code?")
	require.NoError(t, err)
	require.Empty(t, found.Hits)
}

func TestCitations_InventedAreCounted(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences":[{"text":"It is 90 euro.","source":1,"quote":"Tuning an upright piano costs 90 euro."},
			{"text":"It is free.","source":1,"quote":"never written"},{"text":"It is old.","source":99,"quote":"nor was this ever written"},{"text":"I think so.","source":0,"quote":""}]}`}
	})
	b := setup(t, model)
	text := b.ask("what does tuning an upright piano cost?")
	require.NotContains(t, text, "[2]")
	invented := func() int {
		n, err := store.InventedCitations(context.Background(), b.store.DB())
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 2, invented(), "a sentence without a source makes nothing up")
	b.storeContactMessage("What does tuning an upright piano cost?", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, 4, invented(), "a contact's answers are counted, too")
}

func TestPlaces_LinkedChatsShareMemory(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")}
	})
	b := setup(t, model)
	ctx := context.Background()
	b.anotherAna("signal")
	var other store.ChatID
	require.NoError(t, b.store.DB().QueryRow(ctx, "select id from chats where channel_id = 'other'").Scan(&other))
	b.note(policy.UserRole(other), other, "Ana plays a harpsichord.")
	b.note(policy.RoleAdmin, b.admin.ID, "Ana owes me money.")
	asked := func() string {
		b.storeContactMessage("What does tuning a grand piano cost?", policy.ActionAnswer)
		b.runTurn()
		requests := server.Requests()
		return requestText(requests[len(requests)-1])
	}
	require.NotContains(t, asked(), "harpsichord")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.MergeChats(ctx, tx, []store.ChatID{b.chat.ID, other}) }))
	merged := asked()
	require.Contains(t, merged, "harpsichord")
	require.NotContains(t, merged, "owes me", "the owner's notes stay the owner's")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.UnmergeChat(ctx, tx, other) }))
	require.NotContains(t, asked(), "harpsichord")
}
