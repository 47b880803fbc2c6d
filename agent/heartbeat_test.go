package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/tools"
)

// monday is a morning in a week of heartbeats.
var monday = time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)

// beats lets somebody look around every half hour from seven to eleven in the evening, for some days.
func (b *bundle) beats(persona string, days int) (notes map[string]int) {
	b.t.Helper()
	notes = map[string]int{}
	for range days {
		for range 32 {
			notes[b.beat(persona)]++
			b.clock(30 * time.Minute)
		}
		b.clock(8 * time.Hour)
	}
	return notes
}

func (b *bundle) beat(persona string) string {
	b.t.Helper()
	note, err := b.agent.Heartbeat(context.Background(), b.admin, "run:"+b.agent.now().Format(time.RFC3339), persona)
	require.NoError(b.t, err)
	return note
}

// clock moves the agent's clock.
func (b *bundle) clock(d time.Duration) {
	now := b.agent.now().Add(d)
	b.agent.now = func() time.Time { return now }
}

// wrote stores what somebody said in Ana's chat, some time ago.
func (b *bundle) wrote(text string, by policy.Author, ago time.Duration) int64 {
	b.t.Helper()
	row := b.says(text, policy.ActionArchive)
	at := b.agent.now().Add(-ago)
	_, err := b.store.DB().Exec(context.Background(), "update messages set author = $2, ts = $3, received_at = $3, answered_at = now() where id = $1", row, by, at)
	require.NoError(b.t, err)
	return row
}

// pulse has multis itself look around.
func pulse(t *testing.T, script llmtest.Script, p Pulse) (*bundle, *llmtest.Server) {
	t.Helper()
	model, server := scripted(t, script)
	b := setup(t, model)
	b.equip()
	p.Span = 16 * time.Hour
	b.agent.Pulses = []Pulse{p}
	b.agent.now = func() time.Time { return monday }
	return b, server
}

// notifies tells everything it is shown, every time.
func notifies(_ context.Context, r llmtest.Request) llmtest.Reply {
	var tell []map[string]string
	for line := range strings.Lines(r.Messages[0].Text) {
		if _, rest, found := strings.Cut(line, " matter "); found {
			key, _, _ := strings.Cut(rest, ": ")
			tell = append(tell, map[string]string{"matter": key, "text": "Look at it now!"})
		}
	}
	return llmtest.Reply{Text: string(mustJSON(map[string]any{"notify": true, "tell": tell}))}
}

func TestAnIdleWeekOfHeartbeatsCallsNoModel(t *testing.T) {
	t.Parallel()
	b, server := pulse(t, notifies, Pulse{Items: []string{"tell me when a customer sounds angry"}, Looks: 4, Tasks: true})
	b.wrote("an old question?", policy.AuthorContact, 90*24*time.Hour)
	b.wrote("see you", policy.AuthorOwnerPhone, 80*24*time.Hour)
	require.NoError(t, store.Looked(context.Background(), b.store.DB(), "", "2026-11-15", monday.Add(-12*time.Hour)))
	require.Equal(t, map[string]int{"nothing new": 7 * 32}, b.beats("", 7))
	require.Empty(t, server.Requests())
	require.Empty(t, b.sent(b.admin))
}

func TestAFreeTextItemSeesWhatWasSaidSinceTheLastLook(t *testing.T) {
	t.Parallel()
	angry := func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if !strings.Contains(r.Messages[0].Text, "this is outrageous") {
			return llmtest.Reply{Text: `{"notify": false, "tell": []}`}
		}
		return llmtest.Reply{Text: `{"notify": true, "tell": [{"matter": "item:1", "text": "Ana sounds angry."}]}`}
	}
	b, server := pulse(t, angry, Pulse{Items: []string{"tell me when a customer sounds angry"}, Looks: 16})
	b.agent.Memory = memory.New(memory.Options{Store: b.store, Search: search.New(b.store), Model: llm.None{}, Zone: time.UTC, Now: func() time.Time { return b.agent.now() }})
	b.wrote("nice weather", policy.AuthorContact, 3*24*time.Hour)
	b.wrote("this is outrageous, where is my parcel", policy.AuthorContact, 30*time.Minute)
	require.Equal(t, "told 1", b.beat(""))
	require.Contains(t, b.sent(b.admin)[0], "Ana sounds angry.")
	seen := server.Requests()[0].Messages[0].Text
	require.Contains(t, seen, "chat with Ana · Demo")
	require.Contains(t, seen, "Ana: this is outrageous")
	require.NotContains(t, seen, "nice weather", "what is older than two days")

	b.clock(2 * time.Hour)
	b.wrote("thank you, it came", policy.AuthorContact, 2*time.Minute)
	b.wrote("you are welcome", policy.AuthorOwnerPhone, time.Minute)
	b.beat("")
	last := server.Requests()[len(server.Requests())-1].Messages[0].Text
	require.Contains(t, last, "thank you, it came")
	require.NotContains(t, last, "Ana: this is outrageous", "it was seen")

	before := len(server.Requests())
	b.clock(2 * time.Hour)
	old := b.wrote("history that a bridge brings", policy.AuthorContact, 30*24*time.Hour)
	_, err := b.store.DB().Exec(context.Background(), "update messages set received_at = $2 where id = $1", old, b.agent.now())
	require.NoError(t, err)
	b.beat("")
	require.Len(t, server.Requests(), before, "nothing new was said")
}

