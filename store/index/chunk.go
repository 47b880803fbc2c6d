// Package index holds the SQL of the search index: documents with their chunks, the message index, the counts that ranking needs, and
// vectors. Package store imports it, because a deletion also removes rows of the index.
package index

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/internal/language"
	"multis/policy"
	"multis/store/row"
)

// Chunk is a passage of a document, as it is written to the index.
type Chunk struct {
	Key        string // unique over all chunks; the same key keeps the chunk's id and accesses
	Ord        int    // place in the document
	Section    string // headings above it; empty if none
	LineFrom   int    // first line, from 1; 0 if the source has no lines
	LineTo     int
	PageFrom   int // first page, from 1; 0 if the source has no pages
	PageTo     int
	Content    string
	SearchText string            // what is searched: title, section and content as normalized words
	Language   language.Language // for the stems of the words; detected from Content if unknown
	Author     string            // its author, as normalized words; empty for documents
	IsQuestion bool
	// Usage replaces the recorded accesses of a chunk that was imported from another program. The zero value keeps them.
	Usage Usage
}

// Usage is the number of accesses to a chunk, with their times.
type Usage struct {
	Count  int
	First  time.Time
	Newest []time.Time // the newest first, 8 at most
}

// chunkBatch is the number of chunks that one statement writes.
const chunkBatch = 500

// languageSample is the number of chunks from which the language of a document is detected.
const languageSample = 20

const deleteOtherChunksSQL = "delete from chunks where doc_id = $1 and chunk_key <> all ($2)"

const upsertChunksSQL = `with n as (
		select * from unnest(@keys::text[], @ords::int[], @sections::text[], @line_froms::int[], @line_tos::int[], @page_froms::int[], @page_tos::int[],
			@contents::text[], @words::text[], @configs::text[], @parts::int[], @authors::text[], @questions::boolean[])
			u(key, ord, section, line_from, line_to, page_from, page_to, content, words, config, part, author, is_question)
	), written as (
		insert into chunks (chunk_key, doc_id, ord, role, kind, title, shown_title, section, line_from, line_to, page_from, page_to, content)
		select key, @doc, ord, @role, @kind, @title, @shown, section, line_from, line_to, page_from, page_to, content from n
		on conflict (chunk_key) do update set title = excluded.title, shown_title = excluded.shown_title, section = excluded.section, line_from = excluded.line_from,
			line_to = excluded.line_to, page_from = excluded.page_from, page_to = excluded.page_to, indexed_at = now()
		returning id, chunk_key
	)
	insert into chunk_index (id, doc_id, ord, role, kind, config, part, n_tok, author, is_question, tsv)
	select w.id, @doc, n.ord, @role, @kind, n.config, n.part, e.n_tok, n.author, n.is_question, e.tsv
	from n join written w on w.chunk_key = n.key, index_entry(n.config::regconfig, n.words) e
	on conflict (id) do update set config = excluded.config, part = excluded.part, n_tok = excluded.n_tok, author = excluded.author,
		is_question = excluded.is_question, tsv = excluded.tsv`

const setUsageSQL = `update chunks set access_count = $2, first_accessed = $3, last_accessed = ($4::timestamptz[])[1], recent_accesses = $4,
	activation = activation($2, $3, $4) where chunk_key = $1`

