package heartbeat

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/fetch"
	"multis/jobs"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestHeartbeat_IdleWeekCallsNoModel(t *testing.T) {
	t.Parallel()
	r, server := newScripted(t, reportAll, Config{Items: []string{"tell me when a customer sounds angry"}, ItemChecks: 4, Tasks: true})
	r.storeMessage("an old question?", policy.AuthorContact, 90*24*time.Hour)
	r.storeMessage("see you", policy.AuthorOwnerPhone, 80*24*time.Hour)
	require.NoError(t, store.RecordCheck(context.Background(), r.store.Writer(), "", "2026-11-15", monday.Add(-12*time.Hour)))
	require.Equal(t, map[string]int{"nothing new": 7 * 32}, r.heartbeats("", 7))
	require.Empty(t, server.Requests())
	require.Empty(t, r.queuedTexts(r.admin))
}

func TestItemCheck_ReadsNewMessages(t *testing.T) {
	t.Parallel()
	angry := func(_ context.Context, q llmtest.Request) llmtest.Reply {
		if !strings.Contains(q.Messages[0].Text, "this is outrageous") {
			return llmtest.Reply{Text: `{"notify": false, "tell": []}`}
		}
		return llmtest.Reply{Text: `{"notify": true, "tell": [{"matter": "item:1", "text": "Ana sounds angry."}]}`}
	}
	r, server := newScripted(t, angry, Config{Items: []string{"tell me when a customer sounds angry"}, ItemChecks: 16})
	r.checker.Memory = memory.New(memory.Options{
		Store:  r.store,
		Search: search.New(r.store),
		Model:  llm.None{},
		Zone:   time.UTC,
		Now:    func() time.Time { return r.checker.now() },
	})
	r.storeMessage("nice weather", policy.AuthorContact, 3*24*time.Hour)
	r.storeMessage("this is outrageous, where is my parcel", policy.AuthorContact, 30*time.Minute)
	require.Equal(t, "told 1", r.heartbeat(""))
	require.Contains(t, r.queuedTexts(r.admin)[0], "Ana sounds angry.")
	seen := server.Requests()[0].Messages[0].Text
	require.Contains(t, seen, "chat with Ana · Demo")
	require.Contains(t, seen, "Ana: this is outrageous")
	require.NotContains(t, seen, "nice weather", "what is older than two days")

	r.advance(2 * time.Hour)
	r.storeMessage("thank you, it came", policy.AuthorContact, 2*time.Minute)
	r.storeMessage("you are welcome", policy.AuthorOwnerPhone, time.Minute)
	r.heartbeat("")
	last := server.Requests()[len(server.Requests())-1].Messages[0].Text
	require.Contains(t, last, "thank you, it came")
	require.NotContains(t, last, "Ana: this is outrageous", "it was seen")

	before := len(server.Requests())
	r.advance(2 * time.Hour)
	old := r.storeMessage("history that a bridge brings", policy.AuthorContact, 30*24*time.Hour)
	_, err := r.store.Pool().Exec(context.Background(), "update messages set received_at = $2 where id = $1", old, r.checker.now())
	require.NoError(t, err)
	r.heartbeat("")
	require.Len(t, server.Requests(), before, "nothing new was said")
}

func TestHeartbeat_PromptFitsContext(t *testing.T) {
	t.Parallel()
	var heard memory.Conversations
	for i := range 300 {
		heard.Messages = append(heard.Messages, store.Message{
			ID:     store.MessageID(i),
			ChatID: store.ChatID(i % 3),
			At:     monday.Add(time.Duration(i) * time.Minute),
			Body:   strings.Repeat("word ", 60),
		})
	}
	fits := (&check{conversations: heard, limits: run.Limits{Context: 8_000}.WithDefaults()}).trimmedConversations()
	require.NotEmpty(t, fits.Messages)
	require.Less(t, len(fits.Messages), 30)
	require.Equal(t, store.MessageID(299), fits.Messages[len(fits.Messages)-1].ID, "the newest")
	require.Len(t, (&check{conversations: heard, limits: run.Limits{Context: 200_000}.WithDefaults()}).trimmedConversations().Messages, 300)
}

