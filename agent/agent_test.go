package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/run"
	"multis/internal/text"
	"multis/jobs"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestAnswer_UsesWordsOfSource(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	row := b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	bodies := b.queuedTexts(b.chat)
	require.Len(t, bodies, 1)
	require.Contains(t, bodies[0], "[Nora] ")
	require.Contains(t, bodies[0], "Delivery costs 5 euro within the city.")
	m := b.messageByID(row)
	require.NotNil(t, m.AnsweredAt)
	out, err := store.OutboxMessageByID(context.Background(), b.store.DB(), *m.OutboxID)
	require.NoError(t, err)
	require.Len(t, out.Citations, 1)
	require.Contains(t, out.Citations[0].Source, "prices.md › Delivery")
	require.Contains(t, text.CollapseSpaces(priceList), text.CollapseSpaces(out.Citations[0].Quote))
	require.Contains(t, string(out.Content), out.ID.String(), "the content carries its outbox row's key")
}

func TestAnswer_IgnoresAssistantsName(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("Nora, what does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	bodies := b.queuedTexts(b.chat)
	require.Len(t, bodies, 1)
	require.Contains(t, bodies[0], "Delivery costs 5 euro within the city.")
}

func TestTurn_BurstGetsOneReply(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("hi!", policy.ActionAnswer)
	b.storeContactMessage("one question", policy.ActionAnswer)
	b.storeContactMessage("what does tuning an upright piano cost?", policy.ActionAnswer)
	b.runTurn()
	b.runTurn()
	require.Len(t, b.queuedTexts(b.chat), 1)
	require.Contains(t, b.queuedTexts(b.chat)[0], "90 euro")
}

func TestTurn_WaitsBoundedForBurst(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.Turns.burstQuiet, b.agent.Turns.burstMax = time.Hour, 2*time.Hour
	b.storeContactMessage("what does delivery cost?", policy.ActionAnswer)
	err := b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false)
	require.True(t, jobs.IsSnooze(err), "%v", err)
	b.agent.now = func() time.Time { return time.Now().Add(90 * time.Minute) }
	b.runTurn()
	require.Len(t, b.queuedTexts(b.chat), 1)
}

func TestEscalation_NoSourceNotifiesOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	first := b.storeContactMessage("Can you fix my bicycle's gears?", policy.ActionAnswer)
	b.runTurn()
	second := b.storeContactMessage("Do you rent out tents?", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat))
	require.Len(t, b.queuedTexts(b.admin), 1, "the thread shows what comes after")
	require.Equal(t, 2, b.count("select count(*) from river.river_job where kind = 'update_escalation'"))
	require.Contains(t, b.queuedTexts(b.admin)[0], "Ana")
	require.Contains(t, b.queuedTexts(b.admin)[0], "bicycle's gears")
	require.Equal(t, codeEscalated, b.messageByID(first).Code)
	require.Equal(t, codeWaiting, b.messageByID(second).Code)
}

func TestGreeting_SkippedWhileEscalated(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("Can you fix my bicycle's gears?", policy.ActionAnswer)
	b.runTurn()
	greeting := b.storeContactMessage("Hallo?", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat), "said once")
	require.Equal(t, codeWaiting, b.messageByID(greeting).Code)
	require.Equal(t, 1, b.count("select count(*) from escalations"))
	require.Equal(t, 1, b.count("select count(*) from outbox where chat_id = $1 and content->>'msgtype' = 'm.text'", b.admin.ID),
		"and nobody is called again")
}

