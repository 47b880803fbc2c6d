package agent

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/run"
	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

func TestTurn_EditDuringCallIsAnswered(t *testing.T) {
	t.Parallel()
	change := map[string]func(ctx context.Context, tx store.Tx, b *fixture) error{
		"edited": func(ctx context.Context, tx store.Tx, b *fixture) error {
			_, err := store.EditMessage(ctx, tx, b.chat.ID, "$m1", "@demo_ana:x", "What does tuning a grand piano cost?", time.Now())
			return err
		},
		"deleted": func(ctx context.Context, tx store.Tx, b *fixture) error {
			_, err := store.RedactMessage(ctx, tx, b.chat.ID, "$m1", time.Now())
			return err
		},
	}
	for name, do := range change {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b *fixture
			once := sync.Once{}
			model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
				once.Do(func() {
					ctx := context.Background()
					if err := b.store.InTx(ctx, func(tx store.Tx) error { return do(ctx, tx, b) }); err != nil {
						t.Error(err)
					}
				})
				if strings.Contains(r.Last(), "question to answer\nWhat does tuning a grand") {
					return llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")}
				}
				return llmtest.Reply{Text: answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city.")}
			})
			b = setup(t, model)
			b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
			require.True(t, jobs.IsSnooze(b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false)))
			require.Empty(t, b.queuedTexts(b.chat))
			b.runTurn()
			if name == "deleted" {
				require.Empty(t, b.queuedTexts(b.chat))
				return
			}
			require.Len(t, b.queuedTexts(b.chat), 1)
			require.NotContains(t, b.queuedTexts(b.chat)[0], "Delivery")
		})
	}
}

func TestCitation_ChecksNumbersAndAddresses(t *testing.T) {
	t.Parallel()
	hit := search.Hit{
		Role:    policy.RolePublic,
		Kind:    index.KindKnowledge,
		Title:   "prices.md",
		Section: "Delivery",
		Text:    "Delivery costs 5 euro within the city, 15 outside. Write to hello@piano.example, 9:00-18:00.",
	}
	quote := "Delivery costs 5 euro within the city"
	for text, want := range map[string]bool{
		"Delivery is 5 euro.":                                          true,
		"It costs 5 euro, 15 outside the city.":                        true,
		"Write to hello@piano.example between 9:00 and 18:00.":         true,
		"Delivery costs 500 euro.":                                     false,
		"Delivery costs 1 euro.":                                       false,
		"See http://evil.example/login to pay.":                        false,
		"Write to boss@evil.example.":                                  false,
		"My orders: Each line of a passage has a number, such as 1.3.": false,
		"Visit www.evil.example now.":                                  false,
		strings.Repeat("Delivery is cheap. ", 40):                      false,
	} {
		_, ok := (&run.Evidence{Passages: []search.Hit{hit}, Instructions: contactRules}).FindCitation(run.Sentence{
			Text:   text,
			Source: 1,
			Quote:  quote,
		})
		require.Equal(t, want, ok, text)
	}
}

func TestEscalation_SaidOnceAllowed(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	ctx := context.Background()
	first := b.storeContactMessage("Can you fix my bicycle's gears?", policy.ActionAnswer)
	// As when the gate said no between the decision and the send.
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.OpenEscalation(ctx, tx, b.chat.ID, first, "test", nil)
		return err
	}))
	b.runTurn()
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat))
	b.storeContactMessage("Hello? The bicycle?", policy.ActionAnswer)
	b.runTurn()
	require.Len(t, b.queuedTexts(b.chat), 1)
}

func TestGate_DeniedTurnCallsNoModel(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city.")))
	b := setup(t, model)
	ctx := context.Background()
	row := b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.SetMode(ctx, tx, b.chat.ID, policy.ModeOff) }))
	b.runTurn()
	require.Empty(t, server.Requests())
	require.Empty(t, b.queuedTexts(b.chat))
	require.Empty(t, b.queuedTexts(b.admin))
	require.Equal(t, policy.CodeOff, b.messageByID(row).Code)
}

func TestTurn_WaitsForReplacementRoom(t *testing.T) {
	t.Parallel()
	for _, while := range []string{"before the turn", "while the answer is made"} {
		t.Run(while, func(t *testing.T) {
			t.Parallel()
			var b *fixture
			move := func() {
				ctx := context.Background()
				require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.CloseChat(ctx, tx, b.chat.ID, store.ClosedTombstone) }))
			}
			once := sync.Once{}
			model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
				if while == "while the answer is made" {
					once.Do(move)
				}
				return llmtest.Reply{Text: answerJSON("Delivery is 5 euro.", 1, "Delivery costs 5 euro within the city.")}
			})
			b = setup(t, model)
			question := b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
			if while == "before the turn" {
				move()
			}
			turn := func() error { return b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", true) }
			require.True(t, jobs.IsSnooze(turn()))
			require.True(t, jobs.IsSnooze(turn()), "the last attempt as well")
			require.Nil(t, b.messageByID(question).AnsweredAt)

			require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
				return store.CloseChat(context.Background(), tx, b.chat.ID, "")
			}))
			require.NoError(t, turn())
			require.Len(t, b.queuedTexts(b.chat), 1)
			require.Empty(t, b.queuedTexts(b.admin))

			move()
			b.storeContactMessage("What does tuning a grand piano cost?", policy.ActionAnswer)
			b.agent.now = func() time.Time { return time.Now().Add(policy.RoomReplacementTimeout) }
			require.NoError(t, turn())
			require.Len(t, b.queuedTexts(b.chat), 1)
			require.Len(t, b.queuedTexts(b.admin), 1)
			require.Contains(t, b.queuedTexts(b.admin)[0], "The room was replaced by another one.", "no room came: the owner knows of it")
		})
	}
}

func TestEscalation_WaitsForAdminRoom(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	ctx := context.Background()
	b.storeContactMessage("Can you fix my bicycle's gears?", policy.ActionAnswer)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.CloseChat(ctx, tx, b.admin.ID, store.ClosedLeft) }))
	require.True(t, jobs.IsSnooze(b.agent.Turns.Turn(ctx, b.chat.ID, "1.1", false)))
	require.Empty(t, b.queuedTexts(b.chat), "nobody is promised a person who does not know")
}

func TestCitation_IgnoresInvisibleCharacters(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{
		Name: "page.txt",
		Data: []byte("Opening hours\f\n\nThe \u202eworkshop\u202c opens at 9 in the morning on weekdays.\f\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	b.storeContactMessage("When does the workshop open on weekdays?", policy.ActionAnswer)
	b.runTurn()
	require.Len(t, b.queuedTexts(b.chat), 1)
	require.Contains(t, b.queuedTexts(b.chat)[0], "workshop opens at 9")
}

func TestTurn_FinalFailureEscalates(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	_, err := b.store.Pool().Exec(context.Background(), "alter table chunks rename to chunks_gone")
	require.NoError(t, err)
	require.Error(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false))
	require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.5", true))
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat))
}
