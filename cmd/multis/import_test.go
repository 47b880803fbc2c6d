package main

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/knowledge"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestImport_Conversations(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var ana store.Chat
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
		for _, protocol := range []string{"signal", "whatsapp"} {
			ana, err = store.UpsertChat(t.Context(), tx, store.Chat{
				Protocol:   protocol,
				ChannelID:  "ana",
				Name:       "Ana",
				Kind:       policy.KindDM,
				BridgeBot:  "@b:x",
				Encryption: policy.EncryptionNo,
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	mem := memory.New(memory.Options{Store: st, Zone: time.UTC, Defaults: policy.Defaults{Profile: policy.ProfilePersonal}})
	dir := t.TempDir()
	path := func(name, text string) string {
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
		return full
	}
	run := func(c importCmd) (string, error) {
		var said bytes.Buffer
		err := c.run(t.Context(), importer{memory: mem, zone: time.UTC, out: &said})
		return said.String(), err
	}
	day := time.Now().AddDate(0, 0, -3).Format("02.01.06")
	exported := path("WhatsApp Chat mit Ana.txt", day+", 18:05 - Ana: the fence is done\n"+day+", 18:06 - Hannes: great\n")
	said, err := run(importCmd{Path: exported})
	require.NoError(t, err)
	require.Contains(t, said, "Ana: 2 messages and 0 notes.\n")
	said, err = run(importCmd{Path: exported})
	require.NoError(t, err)
	require.Contains(t, said, "Ana: 0 messages and 0 notes, 2 were there.\n", "again is no work")
	var n int
	require.NoError(t, st.DB().QueryRow(t.Context(), "select count(*) from messages where chat_id = $1 and author = 'owner_phone'",
		ana.ID).Scan(&n))
	require.Equal(t, 1, n, "into the chat of that name on that network")

	_, err = run(importCmd{Path: path("Club.txt", day+", 18:05 - A: x\n"+day+", 18:06 - B: y\n")})
	require.ErrorContains(t, err, "Club: it cannot be told which of the senders is you: A, B; name yourself with --me")
	_, err = run(importCmd{Path: path("broken.txt", "hello\n")})
	require.ErrorContains(t, err, "broken.txt, line 1: a chat that WhatsApp exported begins with a date")
	_, err = run(importCmd{Path: exported, Chat: "Ana"})
	require.ErrorContains(t, err, `several chats are called "Ana"`)

	path("first/x/profile.json", `{"mode": "business", "name": "Ana", "platform": "signal"}`)
	path("first/x/memory.md", "## "+time.Now().Format(time.DateOnly)+"\n- Ana likes oak\n")
	path("first/y/profile.json", `{"mode": "silent", "name": "Ana", "platform": "whatsapp"}`)
	path("first/y/memory.md", "## "+time.Now().Format(time.DateOnly)+"\n- Ana likes pine\n")
	path("first/z/profile.json", `{"mode": "business", "name": "Zoe", "platform": "telegram"}`)
	path("first/z/memory.md", "## "+time.Now().Format(time.DateOnly)+"\n- Zoe likes tea\n")
	room := id.RoomID("!signal:x")
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		_, err := store.UpsertChat(t.Context(), tx, store.Chat{
			Protocol:   "signal",
			ChannelID:  "ana",
			RoomID:     &room,
			Name:       "Ana",
			Kind:       policy.KindDM,
			BridgeBot:  "@b:x",
			Encryption: policy.EncryptionNo,
		})
		return err
	}))
	said, err = run(importCmd{Path: filepath.Join(dir, "first")})
	require.NoError(t, err)
	require.Contains(t, said, "It was business there and is silent here; in the admin room, /mode business Ana changes that.\n")
	require.Contains(t, said, "It was business there; here nothing is sent to it")
	require.Equal(t, 2, strings.Count(said, "It was"), "what stays as it was is not said")

	path("old/admin/memory.md", "## "+time.Now().Format(time.DateOnly)+"\n- Otto is the plumber\n")
	_, err = run(importCmd{Path: filepath.Join(dir, "old")})
	require.ErrorContains(t, err, "there is no admin room yet")
}

