package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestExport_Chats(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		for _, c := range []store.Chat{
			{Protocol: "whatsapp", Name: "Ana"},
			{Protocol: "signal", Name: "ana"},
			{Protocol: "signal", Name: "Ben"},
		} {
			c.ChannelID = c.Name
			c.Kind = policy.KindDM
			c.BridgeBot = "@b:x"
			c.Encryption = policy.EncryptionNo
			chat, err := store.UpsertChat(t.Context(), tx, c)
			if err != nil {
				return err
			}
			m := store.Message{
				ChatID:  chat.ID,
				EventID: id.EventID("$" + c.Protocol + c.Name),
				Author:  policy.AuthorContact,
				Kind:    "text",
				Body:    "hello",
				At:      time.Now(),
				Action:  policy.ActionArchive,
			}
			if _, err := store.InsertMessage(t.Context(), tx, m); err != nil {
				return err
			}
		}
		return nil
	}))
	_, err := chatsNamed(t.Context(), st, []string{"Ana"})
	require.EqualError(t, err, `several chats are called "Ana": write its number instead, 1 (whatsapp) or 2 (signal)`)
	_, err = chatsNamed(t.Context(), st, []string{"Eve"})
	require.EqualError(t, err, `there is no chat "Eve": write its name or number as /mode shows it`)
	chats, err := chatsNamed(t.Context(), st, []string{"2", "ben"})
	require.NoError(t, err)
	require.Len(t, chats, 2)
	for _, c := range []struct {
		named []string
		want  policy.Scope
	}{{nil, policy.OwnerScope()}, {[]string{"2", "ben"}, policy.OwnerScope(2, 3)}} {
		scope, err := searchCmd{Chat: c.named}.scope(t.Context(), st)
		require.NoError(t, err)
		require.Equal(t, c.want, scope, "what multis search looks in")
	}
	_, err = searchCmd{Chat: []string{"99"}}.scope(t.Context(), st)
	require.ErrorContains(t, err, `there is no chat "99"`)

	mem := memory.New(memory.Options{Store: st, Zone: time.UTC})
	file := filepath.Join(t.TempDir(), "out.zip")
	var said bytes.Buffer
	require.NoError(t, writeExport(t.Context(), mem, file, chats, &said))
	require.Equal(t, file+": 2 chats, 2 messages of the last 30 days, 0 notes.\n", said.String())
	z, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer z.Close()
	require.Equal(t, "ana-signal-2/profile.json", z.File[0].Name)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.ErrorIs(t, writeExport(t.Context(), mem, file, chats, &said), os.ErrExist, "nothing is overwritten")
}
