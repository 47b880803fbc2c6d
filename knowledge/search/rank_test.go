package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store/index"
)

func messagePassage(ord int, frequencies ...int16) index.Passage {
	return index.Passage{
		ID:          int64(ord),
		DocID:       1,
		Ord:         ord,
		Kind:        index.KindConversation,
		Words:       10,
		Frequencies: frequencies,
	}
}

func order(ranked []*scored) []int64 {
	var ids []int64
	for _, r := range ranked {
		ids = append(ids, r.id)
	}
	return ids
}

var corpusOfTurns = index.Corpus{StatsChunks: 100, StatsWords: 1000}

func oneTerm() []Term { return []Term{{Lexeme: "paris", Count: 1, Chunks: 2, IDF: idf(2, 100)}} }

func TestScore_IsBM25(t *testing.T) {
	t.Parallel()
	terms := []Term{{Lexeme: "a", Count: 2, Chunks: 5, IDF: idf(5, 100)}}
	p := index.Passage{ID: 1, Words: 80, Frequencies: []int16{3}, Kind: index.KindKnowledge}
	got := rank([]index.Passage{p}, terms, nil, index.Corpus{StatsChunks: 100, StatsWords: 6000})
	want := 2 * math.Log(1+(100-5+0.5)/(5+0.5)) * 3 * 2.2 / (3 + 1.2*(0.25+0.75*80.0/60.0))
	require.InDelta(t, want, got[0].score, 1e-9)
}

func TestNeighbours_AnswerRanksFirst(t *testing.T) {
	t.Parallel()
	asked := messagePassage(10, 1)
	asked.IsQuestion = true
	ranked := rank([]index.Passage{
		messagePassage(8, 0), messagePassage(9, 0), asked, messagePassage(11, 0), messagePassage(12, 0),
		messagePassage(13, 0),
	}, oneTerm(), nil, corpusOfTurns)
	require.Equal(t, []int64{10, 11, 8, 12, 9}, order(ranked), "itself, the answer, the same speaker's, the one before; three away is nothing")
}

func TestNeighbours_CountLessForQuestions(t *testing.T) {
	t.Parallel()
	question := messagePassage(12, 0)
	question.IsQuestion = true
	ranked := rank([]index.Passage{messagePassage(8, 0), messagePassage(10, 1), question}, oneTerm(), nil, corpusOfTurns)
	require.Equal(t, []int64{10, 8, 12}, order(ranked))
}

func TestNeighbours_StayInSection(t *testing.T) {
	t.Parallel()
	a, b := messagePassage(1, 1), messagePassage(2, 0)
	b.Part = 1
	require.Equal(t, []int64{1}, order(rank([]index.Passage{a, b}, oneTerm(), nil, corpusOfTurns)))
}

func TestNeighbours_StayInConversation(t *testing.T) {
	t.Parallel()
	other := messagePassage(2, 0)
	other.DocID = 2
	require.Equal(t, []int64{1}, order(rank([]index.Passage{messagePassage(1, 1), other}, oneTerm(), nil, corpusOfTurns)))
}

func TestRank_AuthorBoost(t *testing.T) {
	t.Parallel()
	a, b := messagePassage(1, 1), messagePassage(9, 1)
	a.Author, b.Author = "bob", "anna smith"
	require.Equal(t, []int64{9, 1}, order(rank([]index.Passage{a, b}, oneTerm(), Words("When did Anna go to Paris?"), corpusOfTurns)))
}

func TestRank_FillerWordsCountLess(t *testing.T) {
	t.Parallel()
	terms := []Term{
		{Lexeme: "show", Count: 1, Chunks: 2, IDF: idf(2, 100), class: filler},
		{Lexeme: "bicycl", Count: 1, Chunks: 2, IDF: idf(2, 100)},
	}
	require.Equal(t, []int64{9, 1}, order(rank([]index.Passage{messagePassage(1, 1, 0), messagePassage(9, 0, 1)}, terms, nil, corpusOfTurns)))
	terms[0].Correction = true // a correction is already discounted, so its class does not matter
	require.Equal(t, []int64{1, 9}, order(rank([]index.Passage{messagePassage(1, 1, 0), messagePassage(9, 0, 1)}, terms, nil, corpusOfTurns)))
}

func TestRank_ActivationBreaksTies(t *testing.T) {
	t.Parallel()
	require.Greater(t, withActivation(1, 0.5), withActivation(1, 0.1))
	require.Less(t, withActivation(0.98, 1e9), withActivation(1, 0), "a better passage stays before one that is used all the time")
	require.InDelta(t, 1, withActivation(1, 0), 0)
}

func TestCoverage_CountsTopicalWords(t *testing.T) {
	t.Parallel()
	has := func(lexemes string) func(int) bool {
		terms := []string{"sell", "bicycl", "today"}
		return func(i int) bool { return strings.Contains(lexemes, terms[i]) }
	}
	terms := []Term{
		{Lexeme: "sell", Chunks: 3, class: filler},
		{Lexeme: "bicycl", class: specific},
		{Lexeme: "today", Chunks: 1, class: light},
	}
	require.Zero(t, coverage(terms, 100, has("sell")), "how it is asked counts nothing")
	require.Less(t, coverage(terms, 100, has("sell today")), 0.3, "an unknown word is the heaviest")
	require.InDelta(t, 1, coverage(terms, 100, has("bicycl today")), 0)
	require.Zero(t, coverage(terms[:1], 100, has("sell")), "a question about nothing is not covered")
}

