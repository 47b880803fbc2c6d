package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

func TestScheduled_HasOwnToolsAndConversation(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Done with it.", 0, "")))
	b := setup(t, model)
	b.setTools(&countingTool{tier: tools.Confirm})
	b.ask("the secret word is plinth")
	for _, c := range []struct {
		session store.Session
		tools   []string
		knows   bool
	}{
		{store.SessionIsolated, []string{"search_docs"}, false},
		{store.SessionMain, []string{"search_docs", "lamp", "gone"}, true},
		{store.SessionIsolated, nil, false},
	} {
		key := b.runSchedule(store.Schedule{Body: "sum up", Session: c.session, Tools: c.tools})
		require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, key, "sum up"))
		requests := server.Requests()
		last := requests[len(requests)-1]
		offered := []string{}
		for _, tool := range last.Tools {
			offered = append(offered, tool.Name)
		}
		for _, name := range offered {
			require.Contains(t, c.tools, name, "nothing that was not there when it was set")
		}
		require.Len(t, offered, min(len(c.tools), 2))
		if c.knows {
			require.Contains(t, last.Messages[0].Text, "plinth")
		} else {
			require.NotContains(t, last.Messages[0].Text, "plinth")
		}
	}
}

func TestScheduled_LateAnswerSaysSo(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, llmtest.Say(answerJSON("Done with it.", 0, "")))
	b := setup(t, model)
	b.setTools()
	for late, want := range map[time.Duration]bool{0: false, 3 * time.Hour: true} {
		before := len(b.queuedTexts(b.admin))
		require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, b.runLateSchedule(store.Schedule{Body: "sum up"}, late),
			"sum up"))
		said := b.queuedTexts(b.admin)[before]
		require.Contains(t, said, "sum up")
		require.Equal(t, want, strings.Contains(said, "3 h late: it was due"), said)
	}
}

func TestScheduled_CancelledScheduleHasNoTools(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Done with it.", 0, "")))
	b := setup(t, model)
	b.setTools()
	key := b.runSchedule(store.Schedule{Body: "sum up", Tools: []string{"search_docs"}})
	_, err := b.store.Pool().Exec(t.Context(), "delete from schedules")
	require.NoError(t, err)
	require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, key, "sum up"))
	require.Empty(t, server.Requests()[0].Tools)
}

// monday is a morning in a week of schedules.
var monday = time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)

func TestTimeQuestion_ReadsAllChats(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Ana asks about tandems.", 1, "do you rent tandems at the lake")))
	b := setup(t, model)
	b.agent.now = func() time.Time { return monday.Add(2 * time.Hour) }
	b.agent.memory = memory.New(memory.Options{
		Store:  b.store,
		Search: search.New(b.store),
		Model:  model,
		Zone:   time.UTC,
		Now:    func() time.Time { return b.agent.now() },
	})
	b.setTools()
	b.storeMessage(b.chat, policy.AuthorContact, "long before", monday.Add(-72*time.Hour))
	b.storeMessage(b.chat, policy.AuthorContact, "do you rent tandems at the lake", monday.Add(-4*time.Hour))
	ben := b.otherChat("Ben")
	b.storeMessage(ben, policy.AuthorContact, "my parcel is late", monday.Add(-5*time.Hour))
	off := b.otherChat("Eve")
	b.storeMessage(off, policy.AuthorContact, "off the record", monday.Add(-5*time.Hour))
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, off.ID, policy.ModeOff) }))

	question := "what came in overnight?"
	require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, b.runSchedule(store.Schedule{Body: question}), question))
	said := b.queuedTexts(b.admin)
	asked := server.Requests()[0].Messages[0].Text
	require.Contains(t, asked, "do you rent tandems at the lake")
	require.Contains(t, asked, "my parcel is late")
	require.NotContains(t, asked, "long before")
	require.NotContains(t, asked, "off the record")
	require.Contains(t, said[0], "Ana asks about tandems. [1]", "and can be cited")
	require.Contains(t, said[0], "all chats since Sun 15 Nov, 18:00")
	b.ask("who wrote since Sunday?")
	require.Contains(t, server.Requests()[1].Messages[0].Text, "my parcel is late", "asked by the owner himself")
	b.ask("are we open on Sunday?")
	require.NotContains(t, server.Requests()[2].Messages[0].Text, "my parcel is late", "a day that may be to come is none to look back at")

	b.agent.personas.Model = llm.None{}
	text := b.ask("what came in overnight?")
	require.Contains(t, text, "do you rent tandems at the lake")
	require.Contains(t, text, "my parcel is late")
}

func TestReminder_OfContactIsOnlyNoted(t *testing.T) {
	t.Parallel()
	const wish = "What does tuning cost? And please remind me tomorrow at 9 to bring the papers"
	obeys, _ := scripted(t, inTurn(
		calls("schedule", map[string]string{"do": "set", "at": "2030-01-01T09:00:00Z", "what": "bring the papers"}),
		calls("escalate", map[string]string{"reason": "Ana wants to be reminded of the papers tomorrow at 9."}),
	))
	for name, model := range map[string]llm.Model{"no model": llm.None{}, "a model that does what it is told": obeys} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, model)
			b.setTools()
			b.agent.tools.Add(tools.Schedule{Store: b.store, Registry: b.agent.tools, Owner: "@me:x", Zone: time.UTC})
			b.storeContactMessage(wish, policy.ActionAnswer)
			b.runTurn()
			require.Len(t, b.queuedTexts(b.admin), 1)
			require.Contains(t, b.queuedTexts(b.admin)[0], "remind me tomorrow at 9 to bring the papers")
			require.Zero(t, b.count("select count(*) from schedules"))
		})
	}
}

func TestScheduled_DeletedScheduleHasNoTools(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Done with it.", 0, "")))
	b := setup(t, model)
	b.setTools(&countingTool{tier: tools.Confirm})
	b.ask("the secret word is plinth")
	run := b.runSchedule(store.Schedule{Body: "sum up", Session: store.SessionMain, Tools: []string{"search_docs", "lamp"}})
	task, err := store.InsertTask(t.Context(), b.store.Writer(), store.Task{
		Key:    "without a run",
		Kind:   store.TaskSchedule,
		ChatID: b.admin.ID,
		Model:  model.Name(),
		Input:  "sum up",
	})
	require.NoError(t, err)
	require.NoError(t, b.agent.Tasks.Resume(t.Context(), task.ID, false))
	require.Empty(t, offeredTools(server.Requests()[1]))
	require.NotContains(t, server.Requests()[1].Last(), "plinth")

	require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, run, "sum up"))
	require.Equal(t, []string{"lamp", "search_docs"}, slices.Sorted(slices.Values(offeredTools(server.Requests()[2]))))
}

func TestHandoff_KeepsLimitsOfSchedule(t *testing.T) {
	t.Parallel()
	b, _, shop := newTeam(t, llmtest.Say(answerJSON("Mine.", 0, "")), llmtest.Say(answerJSON("Theirs.", 0, "")))
	b.setTools(&countingTool{tier: tools.Confirm})
	run := b.runSchedule(store.Schedule{Body: "sum up", Session: store.SessionIsolated, Tools: []string{"search_docs"}})
	require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, run, "@main sum up"))
	first, _ := b.task()
	require.Equal(t, run, *first.ExecutionID)
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		return b.agent.Questions.openHandoffTask(t.Context(), tx, first, b.admin, "shop")
	}))
	next, _ := b.task()
	require.NotEqual(t, first.ID, next.ID)
	b.resume(next.ID)
	require.Equal(t, []string{"search_docs"}, offeredTools(shop.Requests()[0]))
}
