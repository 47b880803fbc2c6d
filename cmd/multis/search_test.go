package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
)

func TestSearch_ExplainPrintsScores(t *testing.T) {
	t.Parallel()
	found := search.Result{
		Terms: []search.Term{{Lexeme: "bread", Chunks: 3, IDF: 1.5}, {Lexeme: "rie", Chunks: 1, IDF: 2, Correction: true}},
		Hits: []search.Hit{{
			Title: "menu.pdf", Section: "Bre\x1bads", PageFrom: 2, PageTo: 3, Role: "public", Language: "english", Score: 3.25,
			Text: "Menu\nRye\nbread " + strings.Repeat("x", 300),
			Why: &search.Explanation{
				Terms:  []search.TermShare{{Lexeme: "bread", Occurrences: 2, Frequency: 2.5, Score: 1.25}},
				Author: 1.6,
				Cues:   1.25,
			},
		}},
	}
	var b strings.Builder
	require.NoError(t, printResult(&b, found, []search.Quote{{Hit: found.Hits[0], Text: found.Hits[0].Text[len("Menu\n"):]}}))
	for _, want := range []string{
		"bread            in 3 passages, weight 1.50\n", "weight 2.00, a correction\n",
		"1. [menu.pdf › Breads, pages 2-3]  3.25  (public, english)\n   Rye bread xxx", "x…\n",
		" +1.25  bread: 2 times, 2.50 with its neighbours\n", "x 1.60  written by", " +1.25  adjacent words",
	} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), "used lately", "what adds nothing is not listed")

	require.NotContains(t, b.String(), "newest")

	b.Reset()
	newest := search.Hit{Title: "menu.md", LineFrom: 3, LineTo: 9, Role: "public"}
	require.NoError(t, printResult(&b, search.Result{Hits: []search.Hit{newest}}, []search.Quote{{Hit: newest, LineFrom: 4}}))
	require.Contains(t, b.String(), "only stop words; these are the newest passages.\n\n1. [menu.md, line 4]", "of stop words")

	b.Reset()
	require.NoError(t, printResult(&b, search.Result{}, nil))
	require.Equal(t, "Nothing found.\n", b.String())
}
