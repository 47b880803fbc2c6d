package search

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/index"
)

// rankedHits returns hits in the order of the ranking by words. The hits with an id in sure contain every word of the question.
func rankedHits(sure []int64, ids ...int64) []Hit {
	hits := make([]Hit, len(ids))
	for i, id := range ids {
		hits[i] = Hit{Ref: store.ChunkRef(store.ChunkID(id)), Score: float64(100 - i)}
		if slices.Contains(sure, id) {
			hits[i].Coverage = 1
		}
	}
	return hits
}

func nearby(ids ...int64) []index.NearestChunk {
	near := make([]index.NearestChunk, len(ids))
	for i, id := range ids {
		near[i] = index.NearestChunk{ID: store.ChunkID(id), Similarity: 0.9}
	}
	return near
}

func orderOf(hits []Hit) []int64 {
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.Ref.ID
	}
	return ids
}

func TestFuse_MergesRankings(t *testing.T) {
	t.Parallel()
	meant := Hit{Ref: store.ChunkRef(9)} // found by meaning alone
	many := make([]int64, 40)
	for i := range many {
		many[i] = int64(100 + i)
	}
	for name, c := range map[string]struct {
		hits []Hit
		near []index.NearestChunk
		want []int64
	}{
		"words alone":                      {rankedHits(nil, 1, 2, 3), nil, []int64{1, 2, 3}},
		"meaning alone":                    {[]Hit{{Ref: store.ChunkRef(5)}, {Ref: store.ChunkRef(4)}}, nearby(4, 5), []int64{4, 5}},
		"what both find comes first":       {rankedHits(nil, 1, 2, 3), nearby(3), []int64{3, 1, 2}},
		"words are surer":                  {append(rankedHits(nil, 1), meant), nearby(9), []int64{1, 9}},
		"but meaning beats a distant word": {append(rankedHits(nil, many...), meant), nearby(9), append(slices.Clone(many[:27]), 9)},
		"every word of the question goes two places down at the most": {
			rankedHits([]int64{1}, 1, 2, 3, 4, 5), nearby(5, 4, 3, 2),
			[]int64{2, 3, 1, 4, 5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := orderOf(fuse(c.hits, c.near))
			require.Len(t, got, len(c.hits), "nothing is lost and nothing doubled")
			require.Equal(t, c.want, got[:len(c.want)])
		})
	}
}