// termsWithCounts returns terms with the given document frequencies, named by their index.
func termsWithCounts(counts ...int64) []Term {
	terms := make([]Term, len(counts))
	for i, n := range counts {
		terms[i] = Term{Lexeme: fmt.Sprintf("w%d", i), Count: 1, Chunks: n, IDF: idf(n, 1_000_000)}
	}
	return terms
}

// setChunksAtLeast sets in how many passages each term occurs at least two, four and six times.
func setChunksAtLeast(terms []Term, counts ...int64) []Term {
	for i := range terms {
		terms[i].ChunksAtLeast = counts
	}
	return terms
}

func queries(sets []termSet) [][]string {
	list := make([][]string, len(sets))
	for i, s := range sets {
		list[i] = s.queries
	}
	return list
}

func TestPlan_WantsHighCells(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	for _, c := range []struct {
		name  string
		terms []Term
		scope int64
		want  [][]string
	}{
		{"in a small scope every match", termsWithCounts(5, 900), 1000, [][]string{{"'w0'|'w1'"}}},
		{"a rare word is enough", termsWithCounts(50, 400_000), million, [][]string{{"'w0'"}}},
		{"two middling words must stand together", termsWithCounts(20_000, 20_000), million, [][]string{{"'w0'", "'w1'"}}},
		{
			"or one of them twice, the rarest first, if that is enough", setChunksAtLeast(termsWithCounts(30_000, 30_000), 3000, 150, 8), million,
			[][]string{{"'w1²'", "'w0'"}, {"'w0²'", "'w1'"}},
		},
		{"one common word is all there is", termsWithCounts(20_000), million, [][]string{{"'w0'"}}},
		{
			"where it stands often, if that is known", setChunksAtLeast(termsWithCounts(600_000), 90_000, 9_000, 300), million,
			[][]string{{"'w0⁶'"}},
		},
		{"a word that never stands often", setChunksAtLeast(termsWithCounts(600_000), 300, 0, 0), million, [][]string{{"'w0²'"}}},
		{"few rare ones are all taken", termsWithCounts(3, 5, 7), million, [][]string{{"'w0'"}, {"'w1'"}, {"'w2'"}}},
	} {
		require.Equal(t, c.want, queries(planSets(c.terms, c.scope, million, candidateBudget)), c.name)
	}
}

func TestPlan_IsBounded(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	for _, terms := range [][]Term{
		setChunksAtLeast(termsWithCounts(600_000, 600_000, 600_000, 600_000, 600_000, 600_000), 500_000, 400_000, 300_000),
		setChunksAtLeast(termsWithCounts(20_000, 30_000, 40_000, 50_000, 60_000, 70_000), 5000, 500, 50),
		termsWithCounts(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000),
		termsWithCounts(million, million),
		termsWithCounts(300, million, million, million, million, million),
	} {
		sets := planSets(terms, million, million, candidateBudget)
		require.NotEmpty(t, sets)
		require.LessOrEqual(t, len(sets), maxSets)
	}
}

func TestSplitSets_DividesEvenly(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	terms := setChunksAtLeast(termsWithCounts(20_000, 30_000, 40_000, 50_000, 60_000, 70_000), 5000, 500, 50)
	much := planSets(terms, million, million, candidateBudget)
	parts := splitSets(much)
	require.Len(t, parts, 2)
	require.ElementsMatch(t, much, slices.Concat(parts...))
	var work [2]int64
	var biggest int64
	for i, part := range parts {
		for _, s := range part {
			work[i] += s.work
			biggest = max(biggest, s.work)
		}
	}
	require.GreaterOrEqual(t, work[0], work[1])
	require.LessOrEqual(t, work[0]-work[1], biggest)

	for _, sets := range [][]termSet{{{work: 10 * minSplitWork}}, {{work: minSplitWork / 3}, {work: minSplitWork / 3}}} {
		require.Equal(t, [][]termSet{sets}, splitSets(sets), "one set, and little work, are left to one")
	}

	corpus := index.Corpus{PlannedChunks: million, StatsChunks: million, StatsWords: 50 * million}
	require.Len(t, planQueries(terms, corpus, Query{}, candidateBudget, false), 1, "who does not search alone has one connection")
	halves := planQueries(terms, corpus, Query{}, candidateBudget, true)
	require.Len(t, halves, 2)
	require.Empty(t, halves[0].ContactTerms, "the caller's own passages are looked through once")
	require.NotEmpty(t, halves[1].ContactTerms)
}

func TestPlan_LongQuestionsUseMoreTerms(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	require.NotContains(t, queries(planSets(termsWithCounts(1, 2, 3, 4, 5, 6, 7), million, million, candidateBudget)), []string{"'w6'"})
	require.Contains(t, queries(planSets(termsWithCounts(1, 2, 3, 4, 5, 6, 7, 8, 9), million, million, candidateBudget)), []string{"'w8'"})
}

func TestQuery_QuotesLexeme(t *testing.T) {
	t.Parallel()
	require.Equal(t, `'it''s'|'a\\b'`, anyTermQuery([]Term{{Lexeme: "it's"}, {Lexeme: `a\b`}}))
}
