package agent

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

// summarising answers questions about pianos, and shortens conversations to one sentence.
func summarising(_ context.Context, r llmtest.Request) llmtest.Reply {
	if strings.Contains(r.System, "You shorten a conversation") {
		return llmtest.Reply{Text: "They counted words."}
	}
	return llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")}
}

func TestSummary_PrecedesCutting(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, summarising)
	b := setup(t, model)
	b.storeConversation(16)
	asked := b.readConversation(server)
	require.Contains(t, asked, "word00")
	require.Zero(t, b.jobs("summarise"), "the next question and its answer find room")

	b.storeMessage(b.chat, policy.AuthorContact, "word16", time.Now())
	asked = b.readConversation(server)
	require.Contains(t, asked, "word00", "nothing is cut while the summary is not there")
	require.Equal(t, 1, b.jobs("summarise"))
	require.NoError(t, b.agent.Summaries.Summarise(context.Background(), b.chat.ID, ""))
	asked = b.readConversation(server)
	require.Contains(t, asked, "earlier conversation, in short\nThey counted words.")
	require.NotContains(t, asked, "word00")
	require.Contains(t, asked, "customer: word16")
	require.NoError(t, b.agent.Summaries.Summarise(context.Background(), b.chat.ID, ""))
	require.Len(t, server.Requests(), 4, "what is short is not shortened again: three turns and one summary")
}

// Each exchange with the owner is in every later prompt: word for word, or in a summary that was made from it.
func TestConversation_LosesNoExchange(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		said := regexp.MustCompile(`(question|answer)\d\d`).FindAllString(r.Last(), -1)
		if strings.Contains(r.System, "You shorten a conversation") {
			return llmtest.Reply{Text: strings.Join(said, " ")}
		}
		last := said[len(said)-1]
		return llmtest.Reply{Text: answerJSON(strings.Replace(last, "question", "answer", 1), 0, "")}
	})
	b := setup(t, model)
	summaries := 0
	for i := range 30 {
		b.ask(fmt.Sprintf("question%02d: is parking free?", i))
		requests := server.Requests()
		asked := requests[len(requests)-1].Last()
		for j := range i {
			require.Contains(t, asked, fmt.Sprintf("question%02d", j), "the question before is in the prompt of question %d", i)
			require.Contains(t, asked, fmt.Sprintf("answer%02d", j), "the answer before is in the prompt of question %d", i)
			require.LessOrEqual(t, strings.Count(asked, fmt.Sprintf("answer%02d", j)), 1, "once, in the prompt of question %d", i)
		}
		if b.jobs("summarise") == 0 {
			continue
		}
		b.exec("delete from river.river_job where kind = 'summarise'")
		require.NoError(t, b.agent.Summaries.Summarise(t.Context(), b.admin.ID, ""))
		summaries++
		s, err := store.SummaryOf(t.Context(), b.store.DB(), b.admin.ID)
		require.NoError(t, err)
		require.False(t, s.Tainted, "nothing of others was read")
	}
	require.GreaterOrEqual(t, summaries, 4)
	task, _ := b.task()
	require.False(t, task.Tainted, "a question after a summary of the owner's own words")
}

// What a bad model says in place of a summary never becomes the memory of the conversation.
func TestSummary_TakesOnlyWords(t *testing.T) {
	t.Parallel()
	for said, kept := range map[string]string{
		`<tool_call> {"name": "search_docs", "arguments": {}} </tool_call>`: "",
		`<think>What was it? Parking.</think>They talked about parking.`:    "They talked about parking.",
		`{"summary": "They talked about parking."}`:                         "They talked about parking.",
		`{"sentences": []}`: "",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
				if strings.Contains(r.System, "You shorten a conversation") {
					return llmtest.Reply{Text: said}
				}
				return llmtest.Reply{Text: answerJSON("Yes.", 0, "")}
			})
			b := setup(t, model)
			for i := range 10 {
				b.ask(fmt.Sprintf("question %d?", i))
			}
			err := b.agent.Summaries.Summarise(t.Context(), b.admin.ID, "")
			s, missing := store.SummaryOf(t.Context(), b.store.DB(), b.admin.ID)
			if kept == "" {
				require.Error(t, err)
				require.ErrorIs(t, missing, store.ErrNotFound)
				return
			}
			require.NoError(t, err)
			require.Equal(t, kept, s.Body)
		})
	}
}