func TestFinding_IsReportedOnce(t *testing.T) {
	t.Parallel()
	r, server := newScripted(t, reportAll, Config{Items: []string{"tell me when a customer sounds angry"}, ItemChecks: 4})
	r.storeMessage("where is my parcel?", policy.AuthorContact, 30*time.Minute)
	require.Equal(t, "told 1", r.heartbeat(""), "the item alone: nobody waits for an hour yet")
	r.advance(time.Hour)
	require.Equal(t, "told 1", r.heartbeat(""))
	r.storeMessage("hello??", policy.AuthorContact, 0)
	r.heartbeats("", 1)
	said := r.queuedTexts(r.admin)
	require.Len(t, said, 2, "who writes on without an answer is one matter")
	require.Contains(t, said[0], "you want me to look at: tell me when a customer sounds angry")
	require.Contains(t, said[1], "This may need you")
	require.Contains(t, said[1], "Ana · Demo has no answer since Mon 16 Nov, 06:30")
	require.Contains(t, said[1], "where is my parcel?")
	require.Contains(t, said[1], "Look at it now!")
	require.LessOrEqual(t, len(server.Requests()), 6, "four looks at most, and one for the matter")

	r.storeMessage("I am on it", policy.AuthorOwnerPhone, 0)
	r.advance(time.Minute)
	r.storeMessage("and what does it cost?", policy.AuthorContact, 0)
	r.heartbeats("", 1)
	said = r.queuedTexts(r.admin)
	require.Contains(t, strings.Join(said[2:], "\n"), "and what does it cost?", "after an answer it is a new matter")
	r.heartbeats("", 5)
	require.Len(t, r.queuedTexts(r.admin), len(said), "a week of a model that always wants to speak")
}

func TestFinding_SharedIsReportedOnce(t *testing.T) {
	t.Parallel()
	r, _ := newScripted(t, reportAll, Config{})
	r.checker.Configs = append(r.checker.Configs, Config{Agent: "sales", Active: 16 * time.Hour})
	r.storeMessage("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "told 1", r.heartbeat(""))
	r.advance(time.Minute)
	require.Equal(t, "nothing new", r.heartbeat("sales"))
	require.Len(t, r.queuedTexts(r.admin), 1)
}

func TestHeartbeat_ModelMayReportNothing(t *testing.T) {
	t.Parallel()
	r, server := newScripted(t, llmtest.Say(`{"notify": false, "tell": []}`), Config{})
	r.storeMessage("SALE! Everything must go!", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "nothing that matters", r.heartbeat(""))
	r.heartbeats("", 3)
	require.Empty(t, r.queuedTexts(r.admin))
	require.Len(t, server.Requests(), 1, "it is judged once")
	require.Contains(t, server.Requests()[0].Messages[0].Text, "SALE!")
	for _, tool := range server.Requests()[0].Tools {
		require.NotEqual(t, "lamp", tool.Name)
	}
}

func TestHeartbeat_WithoutModelReportsAll(t *testing.T) {
	t.Parallel()
	r := newRig(t, llm.None{})
	r.checker.Configs = []Config{{Items: []string{"anything"}, ItemChecks: 4, Active: 16 * time.Hour}}
	question := r.storeMessage("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.NoError(t, r.store.InTx(t.Context(), func(tx store.Tx) error {
		due := monday.Add(-3 * time.Hour)
		return store.InsertCommitment(t.Context(), tx, store.Commitment{
			ChatID:    r.chat.ID,
			MessageID: question,
			Who:       "you",
			What:      "send the offer",
			DueAt:     &due,
		})
	}))
	r.heartbeats("", 1)
	said := r.queuedTexts(r.admin)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "2 things may need you")
	require.Contains(t, said[0], "promised in Ana · Demo and not settled, due Mon 16 Nov, 04:00: “you: send the offer”")
	require.Contains(t, said[0], "where is my parcel?")
}

func TestFinding_OpenQuestionBeforeThanks(t *testing.T) {
	t.Parallel()
	r := newRig(t, llm.None{})
	r.checker.Configs = []Config{{}}
	r.storeMessage("how much is it?", policy.AuthorContact, 6*time.Hour)
	r.storeMessage("5 euro", policy.AuthorOwnerPhone, 5*time.Hour)
	r.storeMessage("thanks!", policy.AuthorContact, 4*time.Hour)
	require.Equal(t, "nothing new", r.heartbeat(""))
	r.storeMessage("where is my parcel?", policy.AuthorContact, 3*time.Hour)
	r.storeMessage("thank you", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "told 1", r.heartbeat(""))
	require.Contains(t, r.queuedTexts(r.admin)[0], "has no answer since Mon 16 Nov, 04:00: “where is my parcel?”")
	require.Equal(t, "nothing new", r.heartbeat(""))
}

func TestFinding_ExcludesSilenceAndThanks(t *testing.T) {
	t.Parallel()
	r, server := newScripted(t, reportAll, Config{})
	r.storeMessage("thank you!", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "nothing new", r.heartbeat(""))
	r.storeMessage("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.NoError(t, r.store.InTx(t.Context(), func(tx store.Tx) error {
		return store.SetMode(t.Context(), tx, r.chat.ID, policy.ModeSilent)
	}))
	require.Equal(t, "nothing new", r.heartbeat(""))
	require.Empty(t, server.Requests())
}

