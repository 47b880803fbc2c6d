package index

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"multis/policy"
	"multis/store/row"
)

const hasVectorsSQL = "select to_regclass('public.chunk_vectors') is not null"

// HasVectors tells whether the database can search by meaning: whether pgvector is there.
func HasVectors(ctx context.Context, db row.DB) (bool, error) {
	var has bool
	if err := db.QueryRow(ctx, hasVectorsSQL).Scan(&has); err != nil {
		return false, fmt.Errorf("look for pgvector: %w", err)
	}
	return has, nil
}

const useVectorModelSQL = "select use_vector_model($1, $2)"

// UseVectorModel makes a model the one whose vectors are searched, and tells whether it was another. Vectors of another are
// not looked at any more and are replaced as chunks get vectors of this one.
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

const bareChunksSQL = `select c.id, c.role, c.kind, c.title, c.section, c.content from chunks c
	where c.id > case when $2::bigint >= 0 then $2 else coalesce((select done_to from vector_models where model = $1), 0) end
		and not exists (select from chunk_vectors v where v.chunk_id = c.id and v.model = $1) order by c.id limit $3`

// AfterLast stands for after and means those chunks that were not looked at yet.
const AfterLast = -1

// UnembeddedChunks reads, of all chats and in order of id, the next chunks without a vector of a model: those after one, or AfterLast. It needs the
// scope of all roles, as in Store.ReadAll.
func UnembeddedChunks(ctx context.Context, tx row.Tx, model string, after row.ChunkID, limit int) ([]UnembeddedChunk, error) {
	return row.All[UnembeddedChunk](ctx, tx, "chunks without a vector", bareChunksSQL, model, after, limit)
}

// A chunk that was deleted meanwhile needs no vector.
const putVectorsSQL = `insert into chunk_vectors (chunk_id, role, kind, model, e)
	select n.id, n.role, n.kind, $5, n.e::halfvec from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) n(id, role, kind, e)
	where exists (select from chunk_index i where i.id = n.id) order by n.id
	on conflict (chunk_id) do update set model = excluded.model, e = excluded.e`

const passedChunksSQL = "update vector_models set done_to = greatest(done_to, $2) where model = $1"

// PutVectors gives chunks, in order of id, their vectors; one that is nil can have none. Chunks up to the last of them have
// been looked at then.
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
	err := row.Exec(ctx, tx, "write vectors", putVectorsSQL, row.Column(given, func(c UnembeddedChunk) row.ChunkID { return c.ID }), row.Column(given, func(c UnembeddedChunk) policy.Role { return c.Role }),
		row.Column(given, func(c UnembeddedChunk) Kind { return c.Kind }), texts, model)
	if err != nil {
		return err
	}
	return row.Exec(ctx, tx, "note which chunks have vectors", passedChunksSQL, model, chunks[len(chunks)-1].ID)
}

// NearestChunk is a chunk that means much the same.
type NearestChunk struct {
	ID         row.ChunkID
	Similarity float64 // up to 1
}

const searchVectorsSQL = "select id, similarity from search_vectors($1, $2, $3, $4)"

// SearchVectors finds the chunks of the given kinds that are nearest to a vector in what the transaction's scope may see, the
// nearest first. It finds nothing when another model is in use. A transaction without a scope is an error.
func SearchVectors(ctx context.Context, db row.DB, model string, vector []float32, kinds []Kind, limit int) ([]NearestChunk, error) {
	rows, err := db.Query(ctx, searchVectorsSQL, model, pgvector.NewHalfVector(vector).String(), kinds, limit)
	if err != nil {
		return nil, fmt.Errorf("search by meaning: %w", err)
	}
	near, err := pgx.CollectRows(rows, pgx.RowToStructByPos[NearestChunk])
	if err != nil {
		return nil, fmt.Errorf("search by meaning: %w", err)
	}
	return near, nil
}

// VectorCount says how many passages can be found by meaning.
type VectorCount struct {
	Embedded int64 // a vector of the model in use
	Chunks   int64
}

const countVectorsSQL = `select (select count(*) from chunk_vectors v join vector_models m on m.model = v.model), (select chunks from corpus_stats where role = '*')`

// CountVectors counts, over all chats. It is only for the owner. There must be vectors in the database.
func CountVectors(ctx context.Context, db row.DB) (VectorCount, error) {
	var c VectorCount
	if err := db.QueryRow(ctx, countVectorsSQL).Scan(&c.Embedded, &c.Chunks); err != nil {
		return VectorCount{}, fmt.Errorf("count vectors: %w", err)
	}
	return c, nil
}
