package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// putPassages writes public documents of 500 passages each.
func putPassages(t testing.TB, st *store.Store, passages []string) {
	t.Helper()
	for from := 0; from < len(passages); from += 500 {
		texts := passages[from:min(from+500, len(passages))]
		doc := index.Document{
			Origin: fmt.Sprint("d", from),
			Name:   "d",
			Role:   policy.RolePublic,
			Kind:   index.KindKnowledge,
			Format: "txt",
			Hash:   "1",
		}
		chunks := make([]index.Chunk, len(texts))
		for i, text := range texts {
			// Each passage is in a section of its own, so that none is a neighbour of another.
			chunks[i] = index.Chunk{
				Key:        fmt.Sprint(from, "/", i),
				Ord:        i,
				Section:    fmt.Sprint(i),
				Content:    text,
				SearchText: search.IndexText("", "", text),
				Language:   "english",
			}
		}
		require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(), func(tx store.Tx) error {
			_, err := index.ReplaceDocument(t.Context(), tx, doc, chunks)
			return err
		}))
	}
}

func TestPlan_FindsBestOfCommonWords(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	r := rand.New(rand.NewPCG(3, 4))
	passages := make([]string, 5000)
	for i := range passages {
		words := []string{"lantern"} // each passage contains it once
		for range 40 {
			words = append(words, fmt.Sprint("filler", strings.Repeat("x", r.IntN(30))))
		}
		if i%3 == 0 {
			words = append(words, "harbour")
		}
		if i%100 == 0 {
			words = append(words, strings.Split(strings.Repeat("harbour ", 1+r.IntN(6)), " ")...)
		}
		passages[i] = strings.Join(words, " ")
	}
	putPassages(t, st, passages)
	s := search.New(st)
	for _, text := range []string{"harbour", "lantern", "harbour lantern"} {
		planned, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: text})
		require.NoError(t, err)
		exact, err := s.AsOwner(t.Context(), policy.OwnerScope(), search.Query{Text: text, Exhaustive: true})
		require.NoError(t, err)
		require.Len(t, planned.Hits, 10, text)
		for i, h := range exact.Hits {
			require.InDelta(t, h.Score, planned.Hits[i].Score, 1e-9, "%s, hit %d", text, i)
		}
	}
}
