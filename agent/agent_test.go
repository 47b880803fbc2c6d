package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/business/catalog"
	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const priceList = `# Prices

## Delivery

Deliveries run Monday to Saturday, 9:00 to 18:00. Delivery costs 5 euro within the city.

## Pianos

Tuning an upright piano costs 90 euro. A grand piano costs 120 euro.
`

// fixture is an agent with a chat of Ana's, an admin room and a public price list.
type fixture struct {
	t         testing.TB
	store     *store.Store
	agent     *Agent
	chat      store.Chat
	admin     store.Chat
	n         int
	said      string             // what a source returns
	documents *knowledge.Library // of the index method
}

func setup(t testing.TB, model llm.Model) *fixture {
	t.Helper()
	return setupIn(t, storetest.New(t), model)
}

// setupIn is setup with a given database.
func setupIn(t testing.TB, st *store.Store, model llm.Model) *fixture {
	t.Helper()
	ctx := context.Background()
	box := outbox.New(st, outbox.Settings{
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal}, OwnerPause: 30 * time.Minute, SendCap: policy.Rate{Minute: 10, Day: 100},
		Name:     "Nora",
		Disclose: func(string) bool { return true },
	}, nil)
	b := &fixture{t: t, store: st}
	b.agent = New(Options{
		Store:    st,
		Box:      box,
		Search:   search.New(st),
		Personas: persona.Set{Model: model},
		Name:     "Nora",
		Texts:    catalog.Texts{ForAll: map[catalog.Name]string{catalog.Greeting: "Hello! How can I help?"}},
		Language: catalog.English,
		Zone:     time.UTC,
	})
	room := id.RoomID("!ana:x")
	adminRoom := id.RoomID("!admin:x")
	mode := policy.ModeBusiness
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) (err error) {
		b.chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  "ana",
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       "Ana",
			BridgeBot:  "@demobot:x",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		b.admin, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  "admin",
			RoomID:     &adminRoom,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.SetMode(ctx, tx, b.chat.ID, mode)
	}))
	_, err := knowledge.New(st).Index(ctx, knowledge.File{Name: "prices.md", Data: []byte(priceList), Role: policy.RolePublic})
	require.NoError(t, err)
	return b
}

// storeContactMessage stores a message of Ana's that waits for an answer, and returns its id.
func (b *fixture) storeContactMessage(text string, action policy.Action) store.MessageID {
	b.t.Helper()
	b.n++
	var row store.MessageID
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(context.Background(), tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: id.EventID(fmt.Sprintf("$m%d", b.n)),
			Author:  policy.AuthorContact,
			Sender:  "@demo_ana:x",
			Kind:    "text",
			Body:    text,
			At:      time.Now(),
			Action:  action,
			Code:    policy.CodeAnswer,
			Reason:  "It asks for a person.",
		})
		return err
	}))
	return row
}

// storeQuestion stores a question of the owner's in the admin room.
func (b *fixture) storeQuestion(text string) store.Message {
	b.t.Helper()
	b.n++
	ctx := context.Background()
	var m store.Message
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		row, err := store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.admin.ID,
			EventID: id.EventID(fmt.Sprintf("$q%d", b.n)),
			Author:  policy.AuthorOwnerClient,
			Sender:  "@you:x",
			Kind:    "text",
			Body:    text,
			At:      time.Now(),
			Action:  policy.ActionCommand,
			Code:    policy.CodeCommand,
		})
		if err != nil {
			return err
		}
		m, err = store.MessageByID(ctx, tx, row)
		return err
	}))
	return m
}

// ask asks a question as the owner and returns the reply.
func (b *fixture) ask(text string) string {
	b.t.Helper()
	before := len(b.queuedTexts(b.admin))
	m := b.storeQuestion(text)
	require.NoError(b.t, b.agent.Questions.Ask(context.Background(), b.admin, m, text))
	said := b.queuedTexts(b.admin)
	require.Len(b.t, said, before+1)
	require.NotNil(b.t, b.messageByID(m.ID).AnsweredAt)
	return said[before]
}

func (b *fixture) runTurn() {
	b.t.Helper()
	require.NoError(b.t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false))
}

// queuedTexts returns the texts that are queued for a chat, oldest first.
func (b *fixture) queuedTexts(chat store.Chat) []string {
	b.t.Helper()
	rows, err := b.store.DB().Query(context.Background(),
		"select content->>'body' from outbox where chat_id = $1 and state = 'queued' order by seq", chat.ID)
	require.NoError(b.t, err)
	defer rows.Close()
	var bodies []string
	for rows.Next() {
		var body string
		require.NoError(b.t, rows.Scan(&body))
		bodies = append(bodies, body)
	}
	require.NoError(b.t, rows.Err())
	return bodies
}

func (b *fixture) messageByID(row store.MessageID) store.Message {
	b.t.Helper()
	m, err := store.MessageByID(context.Background(), b.store.DB(), row)
	require.NoError(b.t, err)
	return m
}

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
	require.True(t, knowledge.ContainsQuote(priceList, out.Citations[0].Quote))
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
		decided, err := b.agent.Turns.decide(ctx, chat, waiting, false)
		require.NoError(t, err)
		require.Equal(t, waitsForPerson, decided.escalation)

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
		"a true quote goes out": {answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city."),
			"Delivery is 5 euro. (from prices.md)"},
		"a made-up quote escalates": {answerJSON("Delivery is free!", 1, "Delivery is free for everybody."),
			"check with the team"},
		"a source that does not exist escalates": {answerJSON("Delivery is 5 euro.", 99, "Delivery costs 5 euro within the city."),
			"check with the team"},
		"no sentences escalate":      {`{"sentences":[]}`, "check with the team"},
		"what is not JSON escalates": {"Delivery is 5 euro.", "check with the team"},
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