func TestWhatAHeartbeatReadsStaysWithinTheModelsRoom(t *testing.T) {
	t.Parallel()
	var heard memory.Heard
	for i := range 300 {
		heard.Said = append(heard.Said, store.Message{ID: int64(i), ChatID: int64(i % 3), At: monday.Add(time.Duration(i) * time.Minute), Body: strings.Repeat("word ", 60)})
	}
	fits := (&beat{heard: heard}).fitting(Limits{Context: 8_000})
	require.NotEmpty(t, fits.Said)
	require.Less(t, len(fits.Said), 30)
	require.Equal(t, int64(299), fits.Said[len(fits.Said)-1].ID, "the newest")
	require.Len(t, (&beat{heard: heard}).fitting(Limits{Context: 200_000}).Said, 300)
}

func TestAHeartbeatTellsEachMatterOnce(t *testing.T) {
	t.Parallel()
	b, server := pulse(t, notifies, Pulse{Items: []string{"tell me when a customer sounds angry"}, Looks: 4})
	b.wrote("where is my parcel?", policy.AuthorContact, 30*time.Minute)
	require.Equal(t, "told 1", b.beat(""), "the item alone: nobody waits for an hour yet")
	b.clock(time.Hour)
	require.Equal(t, "told 1", b.beat(""))
	b.wrote("hello??", policy.AuthorContact, 0)
	b.beats("", 1)
	said := b.sent(b.admin)
	require.Len(t, said, 2, "who writes on without an answer is one matter")
	require.Contains(t, said[0], "you want me to look at: tell me when a customer sounds angry")
	require.Contains(t, said[1], "This may need you")
	require.Contains(t, said[1], "Ana · Demo has no answer since Mon 16 Nov, 06:30")
	require.Contains(t, said[1], "where is my parcel?")
	require.Contains(t, said[1], "Look at it now!")
	require.LessOrEqual(t, len(server.Requests()), 6, "four looks at most, and one for the matter")

	b.wrote("I am on it", policy.AuthorOwnerPhone, 0)
	b.clock(time.Minute)
	b.wrote("and what does it cost?", policy.AuthorContact, 0)
	b.beats("", 1)
	said = b.sent(b.admin)
	require.Contains(t, strings.Join(said[2:], "\n"), "and what does it cost?", "after an answer it is a new matter")
	b.beats("", 5)
	require.Len(t, b.sent(b.admin), len(said), "a week of a model that always wants to speak")
}