func TestImport_FirstMultis(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var said bytes.Buffer
	to := importer{
		memory: memory.New(memory.Options{Store: st, Zone: time.UTC}),
		docs:   knowledge.New(st),
		folder: "/h/documents",
		zone:   time.UTC,
		out:    &said,
	}
	run := func(path string) string {
		t.Helper()
		said.Reset()
		require.NoError(t, importCmd{Path: path}.run(t.Context(), to))
		return said.String()
	}
	dir := t.TempDir()
	now := time.Now().UTC().Format(time.RFC3339Nano)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "cleo"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cleo", "memory.md"), []byte("## "+now+"\n- Cleo likes tea\n"), 0o600))
	path := filepath.Join(dir, "documents.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(strings.ReplaceAll(`create table chunks (chunk_id text primary key, file_path text, content text, page_start integer, document_type text, scope text, created_at text);
		create table access_history (chunk_id text, accessed_at text);
		insert into access_history values ('1', $1);
		insert into chunks values ('1', '/h/prices.pdf', 'Bread is 3 euros.', 2, 'pdf', 'kb', $1), ('2', '/h/documents/mine.md', 'The safe is behind the clock.', null, 'md', 'admin', $1),
			('mem-cleo-1', 'memory', '- Cleo likes tea', null, 'conversation', 'user:cleo', $1), ('mem-cleo-0', 'memory', '- Cleo has a dog', null, 'conversation', 'user:cleo', $1),
			('5', '/h/empty.txt', ' ', null, 'txt', 'kb', $1)`, "$1", "'"+now+"'"))
	require.NoError(t, err)

	to.out = io.Discard
	require.EqualError(t, importCmd{Path: dir}.run(t.Context(), to), path+": 1 document not imported")
	_, err = db.Exec("delete from chunks where chunk_id = '5'")
	require.NoError(t, err)
	to.out = &said
	again := run(dir)
	require.Contains(t, again, "Documents: 0 public and 0 only for you, 2 were there.", "again is no work")
	require.Contains(t, again, "cleo: 0 messages and 0 notes, 3 were there.\n")
	again = run(path)
	require.Contains(t, again, "Documents: 0 public and 0 only for you, 2 were there.")
	require.Contains(t, again, "multis import "+dir)
	count := func(sql string) int { return storetest.Count(t, st, sql) }
	require.Equal(t, 1, count("select count(*) from notes where body = 'Cleo likes tea' and role ~ '^user:'"),
		"what two files hold is one note")
	require.Equal(t, 1, count("select count(*) from notes where body = 'Cleo has a dog' and role ~ '^user:'"))
	require.Equal(t, 1, count(`select count(*) from documents d join chunks c on c.doc_id = d.id
		where d.origin = '/h/prices.pdf' and d.role = 'public' and element = 'pdf' and page_from = 2 and page_to = 2 and access_count = 1 and activation > 0`))
	require.Equal(t, 1, count("select count(*) from documents where origin = 'mine.md' and role = 'admin' and chunks = 1"),
		"it is known by its place in the documents folder")

	_, err = to.docs.Index(t.Context(), knowledge.File{
		Name:   "prices.pdf",
		Origin: "/h/prices.pdf",
		Data:   []byte("Bread is 4 euros."),
		Role:   policy.RolePublic,
	})
	require.NoError(t, err)
	run(path)
	require.Equal(t, 1, count("select count(*) from chunks where content = 'Bread is 4 euros.'"), "the file itself is better than its pieces")

	require.NoError(t, os.WriteFile(path, []byte("no database at all"), 0o600))
	err = importCmd{Path: dir}.run(t.Context(), to)
	require.ErrorContains(t, err, "it is not the documents.db of the first multis")
	require.ErrorContains(t, err, "move it away to import the rest")
}
