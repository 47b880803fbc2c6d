package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/jobs"
	"multis/knowledge"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestSafeMode_CountsUncleanEnds(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "data"), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	start := func(after time.Duration) (*startLog, int) {
		now = now.Add(after)
		return recordStart(t.Context(), dir, now)
	}
	kill := func(l *startLog) { require.NoError(t, l.file.Close()) } // the kernel also closes the file of a killed process
	l, crashes := start(0)
	require.Zero(t, crashes)
	l.Stop()
	for i := range 5 {
		l, crashes = start(time.Second)
		require.Zero(t, crashes, "restart %d was clean", i)
		l.Stop()
		l.Stop()
	}
	l, _ = start(time.Second)
	other, crashes := start(time.Second)
	require.Zero(t, crashes, "another process beside it is no crash")
	other.Stop()
	for want := 1; want <= 3; want++ {
		kill(l)
		l, crashes = start(time.Minute)
		require.Equal(t, want, crashes)
	}
	kill(l)
	l, crashes = start(4 * time.Minute)
	require.Equal(t, 2, crashes, "those of more than five minutes ago are forgotten")
	require.NoError(t, os.WriteFile(l.path, []byte(`{"running": tr`), 0o600))
	kill(l)
	l, crashes = start(time.Second)
	require.Zero(t, crashes, "a broken file counts none")
	kill(l)
	l, crashes = start(time.Second)
	require.Equal(t, 1, crashes, "and is written anew")
	l.Stop()
	l, crashes = start(time.Second)
	require.Zero(t, crashes, "a clean stop forgets them")
	require.Panics(t, func() { _ = l.noteStop(t.Context(), func() error { panic("a bug") }) })
	kill(l)
	l, crashes = start(time.Second)
	require.Equal(t, 1, crashes, "a panic is a crash")
	require.Error(t, l.noteStop(t.Context(), func() error { return os.ErrInvalid }))
	l, crashes = start(time.Second)
	require.Zero(t, crashes, "an end with an error is none")

	three := config.SafeMode{AfterCrashes: 3}
	require.Empty(t, safeModeReason(false, 2, three))
	require.Contains(t, safeModeReason(false, 3, three), "3 times")
	require.Contains(t, safeModeReason(true, 0, three), "--safe")
	require.Empty(t, safeModeReason(false, 9, config.SafeMode{}))
}

// safeModeRun is a multis with a model, an MCP server, a document and a business chat.
type safeModeRun struct {
	*processGroup
	model     *llmtest.Server
	mcpMarker string // a file that the MCP server creates when it starts
	chat      store.ChatID
	room      store.Chat // the admin room
}

func newSafeModeRun(t *testing.T) *safeModeRun {
	t.Helper()
	r := &safeModeRun{processGroup: &processGroup{t: t, homeserver: newFakeHomeserver(t), dir: t.TempDir(), dsn: storetest.DSN(t)}}
	r.model = llmtest.Start(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences": [{"text": "Tuning costs 90 euro.", "source": 1, "quote": "Tuning costs 90 euro."}]}`}
	})
	var err error
	r.st, err = store.Open(t.Context(), r.dsn)
	require.NoError(t, err)
	t.Cleanup(r.st.Close)
	r.mcpMarker = filepath.Join(r.dir, "mcp-was-started")
	r.config = fmt.Sprintf("llm: {model: openai/test, base_url: %q, local: true}\nmcp: {gone: {command: [touch, %q]}}\nchats: {burst_quiet: 1ms}\n", r.model.URL, r.mcpMarker)
	_, err = knowledge.New(r.st).Index(t.Context(), knowledge.File{
		Name: "prices.md",
		Data: []byte("# Prices\n\nTuning costs 90 euro.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	r.chat = r.chats(1)[0]
	require.NoError(t, r.st.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, r.chat, policy.ModeBusiness) }))
	r.procs = append(r.procs, nil)
	t.Cleanup(func() { r.kill(0) })
	return r
}

func (r *safeModeRun) wait(what string, done func() bool) {
	r.t.Helper()
	require.Eventually(r.t, done, 2*time.Minute, 50*time.Millisecond, what)
}

// crash starts and kills the program a number of times.
func (r *safeModeRun) crash(times int) {
	r.t.Helper()
	for crashes := range times {
		r.start(0)
		r.wait("the start to be recorded", func() bool {
			var notes startState
			raw, err := os.ReadFile(filepath.Join(r.dir, "data", "starts.json"))
			return err == nil && json.Unmarshal(raw, &notes) == nil && notes.Running && len(notes.Crashes) == crashes
		})
		r.kill(0)
	}
}

func (r *safeModeRun) isSafe() bool {
	_, on, err := store.SafeModeOf(r.t.Context(), r.st.DB())
	return err == nil && on
}

// command writes a command of the owner in the admin room, and returns its event id.
func (r *safeModeRun) command(n int, text string) id.EventID {
	event := id.EventID(fmt.Sprintf("$safe%d", n))
	r.storeMessage(store.Message{
		ChatID:  r.room.ID,
		EventID: event,
		Author:  policy.AuthorOwnerClient,
		Sender:  testOwner,
		Body:    text,
		Action:  policy.ActionCommand,
		Code:    policy.CodeCommand,
	}, func(m store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: m} })
	return event
}

