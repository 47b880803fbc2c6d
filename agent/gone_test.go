package agent

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/jobs"
	"multis/knowledge/search"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestDeletion_RemovesDerivedTexts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	oolong := llmtest.Reply{Text: answerJSON("It is oolong.", 0, "")}
	for name, c := range map[string]struct {
		first llmtest.Reply
		ask   func(b *fixture)
	}{
		"asked": {oolong, func(b *fixture) { b.ask("what did Ana take as always?") }},
		"after somebody allowed a call": {calls("lamp", map[string]bool{"on": true}), func(b *fixture) {
			m := b.storeQuestion("what did Ana take as always?")
			require.NoError(b.t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
			task, _ := b.task()
			a, err := store.ApprovalByID(ctx, b.store.DB(), int64(b.count("select max(id) from approvals")))
			require.NoError(b.t, err)
			b.decideApproval(a, true)
			b.resume(task.ID)
		}},
		"by the clock": {oolong, func(b *fixture) {
			require.NoError(b.t, b.agent.Questions.AnswerScheduled(ctx, b.admin, b.runSchedule(store.Schedule{Body: "what did Ana take as always?"}),
				"what did Ana take as always?"))
		}},
		"passed on": {calls("handoff", map[string]string{"agent": "shop", "summary": "It is oolong."}), func(b *fixture) {
			m := b.storeQuestion("what did Ana take as always?")
			require.NoError(b.t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
			task, _ := b.task()
			b.resume(task.ID)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, inTurn(c.first, oolong))
			b := setup(t, model)
			from := b.addMemory("oolong for me, as always")
			b.agent.personas.All = []persona.Persona{{ID: "main", Default: true, Delegates: []string{"*"}}, {ID: "shop"}}
			b.setTools(&countingTool{tier: tools.Confirm}, tools.Handoff{})
			c.ask(b)
			require.Contains(t, strings.Join(b.queuedTexts(b.admin), "\n"), "It is oolong.")
			b.markAllSent()
			_, err := b.store.Pool().Exec(ctx, "delete from tasks") // as a month later
			require.NoError(t, err)
			b.deleteMessage(from)
			require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
		})
	}
}

func TestDeletion_DuringCallIsNotQuoted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		answer string
		ask    func(b *fixture)
	}{
		"to the owner": {answerJSON("It is oolong.", 0, ""), func(b *fixture) {
			require.Contains(b.t, b.ask("what did Ana take as always?"), "a message it worked from was deleted")
		}},
		"to the contact": {answerJSON("Delivery is 5 euro within the city.", 1, "Delivery costs 5 euro within the city."), func(b *fixture) {
			b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
			require.True(b.t, jobs.IsSnooze(b.agent.Turns.Turn(ctx, b.chat.ID, "1.1", false)))
			require.Empty(b.t, b.queuedTexts(b.chat))
			b.runTurn()
			require.Contains(b.t, b.queuedTexts(b.chat)[0], "Delivery is 5 euro within the city.", "it is answered without")
		}},
		"in a plan": {`{"steps": [{"text": "Buy oolong"}]}`, func(b *fixture) {
			b.plan("buy what Ana takes as always")
			require.Contains(b.t, b.queuedTexts(b.admin)[0], "was deleted")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *fixture
			var from store.MessageID
			once := sync.Once{}
			model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
				once.Do(func() { b.deleteMessage(from) })
				return llmtest.Reply{Text: c.answer}
			})
			b = setup(t, model)
			from = b.addMemory("oolong for me, as always")
			b.setTools()
			c.ask(b)
			require.Contains(t, server.Requests()[0].Last(), "oolong")
			b.markAllSent()
			require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
		})
	}
}

func TestDeletion_RemovesStepsOfPlan(t *testing.T) {
	t.Parallel()
	b, _ := newPlanner(t, `{"steps": [{"text": "Buy oolong"}]}`, llmtest.Say(answerJSON("Done.", 0, "")))
	from := b.addMemory("oolong for me, as always")
	b.plan("buy what Ana takes as always")
	b.deleteMessage(from)
	require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
}

func TestDeletion_RemovesEscalationReason(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, inTurn(calls("escalate", map[string]string{"reason": "She wants oolong, and a piano."})))
	b := setup(t, model)
	b.setTools()
	before := b.storeContactMessage("oolong for me, as always", policy.ActionArchive)
	b.storeContactMessage("And what does a grand piano cost?", policy.ActionAnswer)
	newest := b.storeContactMessage("Please?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, b.queuedTexts(b.admin)[0], "She wants oolong, and a piano.")
	require.Contains(t, b.messageByID(newest).Reason, "The model asked for a person. I escalated it to you.")
	b.markAllSent()
	b.deleteMessage(before)
	require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
}