func TestSummary_KeepsTaint(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, summarising)
	b := setup(t, model)
	b.ask("question one?")
	b.exec("update tasks set tainted = true")
	for i := range 9 {
		b.ask(fmt.Sprintf("question %d?", i))
	}
	require.NoError(t, b.agent.Summaries.Summarise(t.Context(), b.admin.ID, ""))
	s, err := store.SummaryOf(t.Context(), b.store.DB(), b.admin.ID)
	require.NoError(t, err)
	require.True(t, s.Tainted)
	b.exec("update tasks set tainted = false")
	b.ask("and now?")
	task, _ := b.task()
	require.True(t, task.Tainted, "the summary may repeat text of others")
}

func TestSummary_BoundsItsMessages(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, summarising)
	b := setup(t, model)
	begin, largest := time.Now().Add(-time.Hour), 0
	for i := range maxSummarySources + 60 {
		b.storeMessage(b.chat, policy.AuthorContact, fmt.Sprintf("word%03d", i), begin.Add(time.Duration(i)*time.Second))
		if i%10 != 9 {
			continue
		}
		require.NoError(t, b.agent.Summaries.Summarise(t.Context(), b.chat.ID, ""))
		s, err := store.SummaryOf(t.Context(), b.store.DB(), b.chat.ID)
		if i > 40 {
			require.NoError(t, err)
			require.LessOrEqual(t, len(s.Sources), maxSummarySources)
		}
		largest = max(largest, len(s.Sources))
	}
	require.Greater(t, largest, maxSummarySources*3/4)
	var anew int
	for _, r := range server.Requests()[1:] {
		if !strings.Contains(r.Last(), "what was before") {
			anew++
		}
	}
	require.Equal(t, 1, anew, "one summary was made without the earlier one")
}

func TestSummary_DeletedWithItsMessages(t *testing.T) {
	t.Parallel()
	change := map[string]func(ctx context.Context, tx store.Tx, b *fixture, event id.EventID) error{
		"deleted": func(ctx context.Context, tx store.Tx, b *fixture, event id.EventID) error {
			_, err := store.RedactMessage(ctx, tx, b.chat.ID, event, time.Now())
			return err
		},
		"edited": func(ctx context.Context, tx store.Tx, b *fixture, event id.EventID) error {
			_, err := store.EditMessage(ctx, tx, b.chat.ID, event, "@demo_ana:x", "something else", time.Now())
			return err
		},
		"gone": func(ctx context.Context, tx store.Tx, _ *fixture, event id.EventID) error {
			_, err := tx.Exec(ctx, "delete from messages where event_id = $1", event)
			return err
		},
	}
	for name, do := range change {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			var b *fixture
			during := false
			model, server := scripted(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
				if during && strings.Contains(r.System, "You shorten") {
					require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return do(ctx, tx, b, "$w2") }))
				}
				return summarising(ctx, r)
			})
			b = setup(t, model)
			b.storeConversation(20)
			require.NoError(t, b.agent.Summaries.Summarise(ctx, b.chat.ID, ""))
			_, err := store.SummaryOf(ctx, b.store.DB(), b.chat.ID)
			require.NoError(t, err)
			require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return do(ctx, tx, b, "$w1") }))
			_, err = store.SummaryOf(ctx, b.store.DB(), b.chat.ID)
			require.ErrorIs(t, err, store.ErrNotFound)
			asked := b.readConversation(server)
			require.NotContains(t, asked, "word00")
			require.Contains(t, asked, "word01", "the others are read word for word again")

			during = true
			require.ErrorIs(t, b.agent.Summaries.Summarise(ctx, b.chat.ID, ""), store.ErrChanged, "what changes while it is made is not in it")
			_, err = store.SummaryOf(ctx, b.store.DB(), b.chat.ID)
			require.ErrorIs(t, err, store.ErrNotFound)
		})
	}
}

