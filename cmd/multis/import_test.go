package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestConversationsAreImportedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var ana store.Chat
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
		for _, protocol := range []string{"signal", "whatsapp"} {
			ana, err = store.UpsertChat(t.Context(), tx, store.Chat{Protocol: protocol, ChannelID: "ana", Name: "Ana", Kind: policy.KindDM, BridgeBot: "@b:x", Encrypted: policy.EncryptionNo})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	mem := memory.New(memory.Options{Store: st, Zone: time.UTC})
	dir := t.TempDir()
	path := func(name, text string) string {
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
		return full
	}
	run := func(c importCmd) (string, error) {
		var said bytes.Buffer
		err := c.run(t.Context(), mem, time.UTC, &said)
		return said.String(), err
	}
	day := time.Now().AddDate(0, 0, -3).Format("02.01.06")
	exported := path("WhatsApp Chat mit Ana.txt", day+", 18:05 - Ana: the fence is done\n"+day+", 18:06 - Hannes: great\n")
	said, err := run(importCmd{What: exported})
	require.NoError(t, err)
	require.Contains(t, said, "Ana: 2 messages and 0 notes.\n")
	said, err = run(importCmd{What: exported})
	require.NoError(t, err)
	require.Contains(t, said, "Ana: 0 messages and 0 notes, 2 were there.\n", "again is no work")
	var n int
	require.NoError(t, st.DB().QueryRow(t.Context(), "select count(*) from messages where chat_id = $1 and author = 'owner_phone'", ana.ID).Scan(&n))
	require.Equal(t, 1, n, "into the chat of that name on that network")

	_, err = run(importCmd{What: path("Club.txt", day+", 18:05 - A: x\n"+day+", 18:06 - B: y\n")})
	require.ErrorContains(t, err, "Club: it cannot be told which of the senders is you: A, B; say it with --me")
	_, err = run(importCmd{What: path("broken.txt", "hello\n")})
	require.ErrorContains(t, err, "broken.txt, line 1: a chat that WhatsApp exported begins with a date")
	_, err = run(importCmd{What: exported, Chat: "Ana"})
	require.ErrorContains(t, err, `several chats are called "Ana"`)

	path("old/admin/memory.md", "## "+time.Now().Format(time.DateOnly)+"\n- Otto is the plumber\n")
	_, err = run(importCmd{What: filepath.Join(dir, "old")})
	require.ErrorContains(t, err, "there is no admin room yet")

	path("first/cleo/memory.md", "## "+time.Now().Format(time.DateOnly)+"\n- Cleo likes tea\n")
	pieces := path("first/documents.db", strings.Repeat("SQLite", 1<<18))
	said, err = run(importCmd{What: filepath.Join(dir, "first")})
	require.NoError(t, err)
	require.Contains(t, said, "cleo: 0 messages and 1 note.\n")
	require.Contains(t, said, "Left out: 1 file, "+pieces+" (1.5 MB)")
	require.Contains(t, said, "multis index --role public")
	_, err = run(importCmd{What: pieces})
	require.ErrorContains(t, err, "Left out: 1 file")
}
