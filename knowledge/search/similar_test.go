package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store/index"
	"multis/store/storetest"
)

func TestSimilarity_EqualsPgTrgm(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	words := []string{
		"conservatory", "conservatori", "observatory", "o'neil", "x86_64", "greatest", "greater", "aaaaa", "aaaaaa", "2024",
		"wi-fi-router", "ंंंंं",
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, word := range slices.Clone(words) {
		letters := []rune(word)
		i, j := r.IntN(len(letters)), r.IntN(len(letters))
		letters[i], letters[j] = letters[j], letters[i]
		words = append(words, string(letters), string(letters[1:]))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	v := newVocabulary(words)
	near := 0
	for _, asked := range words {
		rows, err := st.DB().Query(t.Context(),
			"select w, similarity(w, $1)::float8 from unnest($2::text[]) w where similarity(w, $1) >= 0.4 and abs(length(w) - length($1)) <= 2 order by w", asked, words)
		require.NoError(t, err)
		var want []similarWord
		for rows.Next() {
			var a similarWord
			require.NoError(t, rows.Scan(&a.word, &a.similarity))
			want = append(want, a)
		}
		require.NoError(t, rows.Err())
		got := v.similar(asked)
		slices.SortFunc(got, func(a, b similarWord) int { return cmp.Compare(a.word, b.word) })
		require.Len(t, got, len(want), asked)
		for i := range got {
			require.Equal(t, want[i].word, got[i].word, asked)
			require.InDelta(t, want[i].similarity, got[i].similarity, 1e-6, "%s and %s", asked, got[i].word)
		}
		near += len(want) - 1
	}
	require.Greater(t, near, 20)

	// Cyrillic is compared with fixed values, because pg_trgm in a database with the locale C knows only English letters.
	require.Equal(t, []similarWord{{"завтраки", 0.7}}, newVocabulary([]string{"завтраки", "автобус"}).similar("завтрак"))
}

func TestCorrect_WordInQueryCountsFull(t *testing.T) {
	t.Parallel()
	corpus := index.Corpus{StatsChunks: 50}
	asked := index.Term{Word: "conservatory", Lexeme: "conservatori", Chunks: 1}
	correction := index.Term{Word: "conservatroy", Lexeme: "conservatori", Chunks: 1, Correction: true}
	alone := mergeTerms([]index.Term{asked}, []string{"conservatory"}, corpus)[0]
	for _, found := range [][]index.Term{{asked, correction}, {correction, asked}} {
		term := mergeTerms(found, []string{"conservatroy", "conservatory"}, corpus)[0]
		require.False(t, term.Correction)
		require.InDelta(t, alone.IDF, term.IDF, 0)
		require.Equal(t, alone.class, term.class)
		require.Equal(t, 2, term.Count)
	}
}

func TestPruneRanked_KeepsPossibleTop(t *testing.T) {
	t.Parallel()
	var ranked []*scored
	for _, score := range []float64{12, 10, 9.95, 9.91, 9, 1} {
		ranked = append(ranked, &scored{score: score, neighbours: neighbourhood{neighbourReach: {Frequencies: []int16{1, 1, 0}}}})
	}
	words := cues{terms: []Term{{IDF: 5}, {IDF: 5}, {IDF: 5}}, pairs: []pair{{{0}, {2, 1}}}}
	require.Len(t, pruneRanked(ranked, 2, cues{}), 4, "its use may raise it by a hundredth")
	require.Len(t, pruneRanked(ranked, 2, words), 5, "two words that stand together, too")
	words.pairs[0][1] = []int{2}
	require.Len(t, pruneRanked(ranked, 2, words), 4, "but not where one of them does not stand")
	require.Len(t, pruneRanked(ranked, 2, cues{asksWhen: true}), 5)
	require.Len(t, pruneRanked(ranked, 6, cues{}), 6)
	require.Empty(t, pruneRanked(nil, 2, cues{}))
}