func TestPrompt_CutsOldestMessages(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.System, "You shorten") {
			return llmtest.Reply{Status: 400, Message: "no"}
		}
		return summarising(ctx, r)
	})
	b := setup(t, model)
	b.storeConversation(45)
	require.Error(t, b.agent.Summaries.Summarise(context.Background(), b.chat.ID, ""))
	asked := b.readConversation(server)
	require.NotContains(t, asked, "word24")
	require.Contains(t, asked, "word25", "twenty messages")
	require.Contains(t, asked, "word44")

	b.agent.personas.Limits.Window = 6
	asked = b.readConversation(server)
	require.NotContains(t, asked, "word39")
	require.Contains(t, asked, "word40", "as many as the configuration says, with the question before")
}

func TestSummary_FitsAgentsModel(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, summarising)
	b := setup(t, llm.None{})
	b.agent.personas.All = []persona.Persona{{ID: "shop", Name: "Shop", Model: model, Limits: run.Limits{Context: 4_800}}}
	for i := range 8 {
		b.storeMessage(b.chat, policy.AuthorContact, fmt.Sprintf("word%02d %s", i, strings.Repeat("long ", 100)),
			time.Now().Add(time.Duration(i-10)*time.Minute))
	}
	b.readConversation(server)
	require.Equal(t, 1, b.jobs("summarise"), "eight messages are too much for a small model")
	var agent string
	require.NoError(t, b.store.DB().QueryRow(context.Background(),
		"select args->>'agent' from river.river_job where kind = 'summarise'").Scan(&agent))
	require.NoError(t, b.agent.Summaries.Summarise(context.Background(), b.chat.ID, agent))
	require.Contains(t, b.readConversation(server), "earlier conversation, in short\nThey counted words.",
		"with the agent's model, where multis itself has none")
}

func TestPrompt_OmitsMessagesOfNotes(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, summarising)
	b := setup(t, model)
	rows := b.storeConversation(20)
	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		return store.MarkCaptured(context.Background(), tx, b.chat.ID, rows[19], 5)
	}))
	asked := b.readConversation(server)
	require.NotContains(t, asked, "word14")
	require.Contains(t, asked, "word15")
}

func TestOwnerRooms_ShareOnlyNotes(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Noted: the fence is green.", 0, "")))
	b := setup(t, model)
	b.agent.memory = memory.New(memory.Options{Store: b.store, Search: search.New(b.store), Model: model})
	b.ask("the fence is green, isn't it?")
	b.note(policy.RoleAdmin, b.admin.ID, "The gardener is called Otto.")

	ctx := context.Background()
	room := id.RoomID("!direct:x")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) (err error) {
		b.admin, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  "direct",
			RoomID:     &room,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		return err
	}))
	b.ask("who gardens?")
	asked := server.Requests()[1].Last()
	require.Contains(t, asked, "The gardener is called Otto.")
	require.NotContains(t, asked, "fence")
	b.ask("and when?")
	asked = server.Requests()[2].Last()
	require.Contains(t, asked, "owner: who gardens?\nyou: Noted: the fence is green.")
}

func TestPrompt_NamesWhoAnswered(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, summarising)
	b := setup(t, model)
	at := time.Date(2026, 11, 25, 14, 5, 0, 0, time.UTC)
	b.storeMessage(b.chat, policy.AuthorContact, "My piano is out of tune", at.Add(-time.Hour))
	b.storeMessage(b.chat, policy.AuthorOwnerPhone, "I call you tomorrow", at.Add(-30*time.Minute))
	b.storeMessage(b.chat, policy.AuthorMultisOwner, "Or I do, says Eva", at)
	thread := b.storeMessage(b.admin, policy.AuthorOperator, "Or I do, says Eva", at)
	b.exec(`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, citations, quotes, state, event_id, sent_at)
		select gen_random_uuid(), m.chat_id, 'owner', 'draft', 'm.room.message', '{"body": "Or I do, says Eva"}', 'allowed', '', '[]', array[$1::bigint], 'sent', m.event_id, m.ts
		from messages m where m.chat_id = $2 and m.author = 'multis_owner'`, thread, b.chat.ID)
	asked := b.readConversation(server)
	require.Contains(t, asked, "owner: I call you tomorrow\noperator: Or I do, says Eva\n")
	require.Contains(t, asked, "who answered\nUntil Wed 25 Nov 2026, 14:05 the owner and the operator answered here, not you.")

	b.storeMessage(b.chat, policy.AuthorMultisOwner, "We open at nine.", at.Add(time.Minute))
	require.NotContains(t, b.readConversation(server), "who answered\n", "the assistant has answered since")
}
