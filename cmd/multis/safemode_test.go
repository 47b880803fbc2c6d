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

func TestOnlyStartsAfterUncleanEndsCountAsCrashes(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "data"), time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	start := func(after time.Duration) (*startLog, int) {
		now = now.Add(after)
		return noteStart(t.Context(), dir, now)
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
	_, crashes = start(time.Second)
	require.Zero(t, crashes, "a clean stop forgets them")

	three := config.SafeMode{AfterCrashes: 3}
	require.Empty(t, whySafe(false, 2, three))
	require.Contains(t, whySafe(false, 3, three), "3 times")
	require.Contains(t, whySafe(true, 0, three), "--safe")
	require.Empty(t, whySafe(false, 9, config.SafeMode{}))
}

// Kills the real program three times, checks its safe mode, and restarts it.
func TestThreeCrashesStartSafeModeAndACleanRestartEndsIt(t *testing.T) {
	t.Setenv("MULTIS_SAFE_MODE_AFTER_CRASHES", "3")
	model := llmtest.Start(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences": [{"text": "Tuning costs 90 euro.", "source": 1, "quote": "Tuning costs 90 euro."}]}`}
	})
	h := &herd{t: t, door: openDoor(t), dir: t.TempDir(), dsn: storetest.DSN(t)}
	var err error
	h.st, err = store.Open(t.Context(), h.dsn)
	require.NoError(t, err)
	t.Cleanup(h.st.Close)
	h.config = fmt.Sprintf("llm: {model: openai/test, base_url: %q, local: true}\nmcp: {gone: {command: [touch, %q]}}\nchats: {burst_quiet: 1ms}\n", model.URL, filepath.Join(h.dir, "mcp-was-started"))
	_, err = knowledge.New(h.st).Index(t.Context(), knowledge.File{Name: "prices.md", Data: []byte("# Prices\n\nTuning costs 90 euro.\n"), Role: policy.RolePublic})
	require.NoError(t, err)
	chat := h.chats(1)[0]
	require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, chat, policy.ModeBusiness) }))
	wait := func(what string, done func() bool) {
		t.Helper()
		require.Eventually(t, done, 2*time.Minute, 50*time.Millisecond, what)
	}
	h.procs = append(h.procs, nil)
	t.Cleanup(func() { h.kill(0) })
	for crashes := range 3 {
		h.start(0)
		wait("the start to be noted", func() bool {
			var notes startNotes
			raw, err := os.ReadFile(filepath.Join(h.dir, "data", "starts.json"))
			return err == nil && json.Unmarshal(raw, &notes) == nil && notes.Running && len(notes.Crashes) == crashes
		})
		h.kill(0)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(h.dir, "mcp-was-started")))
	require.Empty(t, model.Requests())
	h.start(0)
	isSafe := func() bool {
		_, on, err := store.SafeModeOf(t.Context(), h.st.DB())
		return err == nil && on
	}
	wait("safe mode", isSafe)
	var room store.Chat
	wait("an admin room", func() bool {
		room, err = store.AdminChat(t.Context(), h.st.DB())
		return err == nil
	})
	said := func(text string) bool {
		return storetest.Count(t, h.st, "select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%'||$2||'%'", room.ID, text) > 0
	}
	wait("a notice", func() bool { return said("It crashed 3 times within five minutes") })
	h.asked(chat, 1, "what does tuning cost?")
	for n, text := range []string{"/status", "what does tuning cost?", "/why", "/pause all", "/resume", "/audit", "/config get budget"} {
		event := id.EventID(fmt.Sprintf("$safe%d", n))
		h.says(store.Message{
			ChatID: room.ID, EventID: event, Author: policy.AuthorOwnerClient, Sender: testOwner, Body: text, Action: policy.ActionCommand, Code: policy.CodeCommand,
		}, func(m store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: m} })
		wait(text, func() bool {
			return storetest.Count(t, h.st, "select count(*) from messages m join outbox o on o.id = m.outbox_id where m.event_id = $1 and o.state = 'sent'", event) == 1
		})
	}
	require.True(t, said("/safe off"), "/status says how to end it")
	require.True(t, said("so I answer no questions"))
	wait("the turn to be held", func() bool {
		return storetest.Count(t, h.st, "select count(*) from river.river_job where kind = 'turn' and state in ('scheduled', 'available') and metadata ? 'snoozes'") == 1
	})
	file := h.procs[0].Args[2]
	require.Contains(t, printed(t, file, "status"), "safe mode")
	require.Empty(t, model.Requests(), "no model")
	require.NoFileExists(t, filepath.Join(h.dir, "mcp-was-started"), "no MCP server")
	require.Zero(t, storetest.Count(t, h.st, "select count(*) from outbox where chat_id = $1", chat), "nothing to contacts")
	require.Zero(t, storetest.Count(t, h.st, "select count(*) from messages where event_id = '$slow1' and answered_at is not null"))

	require.NoError(t, h.procs[0].Process.Signal(syscall.SIGTERM))
	require.NoError(t, h.procs[0].Wait())
	h.start(0)
	wait("the end of safe mode", func() bool { return !isSafe() })
	wait("the answer", func() bool {
		return storetest.Count(t, h.st, "select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%90 euro%'", chat) == 1
	})
	require.NotEmpty(t, model.Requests())
	wait("the MCP server", func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "mcp-was-started"))
		return err == nil
	})
	wait("a notice of the end", func() bool { return said("Safe mode is over") })

	command := func(n int, text string) {
		h.says(store.Message{
			ChatID: room.ID, EventID: id.EventID(fmt.Sprintf("$toggle%d", n)), Author: policy.AuthorOwnerClient, Sender: testOwner, Body: text, Action: policy.ActionCommand, Code: policy.CodeCommand,
		}, func(m store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: m} })
	}
	asked := len(model.Requests())
	command(1, "/safe on")
	wait("safe mode by command", isSafe)
	h.asked(chat, 2, "what does tuning cost?")
	wait("the turn to be held", func() bool {
		return storetest.Count(t, h.st, "select count(*) from river.river_job where kind = 'turn' and state in ('scheduled', 'available') and metadata ? 'snoozes'") == 1
	})
	require.Len(t, model.Requests(), asked)
	command(2, "/safe off")
	wait("the answer", func() bool {
		return storetest.Count(t, h.st, "select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%90 euro%'", chat) == 2
	})
	require.Contains(t, printed(t, file, "audit", "show"), "safe")
}