func TestHeartbeat_HasOwnBudget(t *testing.T) {
	t.Parallel()
	p := &fakeLedger{refuse: policy.CapAgent}
	model, server := openModel(t, p, reportAll)
	r := newRig(t, llm.None{})
	r.checker.Configs = []Config{{Model: model}}
	r.storeMessage("where is my parcel?", policy.AuthorContact, 2*time.Hour)
	require.Equal(t, "told 1, the money for it is used up", r.heartbeat(""))
	require.Equal(t, "nothing new", r.heartbeat(""))
	require.Len(t, r.queuedTexts(r.admin), 1)
	require.Empty(t, server.Requests())
	require.Equal(t, "heartbeat", p.spends[0].Agent)
	require.Equal(t, string(taskKind), p.spends[0].Purpose)
}

func TestHeartbeat_FailingModelReports(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]llmtest.Reply{
		"broken": {Status: 400}, "no verdict": {Text: "all is well"},
		"half a verdict": {Text: `{"tell": []}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newScripted(t, inTurn(reply), Config{})
			r.storeMessage("where is my parcel?", policy.AuthorContact, 2*time.Hour)
			_, err := r.checker.Heartbeat(t.Context(), r.admin, 1, "")
			require.True(t, jobs.IsPermanent(err), "%v", err)
			require.Len(t, r.queuedTexts(r.admin), 1)
			require.Contains(t, r.queuedTexts(r.admin)[0], "where is my parcel?")
			require.Equal(t, "nothing new", r.heartbeat(""))
		})
	}
}

func TestHeartbeat_AgentOnlyReads(t *testing.T) {
	t.Parallel()
	r, server := newScripted(t, inTurn(llmtest.Reply{Calls: []llmtest.Call{{Name: "lamp", Args: `{"on": true}`}}},
		llmtest.Reply{Text: `{"notify": true, "tell": [{"matter": "item:2", "text": "The lamp is off."}, {"matter": "made up", "text": "x"}]}`}),
		Config{Agent: "shop", Items: []string{"look after the till"}, ItemChecks: 2})
	l := &countingTool{}
	r.checker.Tools.Add(l)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "HEARTBEAT.md"), []byte("# Look at\n- is the lamp on?\n\n"), 0o600))
	r.checker.Personas.All = []persona.Persona{{ID: "shop", Name: "Sam", Workspace: folder}}
	r.storeMessage("hi", policy.AuthorContact, 0)
	require.Equal(t, "told 1", r.heartbeat("shop"))
	require.Zero(t, l.calls.Load(), "what changes something is not for a look around")
	require.Contains(t, server.Requests()[1].Messages[len(server.Requests()[1].Messages)-1].Text, "Here you can only read")
	require.Contains(t, r.queuedTexts(r.admin)[0], "The lamp is off. (you want me to look at: is the lamp on?)")
	require.NotContains(t, r.queuedTexts(r.admin)[0], "till")
	_, err := r.checker.Heartbeat(t.Context(), r.admin, 9, "nobody")
	require.True(t, jobs.IsPermanent(err))
}

// A command may write HEARTBEAT.md in its workspace, with what it knows in an address.
func TestHeartbeat_WorkspaceAddressIsUntrusted(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
		_, _ = w.Write([]byte("all is well"))
	}))
	t.Cleanup(site.Close)
	fetches := func(path string) llmtest.Call {
		return llmtest.Call{Name: "fetch_url", Args: `{"url": "` + site.URL + path + `"}`}
	}
	r, _ := newScripted(t, inTurn(llmtest.Reply{Calls: []llmtest.Call{fetches("/file"), fetches("/config")}},
		llmtest.Reply{Text: `{"notify": false, "tell": []}`}),
		Config{Agent: "shop", Items: []string{"look at " + site.URL + "/config"}, ItemChecks: 2})
	r.checker.Tools.Add(tools.FetchURL{
		Client:    fetch.New(fetch.Options{AllowPrivate: true}),
		Documents: knowledge.Open(nil, knowledge.Options{}),
	})
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "HEARTBEAT.md"), []byte("- look at "+site.URL+"/file\n"), 0o600))
	r.checker.Personas.All = []persona.Persona{{ID: "shop", Name: "Sam", Workspace: folder}}
	r.storeMessage("hi", policy.AuthorContact, 0)
	r.heartbeat("shop")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"/config"}, asked)
}

func TestFinding_StalledAndFailedTasks(t *testing.T) {
	t.Parallel()
	for _, wanted := range []bool{true, false} {
		r, server := newScripted(t, reportAll, Config{Tasks: wanted})
		for state, ago := range map[string]time.Duration{
			"failed": 2 * time.Hour, "completed": 2 * time.Hour, "waiting": 3 * time.Hour,
			"running": time.Minute, "timeout": 72 * time.Hour,
		} {
			_, err := r.store.Pool().Exec(t.Context(), `insert into tasks (key, kind, chat_id, agent, model, input, state, created_at, finished_at)
				values ($1, 'ask', $2, '', 'm', 'sum up ' || $1, $1, $3::timestamptz, case when $1 in ('failed', 'completed', 'timeout') then $3::timestamptz end)`, state, r.admin.ID, monday.Add(-ago))
			require.NoError(t, err)
		}
		r.heartbeats("", 2)
		said := strings.Join(r.queuedTexts(r.admin), "\n")
		if !wanted {
			require.Empty(t, said)
			continue
		}
		require.Len(t, r.queuedTexts(r.admin), 2, "each once: those of an hour ago, and what came to stand still since")
		for _, state := range []string{"failed", "waiting", "running"} {
			require.Equal(t, 1, strings.Count(said, "“sum up "+state+"”"))
		}
		require.NotContains(t, said, "completed")
		require.NotContains(t, said, "timeout", "what is older than two days is archived")
		require.Zero(t, storetest.Count(r.t, r.store, "select count(*) from outbox where chat_id <> $1", r.admin.ID),
			"nothing is sent to anybody")
		require.Len(t, server.Requests(), 2)
	}
}

func TestHeartbeat_MessagesAreDrafts(t *testing.T) {
	t.Parallel()
	drafts := func(_ context.Context, q llmtest.Request) llmtest.Reply {
		_, rest, _ := strings.Cut(q.Messages[0].Text, " matter ")
		key, _, _ := strings.Cut(rest, ": ")
		return llmtest.Reply{Text: mustJSON(map[string]any{
			"notify": true,
			"tell":   []map[string]string{{"matter": key, "text": "She waits.", "draft": "I look where it is."}},
		})}
	}
	for _, allowed := range []bool{false, true} {
		r, server := newScripted(t, drafts, Config{Drafts: allowed})
		asked := r.storeMessage("where is my parcel?", policy.AuthorContact, 2*time.Hour)
		r.heartbeats("", 1)
		require.Len(t, r.queuedTexts(r.admin), 1)
		require.Empty(t, r.queuedTexts(r.chat), "nothing goes to anybody")
		require.Equal(t, allowed, strings.Contains(server.Requests()[0].System, `"draft"`))
		held, err := store.OpenDrafts(context.Background(), r.store.DB(), 0, 10)
		require.NoError(t, err)
		if !allowed {
			require.Empty(t, held)
			continue
		}
		require.Len(t, held, 1, "once")
		require.Equal(t, r.chat.ID, held[0].ChatID)
		require.Equal(t, []store.MessageID{asked}, held[0].Sources)
		require.Contains(t, string(held[0].Content), `"body": "I look where it is."`)
	}
}

func TestVerdict_LooseNamesAreReported(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		said string
		told bool
	}{
		"the whole heading":  {`{"notify": true, "tell": [{"matter": "matter item:1: the owner wants you to look at this", "text": "Ana sounds angry."}]}`, true},
		"another case":       {`{"notify": true, "tell": [{"matter": "Item:1.", "text": "Ana sounds angry."}]}`, true},
		"no name at all":     {`{"notify": true, "tell": [{"matter": "Ana", "text": "Ana sounds angry."}]}`, true},
		"a text for a list":  {`{"notify": true, "tell": ["Ana sounds angry."]}`, true},
		"nothing to notify":  {`{"notify": false, "tell": [{"matter": "Ana", "text": "Ana sounds angry."}]}`, false},
		"thoughts and a key": {"<think>{\"notify\": false}</think>\n{\"notify\": true, \"tell\": [{\"matter\": \"item:1\", \"text\": \"Ana sounds angry.\"},]}", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newScripted(t, llmtest.Say(c.said), Config{Items: []string{"tell me when a customer sounds angry"}, ItemChecks: 16})
			r.storeMessage("this is outrageous", policy.AuthorContact, 30*time.Minute)
			r.heartbeat("")
			told := r.queuedTexts(r.admin)
			require.Equal(t, c.told, len(told) == 1 && strings.Contains(told[0], "Ana sounds angry."), told)
		})
	}
}
