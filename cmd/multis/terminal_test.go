package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"

	"multis/config"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// offlineConfig returns the configuration of multis chat without a file, with the folders in a temporary one.
func offlineConfig(t testing.TB) *config.Config {
	t.Helper()
	cfg, err := config.ParseOffline("", nil, os.LookupEnv)
	require.NoError(t, err)
	cfg.TimeZone = localZone()
	cfg.Database.DataDir = t.TempDir()
	cfg.Documents.Folder = t.TempDir()
	return cfg
}

func TestTerminal_ShowsMessageOnce(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var said bytes.Buffer
	files := 0
	out := newTerminal(&said, false, func(context.Context, uuid.UUID, string) (string, error) {
		files++
		return "saved", nil
	})
	chat, err := openTerminalChat(t.Context(), st)
	require.NoError(t, err)
	box := outbox.New(st, outbox.Settings{}, out)
	const messages = 30
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		for n := range messages {
			letter := outbox.NewNotice(chat, fmt.Sprintf("message %d.", n), outbox.Answer)
			letter.File = &outbox.File{Name: "a.txt", MIME: "text/plain", Data: []byte("a")}
			row, _, err := box.Queue(t.Context(), tx, letter)
			if err != nil {
				return err
			}
			for range 3 { // several jobs may send the same message: its own, that of the message before, and the sweep's
				if err := jobs.Enqueue(t.Context(), tx, jobs.SendArgs{OutboxID: row}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	require.NoError(t, converse(t.Context(), offlineConfig(t), st, strings.NewReader("\n"), out))
	for n := range messages {
		require.Equal(t, 1, strings.Count(said.String(), fmt.Sprintf("message %d.", n)), "message %d", n)
	}
	require.Equal(t, messages, files)
}

func TestTerminal_ReactionsAndReplies(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	out := newTerminal(&said, false, nil)
	text := func(line string) *event.MessageEventContent {
		content, ok := out.newEvent("@you:x", line).Content.Parsed.(*event.MessageEventContent)
		require.True(t, ok, line)
		return content
	}
	require.Equal(t, "👍", text("👍").Body, "there is nothing yet to react to")
	row := store.OutboxMessage{
		ID:      uuid.New(),
		Purpose: policy.PurposeNotice,
		Content: json.RawMessage(`{"body":"Begin? ([message](https://matrix.to/#/!a:b/$c)) [Ana](https://matrix.to/#/!a:b) · [there](https://matrix.to/#/!a:b)"}`),
	}
	_, err := out.Send(t.Context(), row, terminalRoom)
	require.NoError(t, err)
	require.Equal(t, "\nBegin? Ana\n\n", said.String(), "what leads into a Matrix client leads nowhere here")
	said.Reset()
	note := outbox.NewNotice(store.Chat{},
		"**#1** blue door — note · said in [1](https://matrix.to/#/!a:b/$c) [2](https://matrix.to/#/!a:b/$d)", outbox.Answer)
	content, err := json.Marshal(map[string]string{"body": note.Text})
	require.NoError(t, err)
	shown, err := out.Send(t.Context(), store.OutboxMessage{ID: uuid.New(), Content: content}, terminalRoom)
	require.NoError(t, err)
	require.Equal(t, "\n#1 blue door — note\n\n", said.String())
	_, err = out.Send(t.Context(), store.OutboxMessage{
		ID:      uuid.New(),
		Content: json.RawMessage(`{"m.relates_to":{"rel_type":"m.annotation","event_id":"$x","key":"✅"}}`),
	}, terminalRoom)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(said.String(), "✅\n"), "a reaction is shown")

	for _, sign := range []string{"👍", " 👎 ", "✅", "3️⃣", "➕", "🕐", "🌅"} {
		evt := out.newEvent("@you:x", sign)
		require.Equal(t, event.EventReaction, evt.Type, sign)
		reaction, ok := evt.Content.Parsed.(*event.ReactionEventContent)
		require.True(t, ok)
		require.Equal(t, shown, reaction.RelatesTo.EventID)
		require.Equal(t, strings.TrimSpace(sign), reaction.RelatesTo.Key)
	}
	require.Equal(t, shown, text("> in two steps").RelatesTo.GetReplyTo())
	require.Equal(t, "in two steps", text("> in two steps").Body)
	for _, line := range []string{"3", "ok", "/help", "!", "名前", "€ 5", "ä"} {
		require.Equal(t, line, text(line).Body)
		require.Nil(t, text(line).RelatesTo, line)
	}
}

func TestChat_AvoidsServiceFolder(t *testing.T) {
	t.Parallel()
	dir, err := chatCmd{}.dataDir()
	require.NoError(t, err)
	require.False(t, strings.HasPrefix(dir, "/var/lib/multis"), "made by root's first trial, it would be in the way of the service's user")
	require.Equal(t, "chat", filepath.Base(dir))
}

func TestChat_NeedsNoMatrix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // started by root, its database runs as another user
	example, _, err := program(t, dir, "", "-e")
	require.NoError(t, err)
	configured := strings.NewReplacer("\nname: Nora", "\nname: Otto", "\nagents: {}",
		"\nagents: {sales: {name: Sam, theme: cheerful}}").Replace(example)
	require.NotEqual(t, example, configured)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(configured), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data", "skills"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "skills", "tea.md"),
		[]byte("---\nname: tea\ndescription: How tea is made\n---\nBoil water.\n"), 0o644))
	said, stderr, err := program(t, dir, "/agents\n/name\n/skills\n/index\n", "chat", "--data", filepath.Join(dir, "trial"))
	require.NoError(t, err, stderr)
	require.Contains(t, said, "Sam", "its agents")
	require.Contains(t, said, "Otto", "its name")
	require.Contains(t, said, "How tea is made", "its skills")
	require.NotContains(t, said, "Times are Local")

	_, stderr, err = program(t, dir, "", "-c", "none.yaml", "chat")
	require.Error(t, err)
	require.Contains(t, stderr, "none.yaml", "a file that was named has to be there")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(configured+"\nbugdet: {}\n"), 0o600))
	_, stderr, err = program(t, dir, "", "chat")
	require.Error(t, err)
	require.Contains(t, stderr, `bugdet: unknown key; did you mean "budget"?`)
}
