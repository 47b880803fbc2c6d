package search

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestSplitSearch_EqualsOneConnection(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	texts := []string{"ladder harbour", "ladder garden", "harbour garden", "ladder harbour garden", "needle"}
	for _, role := range []policy.Role{policy.RolePublic, policy.UserRole(1), policy.UserRole(2)} {
		chunks := make([]index.Chunk, len(texts))
		for i, text := range texts {
			chunks[i] = index.Chunk{
				Key:        fmt.Sprint(role, i),
				Ord:        10 * i,
				Content:    text,
				SearchText: IndexText("", "", text),
				Language:   "english",
			}
		}
		require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(1, 2), func(tx store.Tx) error {
			_, err := index.ReplaceDocument(t.Context(), tx, index.Document{
				Origin: string(role),
				Name:   "d",
				Role:   role,
				Kind:   index.KindKnowledge,
				Format: "txt",
				Hash:   "1",
			}, chunks)
			return err
		}))
	}
	db, err := st.ContactReader(policy.ContactScope(1))
	require.NoError(t, err)

	whole := index.PassageQuery{
		ContactTerms: "'ladder'|'harbour'|'garden'", Terms: []string{"'ladder'", "'harbour'", "'garden'"}, Weights: []float64{1, 1, 1},
		AverageWords: 32,
		Kinds:        []index.Kind{index.KindKnowledge}, MaxCandidates: 100, EnoughPlanned: 100,
	}
	whole.PlannedSets = [][]string{{"'ladder'", "'harbour'"}, {"'garden'"}}
	halves := []index.PassageQuery{whole, whole}
	halves[0].PlannedSets, halves[0].ContactTerms = whole.PlannedSets[:1], ""
	halves[1].PlannedSets = whole.PlannedSets[1:]
	one, err := fetchPassages(t.Context(), db, []index.PassageQuery{whole})
	require.NoError(t, err)
	two, err := fetchPassages(t.Context(), db, halves)
	require.NoError(t, err)
	slices.SortFunc(one, func(a, b index.Passage) int { return cmp.Compare(a.ID, b.ID) })
	require.Len(t, one, 4+4, "of what is public and of the caller's own")
	require.Equal(t, one, two)

	halves[0].Terms = nil
	_, err = fetchPassages(t.Context(), db, halves)
	require.ErrorContains(t, err, "terms", "what goes wrong with one part is told")
}

func TestPlan_BestSetsFirst(t *testing.T) {
	t.Parallel()
	terms := []Term{
		{Lexeme: "ladder", Chunks: 9000, ChunksAtLeast: []int64{2000, 300, 20}, IDF: 4.7, Count: 1},
		{Lexeme: "harbour", Chunks: 30_000, ChunksAtLeast: []int64{9000, 900, 40}, IDF: 3.5, Count: 1},
		{Lexeme: "garden", Chunks: 80_000, ChunksAtLeast: []int64{20_000, 4000, 500}, IDF: 2.5, Count: 1},
		{Lexeme: "stone", Chunks: 100_000, ChunksAtLeast: []int64{40_000, 8000, 900}, IDF: 2.3, Count: 1},
	}
	sets := planSets(terms, 1_000_000, 1_000_000, candidateBudget)
	parts := splitSets(sets)
	require.Len(t, parts, 2)
	for _, list := range append(parts, sets) {
		require.Greater(t, len(list), 1)
		require.True(t, slices.IsSortedFunc(list, bestFirst), "%v", list)
	}
}