// A person resolves the escalation, or answers, after the turn has decided that the contact waits, and before it commits.
func TestGreeting_DuringResolveOpensNoEscalation(t *testing.T) {
	t.Parallel()
	for _, ended := range []string{"closed_at = now(), closed_by = '@owner:x'", "answered_at = now()"} {
		b := setup(t, llm.None{})
		b.storeContactMessage("Can you fix my bicycle's gears?", policy.ActionAnswer)
		b.runTurn()
		greeting := b.storeContactMessage("Hallo?", policy.ActionAnswer)
		ctx, job := t.Context(), "7.1"
		chat, err := store.LeaseChat(ctx, b.store.Writer(), b.chat.ID, job)
		require.NoError(t, err)
		waiting, err := store.WaitingMessages(ctx, b.store.DB(), chat.ID)
		require.NoError(t, err)
		decided, err := decider{b.agent.Turns}.decide(ctx, chat, waiting, false)
		require.NoError(t, err)
		require.Equal(t, waitsForPerson, decided.escalation.reason)

		b.exec("update escalations set " + ended)
		require.True(t, jobs.IsSnooze(b.agent.Turns.commit(ctx, chat, waiting, job, decided)))
		require.Equal(t, 1, b.count("select count(*) from escalations"))
		require.Len(t, b.queuedTexts(b.admin), 1, "no second card")
		_, err = store.EndLease(ctx, b.store.Writer(), chat.ID, job)
		require.NoError(t, err)
		b.runTurn()
		require.Equal(t, codeGreeted, b.messageByID(greeting).Code)
		require.Equal(t, 1, b.count("select count(*) from escalations"))
	}
}

func TestEscalation_NotifiesOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	var last store.MessageID
	for range 20 {
		last = b.storeContactMessage("human please", policy.ActionEscalate)
		b.runTurn()
	}
	require.Equal(t, 1, b.count("select count(*) from outbox where chat_id = $1 and content->>'msgtype' = 'm.text'", b.admin.ID), "one ring")
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1, "the card; its thread shows the rest")
	require.Contains(t, b.messageByID(last).Reason, "message 19 since then")

	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		e, err := store.EscalationOfChat(context.Background(), tx, b.chat.ID)
		if err != nil {
			return err
		}
		_, err = store.ResolveEscalation(context.Background(), tx, e.ID, "")
		return err
	}))
	b.storeContactMessage("human please", policy.ActionEscalate)
	b.runTurn()
	require.Equal(t, 2, b.count("select count(*) from outbox where chat_id = $1 and content->>'msgtype' = 'm.text'", b.admin.ID),
		"a new state rings anew")
}

func TestEscalation_RequestBeatsDocument(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("What does delivery cost? I want to speak to a person", policy.ActionEscalate)
	b.runTurn()
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat))
}

func TestGreeting_OnceADayWithoutFacts(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("Hello!", policy.ActionAnswer)
	b.runTurn()
	again := b.storeContactMessage("good morning", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, []string{"[Nora] Hello! How can I help?"}, b.queuedTexts(b.chat))
	require.Empty(t, b.queuedTexts(b.admin))
	require.Equal(t, codeGreeted, b.messageByID(again).Code)
}

func TestThanks_GetNoReply(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	row := b.storeContactMessage("Thanks, bye!", policy.ActionAnswer) // it was a question, and was edited
	b.runTurn()
	require.Empty(t, b.queuedTexts(b.chat))
	require.Empty(t, b.queuedTexts(b.admin))
	require.Equal(t, policy.CodeAcknowledged, b.messageByID(row).Code)
}

func TestGate_DenialIsStoredAsReason(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	row := b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	ctx := context.Background()
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		return store.PutSetting(ctx, tx, store.SettingPause, store.Pause{Since: time.Now()})
	}))
	b.runTurn()
	require.Empty(t, b.queuedTexts(b.chat))
	require.Equal(t, policy.CodePausedAll, b.messageByID(row).Code)
}

func TestTurn_OwnerWritingSilencesModel(t *testing.T) {
	t.Parallel()
	var b *fixture
	model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		ctx := context.Background()
		if err := b.store.InTx(ctx, func(tx store.Tx) error { return store.MarkOwnerWrote(ctx, tx, b.chat.ID, "", time.Now()) }); err != nil {
			t.Error(err)
		}
		return llmtest.Reply{Text: answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city.")}
	})
	b = setup(t, model)
	row := b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	require.Empty(t, b.queuedTexts(b.chat))
	require.Equal(t, policy.CodeOwnerActive, b.messageByID(row).Code)
}

func TestTurn_LostLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	var b *fixture
	model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		// Another process takes over, as it would after the lease ran out.
		if _, err := b.store.Pool().Exec(context.Background(),
			"update chats set locked_by = 'other', locked_until = now() + interval '1 minute'"); err != nil {
			t.Error(err)
		}
		return llmtest.Reply{Text: answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city.")}
	})
	b = setup(t, model)
	row := b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	err := b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false)
	require.True(t, jobs.IsSnooze(err), "%v", err)
	require.Empty(t, b.queuedTexts(b.chat))
	require.Nil(t, b.messageByID(row).AnsweredAt)
}

func TestTurn_ConcurrentTurnsReplyOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := b.agent.Turns.Turn(context.Background(), b.chat.ID, fmt.Sprint(i), false); err != nil && !jobs.IsSnooze(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, b.queuedTexts(b.chat), 1)
}

// scripted opens a model that answers with a script, with an unlimited budget.
func scripted(t *testing.T, script llmtest.Script) (llm.Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, script)
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: server.URL, Local: true}}, Timeout: time.Minute,
		Budget: llm.Budget{Ledger: &unlimitedLedger{}, DayCap: 1, ChatCap: 1, Today: func() string { return "2026-11-20" }},
	})
	require.NoError(t, err)
	model, err := models.Open([]string{"openai/test"}, "")
	require.NoError(t, err)
	return model, server
}

type unlimitedLedger struct{}

func (*unlimitedLedger) Reserve(context.Context, policy.SpendRequest) (policy.Reservation, error) {
	return policy.Reservation{}, nil
}

func (*unlimitedLedger) Settle(context.Context, int64, policy.Settlement) error { return nil }

// answerJSON writes a model's answer of one sentence.
func answerJSON(text string, source int, quote string) string {
	raw, err := json.Marshal(run.Answer{Sentences: []run.Sentence{{Text: text, Source: source, Quote: quote}}})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestAnswer_NeedsTrueQuote(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reply string
		want  string // in what the contact gets
	}{
		"a true quote goes out": {
			answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city."),
			"Delivery is 5 euro. (from Prices)",
		},
		"the document is quoted instead of a made-up quote": {
			answerJSON("Delivery is free!", 1, "Delivery is free for everybody."),
			"Delivery costs 5 euro within the city. (from Prices)",
		},
		"a true quote is found in whichever passage it stands": {
			answerJSON("Delivery is 5 euro.", 99, "Delivery costs 5 euro within the city."),
			"Delivery is 5 euro. (from Prices)",
		},
		"no sentences escalate":                   {`{"sentences":[]}`, "check with the team"},
		"the document is quoted instead of prose": {"Delivery is 5 euro.", "Delivery costs 5 euro within the city. (from Prices)"},
		"markup is taken out and a fence read past": {"```json\n" +
			answerJSON("Delivery is **5 euro**.", 1, "Delivery costs 5 euro within the city.") + "\n```", "Delivery is 5 euro."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Text: c.reply} })
			b := setup(t, model)
			b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
			b.runTurn()
			require.Len(t, b.queuedTexts(b.chat), 1)
			require.Contains(t, b.queuedTexts(b.chat)[0], c.want)
		})
	}
}

func TestTurn_FailingModelFallsBackToPassages(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Status: 401} })
	b := setup(t, model)
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	require.Error(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false))
	require.Empty(t, b.queuedTexts(b.chat))
	require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.2", true))
	require.Contains(t, b.queuedTexts(b.chat)[0], "Delivery costs 5 euro")
}

func TestTurn_WaitsForTypingAndReading(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.Turns.burstMax = time.Minute
	b.storeContactMessage("what does delivery cost?", policy.ActionAnswer)
	ctx := context.Background()
	begin := time.Now()
	note := func(fn func(context.Context, store.Tx, store.ChatID, time.Time) error, until time.Time) {
		require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return fn(ctx, tx, b.chat.ID, until) }))
	}
	waits := func(after time.Duration) bool {
		b.agent.now = func() time.Time { return begin.Add(after) }
		err := b.agent.Turns.Turn(ctx, b.chat.ID, "1.1", false)
		if err != nil {
			require.True(t, jobs.IsSnooze(err), "%v", err)
		}
		return err != nil
	}
	note(store.SetContactTyping, begin.Add(10*time.Second))
	require.True(t, waits(9*time.Second))
	note(store.MarkOwnerActive, begin.Add(30*time.Second))
	require.True(t, waits(29*time.Second))
	note(store.MarkOwnerActive, begin.Add(10*time.Minute))
	require.True(t, waits(50*time.Second))
	require.False(t, waits(70*time.Second), "an owner who only reads does not hold it for ever")
	require.Len(t, b.queuedTexts(b.chat), 1)
}