// hasSent reports whether a message with a text was sent to the admin room.
func (r *safeModeRun) hasSent(text string) bool {
	return storetest.Count(r.t, r.st,
		"select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%'||$2||'%'", r.room.ID, text) > 0
}

// waitForHeldTurn waits until the turn of a question is snoozed, as in safe mode.
func (r *safeModeRun) waitForHeldTurn() {
	r.t.Helper()
	r.wait("the turn to be held", func() bool {
		return storetest.Count(r.t, r.st,
			"select count(*) from river.river_job where kind = 'turn' and state in ('scheduled', 'available') and metadata ? 'snoozes'") == 1
	})
}

// waitForAnswers waits until a number of answers were sent to the contact.
func (r *safeModeRun) waitForAnswers(n int) {
	r.t.Helper()
	r.wait("the answer", func() bool {
		return storetest.Count(r.t, r.st,
			"select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%90 euro%'", r.chat) == n
	})
}

// Kills the real program three times, checks its safe mode, and restarts it.
func TestSafeMode_ThreeCrashesStartIt(t *testing.T) {
	t.Setenv("MULTIS_SAFE_MODE_AFTER_CRASHES", "3")
	r := newSafeModeRun(t)
	r.crash(3)
	require.NoError(t, os.RemoveAll(r.mcpMarker))
	require.Empty(t, r.model.Requests())
	r.start(0)
	r.wait("safe mode", r.isSafe)
	r.wait("an admin room", func() bool {
		var err error
		r.room, err = store.AdminChat(t.Context(), r.st.DB())
		return err == nil
	})
	r.wait("a notice", func() bool { return r.hasSent("It crashed 3 times within five minutes") })
	r.storeQuestion(r.chat, 1, "what does tuning cost?")
	for n, text := range []string{
		"/status", "what does tuning cost?", "/why", "/pause all", "/resume", "/audit", "/config get budget",
		"/plan sell the piano",
	} {
		event := r.command(n, text)
		r.wait(text, func() bool {
			return storetest.Count(t, r.st,
				"select count(*) from messages m join outbox o on o.id = m.outbox_id where m.event_id = $1 and o.state = 'sent'", event) == 1
		})
	}
	require.True(t, r.hasSent("/safe off"), "/status says how to end it")
	require.True(t, r.hasSent("so I answer no questions"))
	require.True(t, r.hasSent("it waits until that has ended"), "/plan says that it waits, and not that there is no model")
	r.waitForHeldTurn()
	require.Contains(t, captureOutput(t, r.procs[0].Args[2], "status"), "safe mode")
	require.Empty(t, r.model.Requests(), "no model")
	require.NoFileExists(t, r.mcpMarker, "no MCP server")
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from outbox where chat_id = $1", r.chat), "nothing to contacts")
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from messages where event_id = '$slow1' and answered_at is not null"))

	require.NoError(t, r.procs[0].Process.Signal(syscall.SIGTERM))
	require.NoError(t, r.procs[0].Wait())
	r.start(0)
	r.wait("the end of safe mode", func() bool { return !r.isSafe() })
	r.waitForAnswers(1)
	require.NotEmpty(t, r.model.Requests())
	r.wait("the MCP server", func() bool {
		_, err := os.Stat(r.mcpMarker)
		return err == nil
	})
	r.wait("a notice of the end", func() bool { return r.hasSent("Safe mode has ended") })
	r.checkToggle()
	require.Contains(t, captureOutput(t, r.procs[0].Args[2], "audit", "show"), "safe")
}

// checkToggle turns safe mode on and off by command.
func (r *safeModeRun) checkToggle() {
	r.t.Helper()
	r.command(101, "/safe on")
	r.wait("safe mode by command", r.isSafe)
	r.wait("the end of what was begun before, such as the plan", func() bool {
		return storetest.Count(r.t, r.st, "select count(*) from river.river_job where state = 'running' and kind <> 'tick'") == 0
	})
	requests := len(r.model.Requests())
	r.storeQuestion(r.chat, 2, "what does tuning cost?")
	r.waitForHeldTurn()
	require.Len(r.t, r.model.Requests(), requests)
	r.command(102, "/safe off")
	r.waitForAnswers(2)
}

// The owner turns safe mode on, the real program is killed, and its next start does not lift that.
func TestSafeMode_SurvivesKill(t *testing.T) {
	t.Setenv("MULTIS_SAFE_MODE_AFTER_CRASHES", "3")
	r := newSafeModeRun(t)
	r.start(0)
	r.wait("an admin room", func() bool {
		var err error
		r.room, err = store.AdminChat(t.Context(), r.st.DB())
		return err == nil
	})
	r.command(1, "/safe on")
	r.wait("safe mode", r.isSafe)
	r.kill(0)
	r.storeQuestion(r.chat, 1, "what does tuning cost?")
	r.start(0)
	r.waitForHeldTurn()
	require.True(t, r.isSafe(), "only /safe off or a clean restart ends it")
	require.Empty(t, r.model.Requests())

	require.NoError(t, r.procs[0].Process.Signal(syscall.SIGTERM))
	require.NoError(t, r.procs[0].Wait())
	r.start(0)
	r.waitForAnswers(1)
	require.False(t, r.isSafe())
}
