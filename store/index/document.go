package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/policy"
	"multis/store/row"
)

// Kind says what a document and its chunks are.
type Kind string

// The kinds of documents.
const (
	KindKnowledge    Kind = "kb"   // a file or a page
	KindConversation Kind = "conv" // what was remembered of a chat
)

// Document is a file that was indexed, or the stream of conversation chunks of one chat.
type Document struct {
	ID        row.DocumentID
	Origin    string // unique: a path, an address, or the name
	Name      string
	Role      policy.Role
	Kind      Kind
	Element   string // md, txt, chat
	Size      int64  // bytes of the source
	Hash      string // the same hash means that nothing has to be done
	Chunks    int
	IndexedAt time.Time
	// Validator is how the server of a page recognises the version that was indexed; empty if it does not, and for files.
	Validator string
	// RoleSetAt is when somebody said that it has this role. Of two who say it, the later one is right.
	RoleSetAt time.Time
	// FoundInBulk says that nobody named the document that is written: it was found in a folder or by a pattern.
	FoundInBulk bool `db:"-"`
}

// KeepsRole reports whether a document stays in its role although doc, which replaces it, has another one: because its role was
// said later, or because it is private and doc was not named by itself.
func (d *Document) KeepsRole(doc Document) bool {
	return d.Role != doc.Role && (d.RoleSetAt.After(doc.RoleSetAt) || doc.FoundInBulk && d.Role == policy.Admin)
}

const documentColumns = "id, origin, name, role, kind, element, size, hash, chunks, indexed_at, validator, role_said_at"

const documentByOriginSQL = "select " + documentColumns + " from documents where origin = $1"

// DocumentByOrigin returns one document, or row.ErrNotFound.
func DocumentByOrigin(ctx context.Context, db row.DB, origin string) (Document, error) {
	docs, err := documents(ctx, db, documentByOriginSQL, origin)
	if err == nil && len(docs) == 0 {
		return Document{}, row.ErrNotFound
	}
	if err != nil {
		return Document{}, err
	}
	return docs[0], nil
}

const biggestDocumentsSQL = "select " + documentColumns + " from documents where kind = 'kb' and role = any ($1) order by chunks desc, size desc, origin limit $2"

const privateDocumentsSQL = "select " + documentColumns + " from documents where kind = 'kb' and role = 'admin' and size = $1 order by id"

// PrivateDocumentsOfSize lists the owner's private documents of so many bytes.
func PrivateDocumentsOfSize(ctx context.Context, db row.DB, size int64) ([]Document, error) {
	return documents(ctx, db, privateDocumentsSQL, size)
}

const documentsByNameSQL = "select " + documentColumns + " from documents where kind = 'kb' and (name = $1 or origin = $1) order by origin limit $2"

// DocumentsByName lists the files and pages that are called, or come from, what name says.
func DocumentsByName(ctx context.Context, db row.DB, name string, limit int) ([]Document, error) {
	return documents(ctx, db, documentsByNameSQL, name, limit)
}

// BiggestDocuments lists the documents that scope may see, those with the most chunks first.
func BiggestDocuments(ctx context.Context, db row.DB, scope policy.Scope, limit int) ([]Document, error) {
	return documents(ctx, db, biggestDocumentsSQL, scope.Roles(), limit)
}

func documents(ctx context.Context, db row.DB, sql string, args ...any) ([]Document, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	docs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Document])
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	return docs, nil
}

// DocumentGroup counts the documents of one kind, element and role.
type DocumentGroup struct {
	Kind        Kind
	Element     string
	Role        policy.Role
	Documents   int
	Chunks      int
	LastIndexed time.Time
}

const documentGroupsSQL = `select kind, element, role, count(*), sum(chunks), max(indexed_at) from documents where role = any ($1)
	group by kind, element, role order by kind desc, role desc, element`

// DocumentGroups counts the documents that scope may see.
func DocumentGroups(ctx context.Context, db row.DB, scope policy.Scope) ([]DocumentGroup, error) {
	rows, err := db.Query(ctx, documentGroupsSQL, scope.Roles())
	if err != nil {
		return nil, fmt.Errorf("count documents: %w", err)
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DocumentGroup])
	if err != nil {
		return nil, fmt.Errorf("count documents: %w", err)
	}
	return groups, nil
}

// Writers of the search tables take turns at the sizes, which each of them changes. Who changes the counts of words holds
// another lock before, and longer: those who only add documents need not wait for it.
const (
	lockCorpusSQL = "select from corpus_stats where role = '*' for update"
	lockCountsSQL = "select pg_advisory_xact_lock('term_stats'::regclass::int)"
)

func lockCorpus(ctx context.Context, tx row.Tx) error {
	return row.Exec(ctx, tx, "wait for other writers", lockCorpusSQL)
}

// lockAll is for who takes words out of the counts.
func lockAll(ctx context.Context, tx row.Tx) error {
	if err := row.Exec(ctx, tx, "wait for who counts words", lockCountsSQL); err != nil {
		return err
	}
	return lockCorpus(ctx, tx)
}

// Held by whoever writes a document, so that the others know of it.
const lockWritingSQL = "select pg_advisory_xact_lock_shared('documents'::regclass::int)"

// Entries of the text index are written to a list, which Postgres sorts into the index when it is 1 MB, and the last of those
// who write at the same time here: that takes a third of what an entry at a time would, and hardly a search has to read the list.
const mergeEntriesSQL = `select gin_clean_pending_list('chunk_index_tsv'), gin_clean_pending_list('chunk_index_tsv_public')
	where not exists (select from pg_locks where locktype = 'advisory' and objid = 'documents'::regclass and pid <> pg_backend_pid()
		and database = (select oid from pg_database where datname = current_database()))`