// replaceChunks writes the chunks of a document and deletes all others that it has.
func replaceChunks(ctx context.Context, tx row.Tx, doc Document, chunks []Chunk) error {
	if err := row.Exec(ctx, tx, "delete old chunks", deleteOtherChunksSQL, doc.ID, row.Column(chunks, func(c Chunk) string {
		return c.Key
	})); err != nil {
		return err
	}
	placed := numberSections(chunks)
	for batch := range slices.Chunk(placed, chunkBatch) {
		err := row.Exec(ctx, tx, "write chunks", upsertChunksSQL, pgx.NamedArgs{
			"doc": doc.ID, "role": doc.Role, "kind": doc.Kind, "title": doc.Name, "shown": doc.ShownTitle(),
			"keys":       row.Column(batch, func(c numberedChunk) string { return c.Key }),
			"ords":       row.Column(batch, func(c numberedChunk) int { return c.Ord }),
			"sections":   row.Column(batch, func(c numberedChunk) string { return c.Section }),
			"line_froms": row.Column(batch, func(c numberedChunk) int { return c.LineFrom }),
			"line_tos":   row.Column(batch, func(c numberedChunk) int { return c.LineTo }),
			"page_froms": row.Column(batch, func(c numberedChunk) int { return c.PageFrom }),
			"page_tos":   row.Column(batch, func(c numberedChunk) int { return c.PageTo }),
			"contents":   row.Column(batch, func(c numberedChunk) string { return c.Content }),
			"words":      row.Column(batch, func(c numberedChunk) string { return c.SearchText }),
			"configs":    row.Column(batch, func(c numberedChunk) language.Language { return c.Language }),
			"parts":      row.Column(batch, func(c numberedChunk) int { return c.part }),
			"authors":    row.Column(batch, func(c numberedChunk) string { return c.Author }),
			"questions":  row.Column(batch, func(c numberedChunk) bool { return c.IsQuestion }),
		})
		if err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if c.Usage.Count == 0 {
			continue
		}
		if err := row.Exec(ctx, tx, "store the usage of a chunk", setUsageSQL, c.Key, c.Usage.Count, c.Usage.First, c.Usage.Newest); err != nil {
			return err
		}
	}
	return nil
}

// numberedChunk is a chunk with its section number.
type numberedChunk struct {
	Chunk

	part int // all chunks of one section have the same number
}

// numberSections numbers the sections of a document and detects the unknown languages of its chunks.
func numberSections(chunks []Chunk) []numberedChunk {
	var whole strings.Builder
	for _, c := range chunks[:min(len(chunks), languageSample)] {
		whole.WriteString(c.Content + "\n")
	}
	documentLanguage := language.Guess(whole.String())
	list := make([]numberedChunk, len(chunks))
	part := 0
	for i, c := range chunks {
		if i > 0 && c.Section != chunks[i-1].Section {
			part++
		}
		if c.Language == language.Unknown {
			c.Language = language.DetectPart(c.Content, documentLanguage)
		}
		list[i] = numberedChunk{Chunk: c, part: part}
	}
	return list
}

// ChunkText is a chunk or a message with its text, as it is read and quoted.
type ChunkText struct {
	ID         int64 // of a chunk or a message
	DocID      int64 // of its document, or its chat
	Ord        int
	Role       policy.Role
	Kind       Kind
	Title      string // the document's name
	ShownTitle string // the document's title for customers; empty for its name
	Section    string
	LineFrom   int
	LineTo     int
	PageFrom   int
	PageTo     int
	Content    string
	IndexedAt  time.Time
	Activation float64 // grows with the number and recency of its accesses; 0 if never accessed
}

const chunkTextSQL = `select id, doc_id, ord, role, kind, title, shown_title, section, line_from, line_to, page_from, page_to, content, indexed_at,
	case when access_count = 0 then 0 else activation(access_count, first_accessed, recent_accesses) end as activation from `

// The owner's scope may have thousands of roles. The subquery makes Postgres hash them, and keeps the planner from estimating each of them.
const chunkTextsByIDSQL = chunkTextSQL + "chunks where coalesce(role in (select unnest($1::text[])), false) and id = any ($2)"

// ChunkTexts returns the texts of the given chunks that scope may see, in no particular order.
func ChunkTexts(ctx context.Context, db row.DB, scope policy.Scope, ids []int64) ([]ChunkText, error) {
	return row.All[ChunkText](ctx, db, "chunks", chunkTextsByIDSQL, scope.Roles(), ids)
}

const chunksOfDocumentSQL = chunkTextSQL + "chunks where coalesce(role in (select unnest($1::text[])), false) and doc_id = $2 order by ord limit $3"