func TestWhatSeveralAgentsFindIsToldByOne(t *testing.T) {
	t.Parallel()
	b, _ := pulse(t, notifies, Pulse{})
	b.agent.Pulses = append(b.agent.Pulses, Pulse{Agent: "sales", Span: 16 * time.Hour})
	b.wrote("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "told 1", b.beat(""))
	b.clock(time.Minute)
	require.Equal(t, "nothing new", b.beat("sales"))
	require.Len(t, b.sent(b.admin), 1)
}

func TestAModelCanFindThatNothingMatters(t *testing.T) {
	t.Parallel()
	b, server := pulse(t, llmtest.Say(`{"notify": false, "tell": []}`), Pulse{})
	b.wrote("SALE! Everything must go!", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "nothing that matters", b.beat(""))
	b.beats("", 3)
	require.Empty(t, b.sent(b.admin))
	require.Len(t, server.Requests(), 1, "it is judged once")
	require.Contains(t, server.Requests()[0].Messages[0].Text, "SALE!")
	for _, tool := range server.Requests()[0].Tools {
		require.NotEqual(t, "lamp", tool.Name)
	}
}

func TestAHeartbeatWithoutAModelTellsWhatTheDatabaseFinds(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.Pulses = []Pulse{{Items: []string{"anything"}, Looks: 4, Span: 16 * time.Hour}}
	b.agent.now = func() time.Time { return monday }
	question := b.wrote("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		due := monday.Add(-3 * time.Hour)
		return store.InsertCommitment(t.Context(), tx, store.Commitment{ChatID: b.chat.ID, MessageID: question, Who: "you", What: "send the offer", DueAt: &due})
	}))
	b.beats("", 1)
	said := b.sent(b.admin)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "2 things may need you")
	require.Contains(t, said[0], "promised in Ana · Demo and not settled, due Mon 16 Nov, 04:00: “you: send the offer”")
	require.Contains(t, said[0], "where is my parcel?")
}

func TestAnOpenQuestionBeforeThanksIsAMatterAndAnAnsweredOneIsNot(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.Pulses = []Pulse{{}}
	b.agent.now = func() time.Time { return monday }
	b.wrote("how much is it?", policy.AuthorContact, 6*time.Hour)
	b.wrote("5 euro", policy.AuthorOwnerPhone, 5*time.Hour)
	b.wrote("thanks!", policy.AuthorContact, 4*time.Hour)
	require.Equal(t, "nothing new", b.beat(""))
	b.wrote("where is my parcel?", policy.AuthorContact, 3*time.Hour)
	b.wrote("thank you", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "told 1", b.beat(""))
	require.Contains(t, b.sent(b.admin)[0], "has no answer since Mon 16 Nov, 04:00: “where is my parcel?”")
	require.Equal(t, "nothing new", b.beat(""))
}

func TestChatsThatAreSilentAndPolitenessAreNoMatter(t *testing.T) {
	t.Parallel()
	b, server := pulse(t, notifies, Pulse{})
	b.wrote("thank you!", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "nothing new", b.beat(""))
	b.wrote("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, b.chat.ID, policy.ModeSilent) }))
	require.Equal(t, "nothing new", b.beat(""))
	require.Empty(t, server.Requests())
}

func TestAHeartbeatPaysFromItsOwnBudgetAndGoesOnWithoutMoney(t *testing.T) {
	t.Parallel()
	p := &purse{refuse: llm.CapAgent}
	model, server := paidBy(t, p, notifies)
	b := setup(t, llm.None{})
	b.agent.Pulses = []Pulse{{Model: model}}
	b.agent.now = func() time.Time { return monday }
	b.wrote("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "told 1, the money for it is used up", b.beat(""))
	require.Equal(t, "nothing new", b.beat(""))
	require.Len(t, b.sent(b.admin), 1)
	require.Empty(t, server.Requests())
	require.Equal(t, "heartbeat", p.spends[0].Agent)
	require.Equal(t, kindHeartbeat, p.spends[0].Purpose)
}

func TestAHeartbeatWhoseModelFailsTellsPlainlyAndFails(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{"broken": {Status: 400}, "no verdict": {Text: "all is well"}, "half a verdict": {Text: `{"tell": []}`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := pulse(t, inTurn(reply), Pulse{})
			b.wrote("where is my parcel?", policy.AuthorContact, 2*time.Hour)
			_, err := b.agent.Heartbeat(t.Context(), b.admin, "run:1", "")
			require.True(t, jobs.IsFinal(err), "%v", err)
			require.Len(t, b.sent(b.admin), 1)
			require.Contains(t, b.sent(b.admin)[0], "where is my parcel?")
			require.Equal(t, "nothing new", b.beat(""))
		})
	}
}

func TestAnAgentLooksAtItsOwnListAndOnlyReads(t *testing.T) {
	t.Parallel()
	b, server := pulse(t, inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: `{"notify": true, "tell": [{"matter": "item:2", "text": "The lamp is off."}, {"matter": "made up", "text": "x"}]}`}),
		Pulse{Agent: "shop", Items: []string{"look after the till"}, Looks: 2})
	l := &lamp{tier: tools.Read}
	b.equip(l)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "HEARTBEAT.md"), []byte("# Look at\n- is the lamp on?\n\n"), 0o600))
	b.agent.Personas = []Persona{{ID: "shop", Name: "Sam", Workspace: folder}}
	b.wrote("hi", policy.AuthorContact, 0)
	require.Equal(t, "told 1", b.beat("shop"))
	require.Zero(t, l.lit.Load(), "what changes something is not for a look around")
	require.Contains(t, server.Requests()[1].Messages[len(server.Requests()[1].Messages)-1].Text, "Here you can only read")
	require.Contains(t, b.sent(b.admin)[0], "The lamp is off. (you want me to look at: is the lamp on?)")
	require.NotContains(t, b.sent(b.admin)[0], "till")
	_, err := b.agent.Heartbeat(t.Context(), b.admin, "run:9", "nobody")
	require.True(t, jobs.IsFinal(err))
}

