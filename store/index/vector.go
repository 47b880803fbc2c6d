package index

import (
	"context"
	"fmt"

	"github.com/pgvector/pgvector-go"

	"multis/policy"
	"multis/store/row"
)

const hasVectorsSQL = "select to_regclass('public.chunk_vectors') is not null"

// HasVectors reports whether the database has pgvector, which searching by meaning needs.
func HasVectors(ctx context.Context, db row.DB) (bool, error) {
	var has bool
	if err := db.QueryRow(ctx, hasVectorsSQL).Scan(&has); err != nil {
		return false, fmt.Errorf("look for pgvector: %w", err)
	}
	return has, nil
}

const useVectorModelSQL = "select use_vector_model($1, $2)"

// UseVectorModel selects the model whose vectors are searched, and returns whether another one was selected before. The vectors of the
// other model are ignored, and replaced as chunks are embedded again.
func UseVectorModel(ctx context.Context, tx row.Tx, model string, dimensions int) (bool, error) {
	var changed bool
	if err := tx.QueryRow(ctx, useVectorModelSQL, model, dimensions).Scan(&changed); err != nil {
		return false, fmt.Errorf("use another model for vectors: %w", err)
	}
	return changed, nil
}

// UnembeddedChunk is a chunk that has no vector yet.
type UnembeddedChunk struct {
	ID      row.ChunkID
	Role    policy.Role
	Kind    Kind
	Title   string
	Section string
	Content string
}

const unembeddedChunksSQL = `select c.id, c.role, c.kind, c.title, c.section, c.content from chunks c
	where c.id > case when $2::bigint >= 0 then $2 else coalesce((select done_to from vector_models where model = $1), 0) end
		and not exists (select from chunk_vectors v where v.chunk_id = c.id and v.model = $1) order by c.id limit $3`

// AfterLast as the argument after of UnembeddedChunks means after the last chunk that PutVectors has stored.
const AfterLast = -1

// UnembeddedChunks returns the next chunks of all roles without a vector of a model, in the order of their ids: those after a chunk, or
// AfterLast. It needs the scope of all roles, as in Store.ReadAll.
func UnembeddedChunks(ctx context.Context, tx row.Tx, model string, after row.ChunkID, limit int) ([]UnembeddedChunk, error) {
	return row.All[UnembeddedChunk](ctx, tx, "chunks without a vector", unembeddedChunksSQL, model, after, limit)
}

// putVectorsSQL skips chunks that were deleted meanwhile.
const putVectorsSQL = `insert into chunk_vectors (chunk_id, role, kind, model, e)
	select n.id, n.role, n.kind, $5, to_vector(n.e) from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) n(id, role, kind, e)
	where exists (select from chunk_index i where i.id = n.id) order by n.id
	on conflict (chunk_id) do update set model = excluded.model, e = excluded.e`

const setEmbeddedToSQL = "update vector_models set done_to = greatest(done_to, $2) where model = $1"

// PutVectors stores the vectors of chunks, which are in the order of their ids. A nil vector means that the chunk cannot be embedded.
// Afterwards AfterLast starts after the last of the chunks.
func PutVectors(ctx context.Context, tx row.Tx, model string, chunks []UnembeddedChunk, vectors [][]float32) error {
	if len(chunks) == 0 {
		return nil
	}
	var given []UnembeddedChunk
	var texts []string
	for i, c := range chunks {
		if vectors[i] != nil {
			given, texts = append(given, c), append(texts, pgvector.NewHalfVector(vectors[i]).String())
		}
	}
	err := row.Exec(ctx, tx, "write vectors", putVectorsSQL, row.Column(given, func(c UnembeddedChunk) row.ChunkID {
		return c.ID
	}), row.Column(given, func(c UnembeddedChunk) policy.Role { return c.Role }),
		row.Column(given, func(c UnembeddedChunk) Kind { return c.Kind }), texts, model)
	if err != nil {
		return err
	}
	return row.Exec(ctx, tx, "store how far chunks are embedded", setEmbeddedToSQL, model, chunks[len(chunks)-1].ID)
}

// NearestChunk is a chunk with its similarity to a vector.
type NearestChunk struct {
	ID         row.ChunkID
	Similarity float64 // up to 1
}

const searchVectorsSQL = "select id, similarity from search_vectors($1, $2, $3, $4)"

// SearchVectors returns the chunks of some kinds that are nearest to a vector and that the transaction's scope may see, the nearest first.
// It returns none if another model is in use. A transaction without a scope is an error.
func SearchVectors(ctx context.Context, db row.DB, model string, vector []float32, kinds []Kind, limit int) ([]NearestChunk, error) {
	return row.All[NearestChunk](ctx, db, "nearest chunks", searchVectorsSQL, model, pgvector.NewHalfVector(vector).String(), kinds, limit)
}

// VectorCount counts the chunks, and those that can be found by meaning.
type VectorCount struct {
	Embedded int64 // those with a vector of the model in use
	Chunks   int64
}

const countVectorsSQL = `select (select count(*) from chunk_vectors v join vector_models m on m.model = v.model), (select chunks from corpus_stats where role = '*')`

// CountVectors counts the chunks of all chats, for the owner only. The database must have pgvector.
func CountVectors(ctx context.Context, db row.DB) (VectorCount, error) {
	var c VectorCount
	if err := db.QueryRow(ctx, countVectorsSQL).Scan(&c.Embedded, &c.Chunks); err != nil {
		return VectorCount{}, fmt.Errorf("count vectors: %w", err)
	}
	return c, nil
}