// ChunksOfDocument returns the first chunks of a document, in their order, if scope may see them.
func ChunksOfDocument(ctx context.Context, db row.DB, scope policy.Scope, document row.DocumentID, limit int) ([]ChunkText, error) {
	return row.All[ChunkText](ctx, db, "chunks", chunksOfDocumentSQL, scope.Roles(), document, limit)
}

// PublicChunks returns the chunks of ids that belong to public documents. It limits the rest of the transaction to public texts.
func PublicChunks(ctx context.Context, tx row.Tx, ids []row.ChunkID) ([]ChunkText, error) {
	if err := row.SetScope(ctx, tx, policy.PublicScope()); err != nil {
		return nil, err
	}
	found, err := ChunkTexts(ctx, tx, policy.PublicScope(), row.Column(ids, func(id row.ChunkID) int64 { return int64(id) }))
	return slices.DeleteFunc(found, func(c ChunkText) bool { return c.Kind != KindKnowledge }), err
}

const publicChunkWithSQL = chunkTextSQL +
	"chunks where doc_id = $1 and role = 'public' and kind = 'kb' and position($2 in content) > 0 order by ord limit 1"

// PublicChunkWith returns the first chunk of a public document that contains a text word for word, or row.ErrNotFound.
func PublicChunkWith(ctx context.Context, db row.DB, document row.DocumentID, text string) (ChunkText, error) {
	return row.One[ChunkText](ctx, db, "chunk with a text", publicChunkWithSQL, document, text)
}

// recentChunksSQL reads the newest chunk of each role and kind first, and further chunks only of the newest of these,
// because a scope may have thousands of roles.
const recentChunksSQL = chunkTextSQL + `(
		select r, k from unnest($1::text[]) r, unnest($2::text[]) k,
			lateral (select indexed_at, doc_id from chunks where role = r and kind = k order by indexed_at desc, doc_id desc, ord limit 1) c
		order by indexed_at desc, doc_id desc limit $3
	) n, lateral (select * from chunks where role = n.r and kind = n.k order by indexed_at desc, doc_id desc, ord limit $3) c
	order by indexed_at desc, doc_id desc, ord limit $3`

// ownersRecentChunksSQL finds the newest documents first, because there are fewer of them than of chunks, and the owner
// may read them. All chunks of a document are equally old.
const ownersRecentChunksSQL = chunkTextSQL + `(
		select id as newest from documents where role in (select unnest($1::text[])) and kind = any ($2) and chunks > 0 order by indexed_at desc, id desc limit $3
	) d, lateral (select * from chunks where doc_id = newest order by ord limit $3) c
	order by indexed_at desc, doc_id desc, ord limit $3`

// RecentChunks returns the chunks of some kinds that were indexed last, the newest first.
func RecentChunks(ctx context.Context, db row.DB, scope policy.Scope, kinds []Kind, limit int) ([]ChunkText, error) {
	if scope.Allows(policy.RoleAdmin) {
		return row.All[ChunkText](ctx, db, "chunks", ownersRecentChunksSQL, scope.Roles(), kinds, limit)
	}
	return row.All[ChunkText](ctx, db, "chunks", recentChunksSQL, scope.Roles(), kinds, limit)
}

// recordAccessSQL locks the chunks in the order of their ids, so that two answers that used the same chunks cannot deadlock.
const recordAccessSQL = `with locked as (select id from chunks where id = any ($2) and role = any ($1) order by id for update)
	update chunks c set access_count = access_count + 1, first_accessed = coalesce(first_accessed, now()), last_accessed = now(),
		recent_accesses = (now() || recent_accesses)[1:8],
		activation = activation(access_count + 1, coalesce(first_accessed, now()), (now() || recent_accesses)[1:8]) from locked l where c.id = l.id`

// RecordAccess stores that chunks were used now. It ignores chunks that scope may not see.
func RecordAccess(ctx context.Context, w row.Writer, scope policy.Scope, ids []row.ChunkID) error {
	return row.Exec(ctx, w, "record access", recordAccessSQL, scope.Roles(), ids)
}
