package transcript_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/memory/transcript"
)

// The two schemas that databases of the first multis have.
const (
	scopeSchema = `create table chunks (chunk_id text primary key, file_path text not null, page_start integer, page_end integer, element_type text, name text, content text,
			parent_chunk_id text, section_path text, section_level integer, document_type text, metadata text, scope text, activation real, access_count integer,
			last_accessed text, created_at text, updated_at text);
		create virtual table chunks_fts using fts5(chunk_id unindexed, name, content, section_path, content=chunks, tokenize='porter unicode61');
		create table access_history (id integer primary key autoincrement, chunk_id text not null, accessed_at text not null, query text,
			foreign key (chunk_id) references chunks(chunk_id) on delete cascade);`
	roleSchema = `create table chunks (chunk_id text primary key, file_path text, content text, section_path text, page_start integer, page_end integer,
		type text, element text, role text, base_activation real, last_accessed text, access_count integer, created_at text default current_timestamp);`
)

// newDocumentsDB creates a documents.db with the given statements and returns its path.
func newDocumentsDB(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "documents.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err)
	}
	return path
}

func openFirst(t *testing.T, path string) *transcript.Database {
	t.Helper()
	db, err := transcript.OpenDatabase(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func documentsOf(t *testing.T, db *transcript.Database) []transcript.Document {
	t.Helper()
	var all []transcript.Document
	for doc, err := range db.Documents(t.Context()) {
		require.NoError(t, err)
		all = append(all, doc)
	}
	return all
}

func TestDatabase_KeepsPassagesAndRoles(t *testing.T) {
	t.Parallel()
	db := openFirst(t, newDocumentsDB(t, scopeSchema,
		`insert into chunks (chunk_id, file_path, page_start, page_end, element_type, document_type, section_path, scope, content, created_at) values
			('doc:1-p0', '/h/prices.pdf', 2, 3, 'section', 'pdf', '["Prices","Bread"]', 'kb', 'Bread is 3 euros.', '2026-02-10 08:00:00'),
			('doc:1-p1', '/h/prices.pdf', 3, 3, 'section', 'pdf', '["Prices","Bread"]', 'kb', 'Rolls are 1 euro.', '2026-02-10 08:00:00'),
			('doc:2', '/h/mine.md', null, null, 'section', 'md', null, 'admin', 'The safe is behind the clock.', '2026-02-10 08:00:00'),
			('doc:3', '/h/odd.txt', null, null, 'paragraph', 'txt', 'Odd', 'somebody', 'Nobody knows who may see this.', '2026-02-10 08:00:00')`,
		`insert into access_history (chunk_id, accessed_at, query) values ('doc:1-p1', '2026-02-11T09:00:00.000Z', 'x'), ('doc:1-p1', '2026-02-12 09:00:00', 'y'), ('doc:1-p1', 'soon', 'z')`))
	at := func(day int) time.Time { return time.Date(2026, 2, day, 9, 0, 0, 0, time.UTC) }
	require.Equal(t, []transcript.Document{
		{Path: "/h/mine.md", Format: "md", Passages: []transcript.Passage{{Text: "The safe is behind the clock."}}},
		{Path: "/h/odd.txt", Format: "txt", Passages: []transcript.Passage{{Text: "Nobody knows who may see this.", Headings: []string{"Odd"}}}},
		{Path: "/h/prices.pdf", Format: "pdf", Public: true, Passages: []transcript.Passage{
			{Text: "Bread is 3 euros.", Headings: []string{"Prices", "Bread"}, PageFrom: 2, PageTo: 3},
			{
				Text: "Rolls are 1 euro.", Headings: []string{"Prices", "Bread"}, PageFrom: 3, PageTo: 3,
				Used: transcript.Uses{Count: 2, First: at(11), Newest: []time.Time{at(12), at(11)}},
			},
		}},
	}, documentsOf(t, db))
	chats, err := db.Notes(t.Context())
	require.NoError(t, err)
	require.Empty(t, chats)
}

func TestDatabase_ChatNotesAreNoDocuments(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"scopes": {scopeSchema, `insert into chunks (chunk_id, file_path, element_type, document_type, scope, content, created_at) values
			('mem-7-1', 'memory', 'memory_summary', 'conversation', 'user:7', '- Cleo likes tea' || char(10) || '- She pays on Fridays', '2026-02-11T14:30:00.000Z'),
			('mem-9-1', 'memory', 'memory_summary', 'conversation', 'admin', '- Otto is the plumber', '2026-02-11T14:30:00.000Z')`},
		"roles": {roleSchema, `insert into chunks (chunk_id, file_path, type, element, role, content, created_at) values
			('mem-7-1', 'memory', 'conv', 'chat', 'user:7', '- Cleo likes tea' || char(10) || '- She pays on Fridays', '2026-02-11 14:30:00'),
			('mem-9-1', 'memory', 'conv', 'chat', 'admin', '- Otto is the plumber', '2026-02-11 14:30:00')`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openFirst(t, newDocumentsDB(t, statements...))
			require.Empty(t, documentsOf(t, db))
			chats, err := db.Notes(t.Context())
			require.NoError(t, err)
			at := time.Date(2026, 2, 11, 14, 30, 0, 0, time.UTC)
			require.Equal(t, []transcript.Chat{
				{ID: "admin", Name: "admin", Owner: true, Notes: []transcript.Section{{At: at, Notes: []string{"Otto is the plumber"}}}},
				{ID: "7", Name: "7", Notes: []transcript.Section{{At: at, Notes: []string{"Cleo likes tea", "She pays on Fridays"}}}},
			}, chats)
		})
	}
}