func TestDeletion_RemovesFoundNoteFromTask(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, server := scripted(t, inTurn(calls("recall_memory", map[string]string{"query": "delivery"}),
		llmtest.Reply{Text: answerJSON("Delivery is 5 euro within the city.", 1, "Delivery costs 5 euro within the city.")}))
	b := setup(t, model)
	from := b.addMemory("oolong for me, as always")
	b.setTools(tools.RecallMemory{Memory: b.agent.memory})
	role := policy.UserRole(b.chat.ID)
	require.NoError(t, b.store.AsOwner(ctx, policy.ContactScope(b.chat.ID), func(tx store.Tx) error {
		section, err := store.InsertSection(ctx, tx, b.chat.ID, role, from)
		if err != nil {
			return err
		}
		text := "Delivery of what they take, which is oolong"
		if _, err := store.InsertNote(ctx, tx, store.Note{
			Role:      role,
			ChatID:    b.chat.ID,
			Section:   &section,
			Kind:      store.NoteFact,
			Body:      text,
			Sources:   []store.MessageID{from},
			ValidFrom: time.Now(),
		}); err != nil {
			return err
		}
		if err := store.PruneNotes(ctx, tx, role, 0); err != nil {
			return err
		}
		_, err = index.ReplaceDocument(ctx, tx, index.Document{
			Origin: store.SectionOrigin(section),
			Name:   "Notes",
			Role:   role,
			Kind:   index.KindConversation,
			Format: "chat",
			Hash:   "h",
		},
			[]index.Chunk{{Key: "k", Content: text, SearchText: search.IndexText("", "", text)}})
		return err
	}))
	_, err := b.store.Pool().Exec(ctx,
		"insert into chat_memory (chat_id, window_from) values ($1, now() + interval '1 hour') on conflict (chat_id) do update set window_from = excluded.window_from", b.chat.ID)
	require.NoError(t, err)
	b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, server.Requests()[1].Last(), "which is oolong")
	b.deleteMessage(from)
	require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
}

func TestDeletion_DuringSummaryIsOmitted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var b *fixture
	model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if !strings.Contains(r.System, "You shorten a conversation") {
			return llmtest.Reply{Text: answerJSON("It is oolong.", 0, "")}
		}
		if _, err := b.store.Pool().Exec(ctx, "delete from messages where chat_id = $1", b.chat.ID); err != nil { // as /forget all does
			t.Error(err)
		}
		return llmtest.Reply{Text: "He asked for the oolong."}
	})
	b = setup(t, model)
	b.addMemory("oolong for me, as always")
	b.setTools()
	for range 12 {
		b.ask("what did Ana take as always?")
	}
	require.ErrorIs(t, b.agent.Summaries.Summarise(ctx, b.admin.ID, ""), store.ErrChanged)
	require.Zero(t, b.count("select count(*) from chat_summaries"))
}

func TestDeletion_RemovesAnswerFromTask(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, _ := scripted(t, llmtest.Say(answerJSON("Delivery is only 5 euro within the city.", 1, "Delivery costs 5 euro within the city.")))
	b := setup(t, model)
	b.setTools()
	takeBack := func(chat store.Chat) {
		t.Helper()
		out := b.count("select max(seq) from outbox where chat_id = $1", chat.ID)
		_, err := b.store.Pool().Exec(ctx, "update outbox set state = 'sent', event_id = '$said' || seq where seq = $1", out)
		require.NoError(t, err)
		require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
			_, err := store.RedactMessage(ctx, tx, chat.ID, id.EventID(fmt.Sprintf("$said%d", out)), time.Now())
			return err
		}))
		require.Empty(t, storetest.ColumnsContaining(t, b.store, "only 5 euro"))
	}
	question := b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, storetest.ColumnsContaining(t, b.store, "only 5 euro"), "tasks.answer")
	takeBack(b.chat)
	require.Equal(t, "What does delivery cost?", b.messageByID(question).Body)

	b.ask("what does delivery cost?")
	first, _ := b.task()
	said := b.count("select max(seq) from outbox")
	b.agent.personas.Model, _ = scripted(t, llmtest.Say(answerJSON("So it is.", 0, "")))
	b.ask("really?")
	second, _ := b.task()
	require.Contains(t, string(second.Request), "only 5 euro", "it is read with the next question")
	_, err := b.store.Pool().Exec(ctx, "update outbox set seq = default where seq = $1", said)
	require.NoError(t, err)
	takeBack(b.admin)
	require.True(t, b.taskByID(first.ID).Forgotten)
	require.True(t, b.taskByID(second.ID).Forgotten)
}