func TestTasksThatStandStillOrFailedAreLookedAtWhenThatIsWanted(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{true, false} {
		b, server := pulse(t, notifies, Pulse{Tasks: wanted})
		for state, ago := range map[string]time.Duration{"failed": 2 * time.Hour, "completed": 2 * time.Hour, "monitoring": 3 * time.Hour, "executing": time.Minute, "timeout": 72 * time.Hour} {
			_, err := b.store.DB().Exec(t.Context(), `insert into tasks (key, kind, chat_id, agent, model, input, state, created_at, finished_at)
				values ($1, 'ask', $2, '', 'm', 'sum up ' || $1, $1, $3::timestamptz, case when $1 in ('failed', 'completed', 'timeout') then $3::timestamptz end)`, state, b.admin.ID, monday.Add(-ago))
			require.NoError(t, err)
		}
		b.beats("", 2)
		said := strings.Join(b.sent(b.admin), "\n")
		if !wanted {
			require.Empty(t, said)
			continue
		}
		require.Len(t, b.sent(b.admin), 2, "each once: those of an hour ago, and what came to stand still since")
		for _, state := range []string{"failed", "monitoring", "executing"} {
			require.Equal(t, 1, strings.Count(said, "“sum up "+state+"”"))
		}
		require.NotContains(t, said, "completed")
		require.NotContains(t, said, "timeout", "what is older than two days is archived")
		require.Zero(t, b.count("select count(*) from outbox where chat_id <> $1", b.admin.ID), "nothing is sent to anybody")
		require.Len(t, server.Requests(), 2)
	}
}

func TestAContactsReminderIsANoteToTheOwnerAndNoJob(t *testing.T) {
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
			b.equip()
			b.agent.Tools.Add(tools.Schedule{Store: b.store, Registry: b.agent.Tools, Owner: "@me:x", Zone: time.UTC})
			b.says(wish, policy.ActionAnswer)
			b.turn()
			require.Len(t, b.sent(b.admin), 1)
			require.Contains(t, b.sent(b.admin)[0], "remind me tomorrow at 9 to bring the papers")
			require.Zero(t, b.count("select count(*) from schedules"))
		})
	}
}

func TestWhatAHeartbeatWouldWriteToSomebodyIsADraft(t *testing.T) {
	t.Parallel()
	drafts := func(_ context.Context, r llmtest.Request) llmtest.Reply {
		_, rest, _ := strings.Cut(r.Messages[0].Text, " matter ")
		key, _, _ := strings.Cut(rest, ": ")
		return llmtest.Reply{Text: string(mustJSON(map[string]any{"notify": true, "tell": []map[string]string{{"matter": key, "text": "She waits.", "draft": "I look where it is."}}}))}
	}
	for _, allowed := range []bool{false, true} {
		b, server := pulse(t, drafts, Pulse{Drafts: allowed})
		asked := b.wrote("where is my parcel?", policy.AuthorContact, 2*time.Hour)
		b.beats("", 1)
		require.Len(t, b.sent(b.admin), 1)
		require.Empty(t, b.sent(b.chat), "nothing goes to anybody")
		require.Equal(t, allowed, strings.Contains(server.Requests()[0].System, `"draft"`))
		held, err := store.OpenDrafts(context.Background(), b.store.DB(), 10)
		require.NoError(t, err)
		if !allowed {
			require.Empty(t, held)
			continue
		}
		require.Len(t, held, 1, "once")
		require.Equal(t, b.chat.ID, held[0].ChatID)
		require.Equal(t, []int64{asked}, held[0].RestsOn)
		require.Contains(t, string(held[0].Content), `"body": "I look where it is."`)
	}
}
