package index

import (
	"cmp"
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

// Document is an indexed file or page, or what was remembered of one chat.
type Document struct {
	ID        row.DocumentID
	Origin    string // unique: a path, an address, or the name
	Name      string
	Role      policy.Role
	Kind      Kind
	Format    string `db:"element"` // md, txt, chat
	Size      int64  // bytes of the source
	Hash      string // hash of the source; a document with the same hash need not be indexed again
	Chunks    int
	IndexedAt time.Time
	// Validator is the ETag or modification time of the indexed version of a page; empty for files and for pages without one.
	Validator string
	// RoleSetAt is when the role was set. If a document is written again with another role, the role that was set later counts.
	RoleSetAt  time.Time
	Title      string // its own title for people; empty if it has none
	GivenTitle string // the title that the owner gave it; empty for none
	// Notes says what of the source was not read, such as hidden text, or may be wrong; a sentence each.
	Notes []string
	// FoundInBulk is true for a document that was found in a folder or by a pattern, not named by itself. It is not stored.
	FoundInBulk bool `db:"-"`
}

// KeepsRole reports whether d keeps its role although its replacement has another one. It does so if its role was set later, or if it is
// private and the replacement was found in bulk.
func (d *Document) KeepsRole(replacement Document) bool {
	return d.Role != replacement.Role && (d.RoleSetAt.After(replacement.RoleSetAt) || replacement.FoundInBulk && d.Role == policy.RoleAdmin)
}

// ShownTitle returns the title by which customers know the document; empty if that is its name.
func (d *Document) ShownTitle() string { return cmp.Or(d.GivenTitle, d.Title) }

const documentColumns = "id, origin, name, role, kind, element, size, hash, chunks, indexed_at, validator, role_set_at, title, given_title, notes"

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

const documentByIDSQL = "select " + documentColumns + " from documents where id = $1"

// DocumentByID returns one document, or row.ErrNotFound.
func DocumentByID(ctx context.Context, db row.DB, document row.DocumentID) (Document, error) {
	return row.One[Document](ctx, db, "document", documentByIDSQL, document)
}

const biggestDocumentsSQL = "select " + documentColumns +
	" from documents where kind = 'kb' and role = any ($1) order by chunks desc, size desc, origin limit $2"

const privateDocumentsOfSizeSQL = "select " + documentColumns +
	" from documents where kind = 'kb' and role = 'admin' and size = $1 order by id"

// PrivateDocumentsOfSize returns the owner's private documents with a size in bytes.
func PrivateDocumentsOfSize(ctx context.Context, db row.DB, size int64) ([]Document, error) {
	return documents(ctx, db, privateDocumentsOfSizeSQL, size)
}

const documentsByNameSQL = "select " + documentColumns +
	" from documents where kind = 'kb' and (name = $1 or origin = $1) order by origin limit $2"

// DocumentsByName returns the files and pages with a name or an origin.
func DocumentsByName(ctx context.Context, db row.DB, name string, limit int) ([]Document, error) {
	return documents(ctx, db, documentsByNameSQL, name, limit)
}

// BiggestDocuments returns the files and pages that scope may see, those with the most chunks first.
func BiggestDocuments(ctx context.Context, db row.DB, scope policy.Scope, limit int) ([]Document, error) {
	return documents(ctx, db, biggestDocumentsSQL, scope.Roles(), limit)
}

func documents(ctx context.Context, db row.DB, sql string, args ...any) ([]Document, error) {
	return row.All[Document](ctx, db, "documents", sql, args...)
}

// DocumentGroup counts the documents of one kind, format and role.
type DocumentGroup struct {
	Kind        Kind
	Format      string `db:"element"`
	Role        policy.Role
	Documents   int
	Chunks      int
	LastIndexed time.Time
}

const documentGroupsSQL = `select kind, element, role, count(*) as documents, sum(chunks) as chunks, max(indexed_at) as last_indexed from documents where role = any ($1)
	group by kind, element, role order by kind desc, role desc, element`

// DocumentGroups counts the documents that scope may see.
func DocumentGroups(ctx context.Context, db row.DB, scope policy.Scope) ([]DocumentGroup, error) {
	return row.All[DocumentGroup](ctx, db, "documents", documentGroupsSQL, scope.Roles())
}

// All writers of the search tables change the sizes, so they take turns by locking the row of '*'. A writer that changes the word counts
// takes an advisory lock first. Writers that only add documents do not wait for that lock.
const (
	lockCorpusSQL = "select from corpus_stats where role = '*' for update"
	lockCountsSQL = "select pg_advisory_xact_lock('term_stats'::regclass::int)"
)

func lockCorpus(ctx context.Context, tx row.Tx) error {
	return row.Exec(ctx, tx, "lock the sizes", lockCorpusSQL)
}

// lockCounts locks the word counts and the sizes, for a transaction that removes words from the counts.
func lockCounts(ctx context.Context, tx row.Tx) error {
	if err := row.Exec(ctx, tx, "lock the word counts", lockCountsSQL); err != nil {
		return err
	}
	return lockCorpus(ctx, tx)
}

// lockWritingSQL takes the lock that each writer of a document holds, so that mergeEntriesSQL can tell whether others are writing.
const lockWritingSQL = "select pg_advisory_xact_lock_shared('documents'::regclass::int)"

// mergeEntriesSQL merges the pending list of the text index, to which new entries go. Postgres does it when the list
// reaches 1 MB, and the last of several concurrent writers does it here. This takes a third of the time of single
// entries, and few searches have to read the list.
const mergeEntriesSQL = `select gin_clean_pending_list('chunk_index_tsv'), gin_clean_pending_list('chunk_index_tsv_public')
	where not exists (select from pg_locks where locktype = 'advisory' and objid = 'documents'::regclass and pid <> pg_backend_pid()
		and database = (select oid from pg_database where datname = current_database()))`

const newDocumentSQL = `insert into documents (origin, name, role, kind, element, size, hash, chunks, validator, role_set_at, title, given_title, notes)
	values (@origin, @name, @role, @kind, @element, @size, @hash, @chunks, @validator, @said, @title, @given, @notes)
	on conflict (origin) do `

const insertDocumentSQL = newDocumentSQL + "nothing returning id"

const upsertDocumentSQL = newDocumentSQL +
	`update set name = excluded.name, kind = excluded.kind, element = excluded.element, size = excluded.size,
		hash = excluded.hash, chunks = excluded.chunks, validator = excluded.validator, indexed_at = now(), title = excluded.title, notes = excluded.notes,
		role_set_at = greatest(documents.role_set_at, excluded.role_set_at)
	returning id`

// ErrRoleKept is returned for a document that keeps another role.
var ErrRoleKept = errors.New("this document keeps another role")

const confirmRoleSQL = "update documents set role_set_at = $2 where origin = $1 and role = $3 and role_set_at < $2"

// ConfirmRole updates RoleSetAt of a document whose role was set again to the same value.
func ConfirmRole(ctx context.Context, w row.Writer, doc Document) error {
	return row.Exec(ctx, w, "confirm a role", confirmRoleSQL, doc.Origin, doc.RoleSetAt, doc.Role)
}

// ReplaceDocument writes a document with its chunks and deletes the chunks that its origin had before. It returns false,
// and changes nothing, if role and hash are unchanged. If the stored document has another role, it is moved to the new
// role; if it must keep its role (KeepsRole), ReplaceDocument returns ErrRoleKept. The transaction's scope must contain
// the document's role.
func ReplaceDocument(ctx context.Context, tx row.Tx, doc Document, chunks []Chunk) (bool, error) {
	if err := lockCounts(ctx, tx); err != nil {
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
		doc.GivenTitle = old.GivenTitle
		if err := uncountDocuments(ctx, tx, old.ID); err != nil {
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
	return true, countDocument(ctx, tx, doc.ID)
}

// lockOriginSQL locks an origin, so that two writers of one document wait for each other before they take further locks.
const lockOriginSQL = "select pg_advisory_xact_lock(hashtextextended($1, 0))"

// AddDocument is ReplaceDocument for a document that is probably new. Several transactions can write such documents
// concurrently, and wait for each other only while they change the corpus sizes. A transaction may write only one such
// document, because two transactions with several documents could deadlock.
func AddDocument(ctx context.Context, tx row.Tx, doc Document, chunks []Chunk) (bool, error) {
	if err := row.Exec(ctx, tx, "lock an origin", lockOriginSQL, doc.Origin); err != nil {
		return false, err
	}
	err := doc.write(ctx, tx, insertDocumentSQL, chunks)
	if errors.Is(err, pgx.ErrNoRows) {
		return ReplaceDocument(ctx, tx, doc, chunks)
	}
	if err != nil {
		return false, err
	}
	return true, countDocument(ctx, tx, doc.ID)
}

// write writes a document by a statement, and its chunks. It returns pgx.ErrNoRows if the statement wrote no row.
func (d *Document) write(ctx context.Context, tx row.Tx, sql string, chunks []Chunk) error {
	if err := row.Exec(ctx, tx, "take the lock of writers", lockWritingSQL); err != nil {
		return err
	}
	err := tx.QueryRow(ctx, sql, pgx.NamedArgs{
		"origin": d.Origin, "name": d.Name, "role": d.Role, "kind": d.Kind, "element": d.Format, "size": d.Size,
		"hash": d.Hash, "chunks": len(chunks), "validator": d.Validator, "said": d.RoleSetAt,
		"title": d.Title, "given": d.GivenTitle, "notes": row.EmptyIfNil(d.Notes),
	}).Scan(&d.ID)
	if err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	if err := replaceChunks(ctx, tx, *d, chunks); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "merge index entries", mergeEntriesSQL)
}

const giveTitleSQL = `with d as (update documents set given_title = @title where origin = @origin and kind = 'kb' returning id, title)
	update chunks c set shown_title = coalesce(nullif(@title, ''), d.title) from d where c.doc_id = d.id`

// GiveTitle sets the title by which customers know a document; an empty one is that of the document itself.
func GiveTitle(ctx context.Context, tx row.Tx, origin, title string) error {
	return withScope(ctx, tx, policy.OwnerScope(), func() error {
		return row.Exec(ctx, tx, "give a title", giveTitleSQL, pgx.NamedArgs{"origin": origin, "title": title})
	})
}

const deleteDocumentSQL = "delete from documents where id = $1"

// RemoveDocument deletes a document with its chunks, and removes its words from the counts. It returns row.ErrNotFound if there is none.
func RemoveDocument(ctx context.Context, tx row.Tx, origin string) error {
	_, found, err := RemoveDocuments(ctx, tx, []string{origin})
	if err == nil && found == 0 {
		err = row.ErrNotFound
	}
	return err
}

const documentsByOriginsSQL = "select id, chunks from documents where origin = any ($1) order by id"

const deleteDocumentsSQL = "delete from documents where id = any ($1)"

// RemoveDocuments is RemoveDocument for several origins. It returns the number of chunks and documents that it deleted.
func RemoveDocuments(ctx context.Context, tx row.Tx, origins []string) (chunks, found int, err error) {
	if err := lockCounts(ctx, tx); err != nil {
		return 0, 0, err
	}
	type doc struct {
		ID     row.DocumentID
		Chunks int
	}
	docs, err := row.All[doc](ctx, tx, "documents", documentsByOriginsSQL, origins)
	if err != nil {
		return 0, 0, err
	}
	if len(docs) == 0 {
		return 0, 0, nil
	}
	ids := make([]row.DocumentID, len(docs))
	for i, d := range docs {
		ids[i], chunks = d.ID, chunks+d.Chunks
	}
	if err := uncountDocuments(ctx, tx, ids...); err != nil {
		return 0, 0, err
	}
	return chunks, len(docs), row.Exec(ctx, tx, "delete documents", deleteDocumentsSQL, ids)
}

const anyForeignSQL = `select exists (select from unnest($1::bigint[]) u(id) left join documents d using (id)
	where d.id is null or d.origin ~* '^(https?://|answers:(public|private)$)')`

// AnyForeign reports whether one of the documents has text that is not the owner's: it was fetched from a web address, or
// was learned from what contacts asked and people answered (package answers). A document that is gone may have been one.
func AnyForeign(ctx context.Context, db row.DB, documents []row.DocumentID) (bool, error) {
	return row.Value[bool](ctx, db, "look where documents are from", anyForeignSQL, documents)
}

const staleOriginsSQL = `select origin from documents where kind = 'kb' and role = 'public' and indexed_at < $2
	and exists (select from unnest($1::text[]) p where starts_with(origin, p)) order by array_position($4::bigint[], id), indexed_at limit $3`

// StaleOrigins returns the origins of public documents that begin with one of the prefixes and were indexed before a
// time: first those of some documents, in their order, then the oldest.
func StaleOrigins(ctx context.Context, db row.DB, prefixes []string, before time.Time, limit int,
	first []row.DocumentID,
) ([]string, error) {
	return row.Values[string](ctx, db, "old pages", staleOriginsSQL, row.EmptyIfNil(prefixes), before, limit, row.EmptyIfNil(first))
}

const originsOutsideSQL = `select origin from documents where kind = 'kb' and role = 'public' and origin ~* '^https?://' and role_set_at = $2
	and not exists (select from unnest($1::text[]) p where starts_with(origin, p)) order by origin`

// OriginsOutside returns the origins of the public web pages that begin with none of the prefixes and that nobody gave
// their role, because they were fetched for such a prefix.
func OriginsOutside(ctx context.Context, db row.DB, prefixes []string) ([]string, error) {
	return row.Values[string](ctx, db, "pages that are no longer allowed", originsOutsideSQL, row.EmptyIfNil(prefixes), time.Time{})
}

const countOriginsSQL = `select count(*) from documents where kind = 'kb' and role = 'public' and exists (select from unnest($1::text[]) p where starts_with(origin, p))`

// CountOrigins counts the public documents whose origins begin with one of the prefixes.
func CountOrigins(ctx context.Context, db row.DB, prefixes []string) (int, error) {
	return row.Value[int](ctx, db, "count pages", countOriginsSQL, row.EmptyIfNil(prefixes))
}

const confirmFetchedSQL = "update documents set indexed_at = now() where origin = $1"

// ConfirmFetched notes that the source of a document was read again and is unchanged.
func ConfirmFetched(ctx context.Context, w row.Writer, origin string) error {
	return row.Exec(ctx, w, "confirm page", confirmFetchedSQL, origin)
}
