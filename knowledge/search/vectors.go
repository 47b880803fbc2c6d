package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	// embedTimeout is how long a search waits for the embedding of its query. After that it searches by words only.
	embedTimeout = 1500 * time.Millisecond
	// embedPause is how long no embedding is requested after a request failed.
	embedPause = 30 * time.Second
	// maxEmbedBytes is the length at which a query is cut for embedding.
	maxEmbedBytes = 4000
	// minSimilarity is the cosine similarity below which a passage is dropped. With the usual models, a lower similarity is chance.
	minSimilarity = 0.3
)

// The rankings by words and by embeddings are merged by reciprocal rank fusion: a rank counts 1 / (rrfK + rank).
const (
	rrfK         = 60
	vectorWeight = 0.7 // weight of the ranking by embeddings, relative to the one by words
	// A passage among the first protectedPlaces by words that covers the whole question is moved down by at most maxDemotion
	// places.
	protectedPlaces = 3
	maxDemotion     = 2
)

// Options configure a Searcher.
type Options struct {
	// Embedder embeds queries, to find passages that express the same in other words. nil disables this.
	Embedder llm.Embedder
	// Observe is told how long each search took; nil disables this.
	Observe func(took time.Duration)
}

// NewWithOptions returns a Searcher with options.
func NewWithOptions(st *store.Store, o Options) *Searcher {
	return &Searcher{st: st, cache: newScopeCache(), vectors: &queryEmbedder{embedder: o.Embedder, now: time.Now}, observe: o.Observe}
}

// queryEmbedder embeds queries. After an error it makes no calls for a while.
type queryEmbedder struct {
	embedder llm.Embedder
	now      func() time.Time

	mu          sync.Mutex
	pausedUntil time.Time // no request before this time
}

// embed returns the embedding of a query, or nil if there is none in time.
func (m *queryEmbedder) embed(ctx context.Context, q Query) []float32 {
	if m == nil || m.embedder == nil || q.Exhaustive || q.Source != index.Documents || len(words(q.Text, false)) == 0 {
		return nil
	}
	m.mu.Lock()
	paused := m.now().Before(m.pausedUntil)
	m.mu.Unlock()
	if paused {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	vectors, err := m.embedder.Embed(wait, []string{strings.ToValidUTF8(q.Text[:min(len(q.Text), maxEmbedBytes)], "")})
	if err == nil && len(vectors) == 1 {
		return vectors[0]
	}
	if ctx.Err() == nil && !errors.Is(err, llm.ErrNoEmbedder) {
		m.mu.Lock()
		m.pausedUntil = m.now().Add(embedPause)
		m.mu.Unlock()
		zerolog.Ctx(ctx).Warn().Err(err).Str("model", m.embedder.Name()).Msg("Searching by words only")
	}
	return nil
}

// searchHybrid ranks by words and, if the query can be embedded, by embeddings.
func (s *Searcher) searchHybrid(ctx context.Context, db store.Reader, scope policy.Scope, q Query) (Result, error) {
	q = q.withDefaults()
	vector := s.vectors.embed(ctx, q)
	if vector == nil {
		return s.searchWords(ctx, db, scope, q)
	}
	limit := q.Limit
	q.Limit = min(3*limit, maxLimit)
	r, err := s.searchWords(ctx, db, scope, q)
	if err != nil || len(r.Terms) == 0 { // the hits without terms are the newest
		r.Hits = r.Hits[:min(len(r.Hits), limit)]
		return r, err
	}
	near, err := index.SearchVectors(ctx, db, s.vectors.embedder.Name(), vector, q.Kinds, q.Limit)
	if err != nil {
		return Result{}, err
	}
	near = slices.DeleteFunc(near, func(n index.NearestChunk) bool { return !(n.Similarity >= minSimilarity) })
	if r.Hits, err = addNearest(ctx, db, scope, r.Hits, near); err != nil {
		return Result{}, err
	}
	r.Hits = fuse(r.Hits, near)
	r.Hits = r.Hits[:min(len(r.Hits), limit)]
	return r, nil
}

// addNearest appends the passages that were found by embedding only, and sets Hit.Similarity.
func addNearest(ctx context.Context, db store.DB, scope policy.Scope, hits []Hit, near []index.NearestChunk) ([]Hit, error) {
	var ids []int64
	for _, n := range near {
		i := slices.IndexFunc(hits, func(h Hit) bool { return h.Ref == store.ChunkRef(n.ID) })
		if i < 0 {
			ids = append(ids, int64(n.ID))
		} else {
			hits[i].Similarity = n.Similarity
		}
	}
	if len(ids) == 0 {
		return hits, nil
	}
	texts, err := index.ChunkTexts(ctx, db, scope, ids)
	if err != nil {
		return nil, err
	}
	for _, t := range texts {
		h := newHit(index.Documents, t, &scored{})
		h.Similarity = near[slices.IndexFunc(near, func(n index.NearestChunk) bool { return n.ID == store.ChunkID(t.ID) })].Similarity
		hits = append(hits, h)
	}
	return hits, nil
}

// fuse sorts hits, which are ranked by words, by both rankings.
func fuse(hits []Hit, near []index.NearestChunk) []Hit {
	value := make(map[store.Ref]float64, len(hits))
	for i, h := range hits {
		if h.Score > 0 {
			value[h.Ref] = 1 / float64(rrfK+i+1)
		}
	}
	for i, n := range near {
		value[store.ChunkRef(n.ID)] += vectorWeight / float64(rrfK+i+1)
	}
	fused := slices.Clone(hits)
	slices.SortStableFunc(fused, func(a, b Hit) int { return cmp.Compare(value[b.Ref], value[a.Ref]) })
	for i, h := range hits[:min(len(hits), protectedPlaces)] {
		at := slices.IndexFunc(fused, func(f Hit) bool { return f.Ref == h.Ref })
		if to := i + maxDemotion; h.Coverage > 0.999 && at > to {
			fused = slices.Insert(slices.Delete(fused, at, at+1), to, h)
		}
	}
	return fused
}
