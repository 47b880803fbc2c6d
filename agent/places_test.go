package agent

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestPlaces_OnlyNamedChatIsSearched(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.indexCapture("The zeppelin lands on Friday.")
	require.Equal(t, "I found nothing about that in your documents or chats.", b.ask("when does the zeppelin land?"))

	named := b.ask("when does Ana's zeppelin land?")
	require.Contains(t, named, "The zeppelin lands on Friday.")
	require.Contains(t, named, "Looked in: your documents, Ana · Demo.")

	b.anotherAna("signal")
	unclear := b.ask("when does the zeppelin of Ana land?")
	require.NotContains(t, unclear, "Friday")
	require.Contains(t, unclear, "Not in the chats of Ana: there are several; say the network (Demo, Signal), and I look there.")
	require.Contains(t, b.ask("when does the zeppelin of Ana on Demo land?"), "Friday")
}

func TestPlaces_NamedChatIsSearchedAndSaid(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: answerJSON("On Friday.", 1, "The zeppelin lands on Friday.")}
	})
	b := setup(t, model)
	b.indexCapture("The zeppelin lands on Friday.")
	b.ask("when does the zeppelin land?")
	require.NotContains(t, requestText(server.Requests()[0]), "lands on Friday", "another chat has no part in it")
	text := b.ask("when does Ana's zeppelin land?")
	require.Contains(t, text, "On Friday. [1]")
	require.Contains(t, text, "Looked in: your documents, Ana · Demo.")
}

func TestCitations_InventedAreCounted(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences":[{"text":"It is 90 euro.","source":1,"quote":"Tuning an upright piano costs 90 euro."},
			{"text":"It is free.","source":1,"quote":"never written"},{"text":"It is old.","source":99,"quote":"Tuning an upright piano costs 90 euro."},{"text":"I think so.","source":0,"quote":""}]}`}
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
