package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/knowledge"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// hookFolders makes the folders of command hooks in a data folder. Root runs a hook as the owner of its folder, and none as root.
func hookFolders(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		folder := filepath.Join(dir, "data", "hooks", name)
		require.NoError(t, os.MkdirAll(folder, 0o755))
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(folder, 65534, 65534))
		}
	}
}

// Runs the real program with command hooks: one that denies a message to a contact, and one that is told of an event.
func TestCommandHooks_RunBeforeSendAndOnEvents(t *testing.T) {
	t.Parallel()
	model := llmtest.Start(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences": [{"text": "Tuning costs 90 euro.", "source": 1, "quote": "Tuning costs 90 euro."}]}`}
	})
	dir, err := os.MkdirTemp("", "multis-hooks-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	hookFolders(t, dir, "guard", "log")
	guard := "cat > asked.json\nif grep -q '90 euro' asked.json; then echo '{\"decision\": \"deny\", \"reason\": \"No prices by chat.\"}'; else echo '{\"decision\": \"allow\"}'; fi\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "hooks", "guard", "guard.sh"), []byte(guard), 0o644))
	h := &processGroup{
		t:          t,
		homeserver: newFakeHomeserver(t),
		dir:        dir,
		dsn:        storetest.DSN(t),
		procs:      make([]*exec.Cmd, 1),
	}
	h.st, err = store.Open(t.Context(), h.dsn)
	require.NoError(t, err)
	t.Cleanup(h.st.Close)
	h.config = fmt.Sprintf("llm: {model: openai/test, base_url: %q, local: true}\nchats: {burst_quiet: 1ms}\n", model.URL) +
		"command_hooks:\n  guard: {command: [sh, guard.sh], before: [send]}\n  log: {command: [sh, -c, \"cat >> events.jsonl\"], events: [escalation, \"message:business\"]}\n"
	_, err = knowledge.New(h.st).Index(t.Context(), knowledge.File{
		Name: "prices.md",
		Data: []byte("# Prices\n\nTuning costs 90 euro.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	chat := h.chats(1)[0]
	require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, chat, policy.ModeBusiness) }))
	h.start(0)
	t.Cleanup(func() { h.kill(0) })
	wait := func(what string, done func() bool) {
		t.Helper()
		require.Eventually(t, done, 2*time.Minute, 50*time.Millisecond, what)
	}
	var room store.Chat
	wait("an admin room", func() bool {
		room, err = store.AdminChat(t.Context(), h.st.DB())
		return err == nil
	})
	h.storeQuestion(chat, 1, "what does tuning cost?")
	said := func(text string) func() bool {
		return func() bool {
			return storetest.Count(t, h.st,
				"select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%'||$2||'%'", room.ID, text) > 0
		}
	}
	wait("the reason of the hook", said("No prices by chat."))
	require.Zero(t, storetest.Count(t, h.st,
		"select count(*) from outbox where chat_id = $1 and state = 'sent' and content->>'body' like '%90 euro%'", chat))
	asked, err := os.ReadFile(filepath.Join(dir, "data", "hooks", "guard", "asked.json"))
	require.NoError(t, err)
	require.Contains(t, string(asked), `"network":"demo"`)
	require.Positive(t, storetest.Count(t, h.st, "select count(*) from audit_entries where rule = 'hook:guard' and outcome = 'deny'"))

	question := fmt.Sprint(storetest.Count(t, h.st, "select max(id)::int from messages where event_id = '$slow1'"))
	require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error {
		return jobs.EmitHookEvent(t.Context(), tx, policy.HookMessage, question)
	}))
	wait("the event", func() bool {
		told, err := os.ReadFile(filepath.Join(dir, "data", "hooks", "log", "events.jsonl"))
		return err == nil && strings.Contains(string(told), "message:business")
	})

	for n, text := range []string{"/account", "/hooks"} {
		h.storeMessage(store.Message{
			ChatID:  room.ID,
			EventID: id.EventID(fmt.Sprintf("$typed%d", n)),
			Author:  policy.AuthorOwnerClient,
			Sender:  testOwner,
			Body:    text,
			Action:  policy.ActionCommand,
			Code:    policy.CodeCommand,
		}, func(m store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: m} })
	}
	wait("what multis can do as the owner", said("To revoke: remove the registration"))
	file := h.procs[0].Args[2]
	require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error {
		now, hash := time.Now(), "$argon2id$forgotten"
		return store.SavePIN(t.Context(), tx, store.PIN{Hash: &hash, SetAt: &now, LockedUntil: &now, UnlockedUntil: &now})
	}))
	require.Contains(t, captureOutput(t, file, "pin", "reset"), "The PIN is removed")
	require.Equal(t, 1, storetest.Count(t, h.st,
		"select count(*) from pin where hash is null and locked_until is null and unlocked_until is null and failures = 0"))
	require.Equal(t, 1, storetest.Count(t, h.st,
		"select count(*) from audit_entries where kind = 'pin' and action = 'reset' and outcome = 'removed'"))
	wait("a notice of it", said("The PIN was removed on the server"))
}