const newDocumentSQL = `insert into documents (origin, name, role, kind, element, size, hash, chunks, validator, role_said_at)
	values (@origin, @name, @role, @kind, @element, @size, @hash, @chunks, @validator, @said)
	on conflict (origin) do `

const insertDocumentSQL = newDocumentSQL + "nothing returning id"

const upsertDocumentSQL = newDocumentSQL + `update set name = excluded.name, kind = excluded.kind, element = excluded.element, size = excluded.size,
		hash = excluded.hash, chunks = excluded.chunks, validator = excluded.validator, indexed_at = now(),
		role_said_at = greatest(documents.role_said_at, excluded.role_said_at)
	returning id`

// ErrRoleKept is returned for a document that keeps another role.
var ErrRoleKept = errors.New("this document keeps another role")

const sayRoleSQL = "update documents set role_said_at = $2 where origin = $1 and role = $3 and role_said_at < $2"

// ConfirmRole notes that somebody said of a document that it has the role which it has.
func ConfirmRole(ctx context.Context, w row.Writer, doc Document) error {
	return row.Exec(ctx, w, "note who may see a document", sayRoleSQL, doc.Origin, doc.RoleSetAt, doc.Role)
}

// ReplaceDocument writes a document with its chunks in place of what was there under its origin. It reports false, and
// changes nothing, when role and hash are what they were. A document that was there in another role is gone from that role,
// unless it keeps it: ErrRoleKept. The transaction's scope must hold the document's role.
func ReplaceDocument(ctx context.Context, tx row.Tx, doc Document, chunks []Chunk) (bool, error) {
	if err := lockAll(ctx, tx); err != nil {
		return false, err
	}
	old, err := DocumentByOrigin(ctx, tx, doc.Origin)
	switch {
	case errors.Is(err, row.ErrNotFound):
	case err != nil:
		return false, err
	case old.KeepsRole(doc):
		return false, ErrRoleKept
	case old.Role == doc.Role && old.Hash == doc.Hash:
		return false, ConfirmRole(ctx, tx, doc)
	default:
		if err := uncount(ctx, tx, old.ID); err != nil {
			return false, err
		}
		if old.Role != doc.Role {
			if err := row.Exec(ctx, tx, "delete document", deleteDocumentSQL, old.ID); err != nil {
				return false, err
			}
		}
	}
	if err := doc.write(ctx, tx, upsertDocumentSQL, chunks); err != nil {
		return false, err
	}
	return true, count(ctx, tx, doc.ID)
}

// Held by whoever adds a document: another one of its origin has to wait before it takes what both need later.
const lockOriginSQL = "select pg_advisory_xact_lock(hashtextextended($1, 0))"

// AddDocument is ReplaceDocument for a document that is likely to be new: then others are written at the same time, up to
// the sizes. The transaction must not have written another document before, or two of them would wait for each other.
func AddDocument(ctx context.Context, tx row.Tx, doc Document, chunks []Chunk) (bool, error) {
	if err := row.Exec(ctx, tx, "wait for who writes the same document", lockOriginSQL, doc.Origin); err != nil {
		return false, err
	}
	err := doc.write(ctx, tx, insertDocumentSQL, chunks)
	if errors.Is(err, pgx.ErrNoRows) {
		return ReplaceDocument(ctx, tx, doc, chunks)
	}
	if err != nil {
		return false, err
	}
	return true, count(ctx, tx, doc.ID)
}

// write writes a document by the given statement, and its chunks. pgx.ErrNoRows, if the statement leaves what is there.
func (d *Document) write(ctx context.Context, tx row.Tx, sql string, chunks []Chunk) error {
	if err := row.Exec(ctx, tx, "note that documents are written", lockWritingSQL); err != nil {
		return err
	}
	err := tx.QueryRow(ctx, sql, pgx.NamedArgs{
		"origin": d.Origin, "name": d.Name, "role": d.Role, "kind": d.Kind, "element": d.Element, "size": d.Size,
		"hash": d.Hash, "chunks": len(chunks), "validator": d.Validator, "said": d.RoleSetAt,
	}).Scan(&d.ID)
	if err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	if err := replaceChunks(ctx, tx, *d, chunks); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "merge index entries", mergeEntriesSQL)
}

const deleteDocumentSQL = "delete from documents where id = $1"

// RemoveDocument deletes a document with its chunks and takes its words out of the counts. row.ErrNotFound when it is not there.
func RemoveDocument(ctx context.Context, tx row.Tx, origin string) error {
	_, found, err := RemoveDocuments(ctx, tx, []string{origin})
	if err == nil && found == 0 {
		err = row.ErrNotFound
	}
	return err
}

const documentsByOriginsSQL = "select id, chunks from documents where origin = any ($1) order by id"

const deleteDocumentsSQL = "delete from documents where id = any ($1)"

// RemoveDocuments is RemoveDocument for several. It returns how many chunks and documents there were.
func RemoveDocuments(ctx context.Context, tx row.Tx, origins []string) (chunks, found int, err error) {
	if err := lockAll(ctx, tx); err != nil {
		return 0, 0, err
	}
	type doc struct {
		ID     row.DocumentID
		Chunks int
	}
	docs, err := row.All[doc](ctx, tx, "documents", documentsByOriginsSQL, origins)
	if err != nil || len(docs) == 0 {
		return 0, 0, err
	}
	ids := make([]row.DocumentID, len(docs))
	for i, d := range docs {
		ids[i], chunks = d.ID, chunks+d.Chunks
	}
	if err := uncount(ctx, tx, ids...); err != nil {
		return 0, 0, err
	}
	return chunks, len(docs), row.Exec(ctx, tx, "delete documents", deleteDocumentsSQL, ids)
}