func TestDatabase_OldRowKeepsScope(t *testing.T) {
	t.Parallel()
	db := openFirst(t, newDocumentsDB(t, scopeSchema, "alter table chunks add column role text",
		`insert into chunks (chunk_id, file_path, document_type, scope, content, created_at) values ('1', '/h/a.md', 'md', 'kb', 'a', ''), ('2', '', 'md', 'user:7', '- tea', '2026-02-11 14:30:00')`,
		"insert into chunks (chunk_id, file_path, document_type, role, content) values ('3', '/h/b.md', '', 'public', 'b')"))
	docs := documentsOf(t, db)
	require.Len(t, docs, 2)
	require.True(t, docs[0].Public && docs[1].Public)
	chats, err := db.Notes(t.Context())
	require.NoError(t, err)
	require.Len(t, chats, 1)
}

func TestDatabase_OwnersDocumentFirst(t *testing.T) {
	t.Parallel()
	docs := documentsOf(t, openFirst(t, newDocumentsDB(t, roleSchema,
		`insert into chunks (chunk_id, file_path, type, element, role, content) values
		('1', '/h/a.md', 'kb', 'md', 'public', 'a'), ('2', '/h/a.md', 'kb', 'md', 'admin', 'b'), ('3', '/h/a.md', 'kb', 'md', 'public', 'c')`)))
	require.Len(t, docs, 2)
	require.False(t, docs[0].Public)
	require.Len(t, docs[1].Passages, 2)
}

func TestOpenDatabase_ReadsWriteAheadLog(t *testing.T) {
	t.Parallel()
	path := newDocumentsDB(t, "pragma journal_mode = wal", roleSchema)
	writing, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer writing.Close()
	writing.SetMaxOpenConns(1)
	_, err = writing.Exec("pragma wal_autocheckpoint = 0; insert into chunks (chunk_id, file_path, role, content) values ('1', '/h/a.md', 'public', 'the last word')")
	require.NoError(t, err)
	before, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)

	docs := documentsOf(t, openFirst(t, path))
	require.Len(t, docs, 1)
	require.Equal(t, "the last word", docs[0].Passages[0].Text)
	after, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, after, len(before))
	now, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.Equal(t, log, now)
}

func TestOpenDatabase_RefusesOtherFiles(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "documents.db")
	require.NoError(t, os.WriteFile(text, []byte("this is a text, and long enough to be taken for one"), 0o600))
	cut := newDocumentsDB(t, roleSchema,
		"with recursive n(value) as (select 1 union all select value + 1 from n where value < 200) insert into chunks (chunk_id, role, content) select value, 'public', hex(randomblob(900)) from n")
	data, err := os.ReadFile(cut)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cut, data[:len(data)/2], 0o600))
	for why, path := range map[string]string{
		"file is not a database":           text,
		"no table chunks":                  newDocumentsDB(t, "create table other (a text)"),
		"there is no chunks.content in it": newDocumentsDB(t, "create table chunks (chunk_id text, file_path text, role text)"),
		"neither role nor scope": newDocumentsDB(t,
			"create table chunks (chunk_id text, file_path text, content text, created_at text)"),
		"there is no table chunks in it": newDocumentsDB(t, "create view chunks as select 1 as chunk_id"),
		"disk image is malformed":        cut,
	} {
		db, err := transcript.OpenDatabase(t.Context(), path)
		if err == nil {
			for _, failed := range db.Documents(t.Context()) {
				err = failed
			}
			require.NoError(t, db.Close())
		}
		require.ErrorContains(t, err, why)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err = transcript.OpenDatabase(t.Context(), newDocumentsDB(t, "create table other (a text)"))
	require.ErrorIs(t, err, transcript.ErrNoDatabase)
	db := openFirst(t, newDocumentsDB(t, roleSchema,
		"insert into chunks (chunk_id, file_path, role, content, created_at) values ('mem-7', '', 'user:7', '- tea', 'long ago')"))
	_, err = db.Notes(t.Context())
	require.ErrorContains(t, err, `mem-7: there is no such time: "long ago"`)
}
