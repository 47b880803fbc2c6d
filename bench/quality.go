package main

import (
	"fmt"
	"math"
	"slices"
)

// quality sums up how well queries were answered by their ten best rows.
type quality struct {
	queries      int
	recall, ndcg float64 // sums over the queries
}

// String returns the means over the queries.
func (q *quality) String() string {
	return fmt.Sprintf("recall@10 %.3f, nDCG@10 %.3f", q.recall/float64(q.queries), q.ndcg/float64(q.queries))
}

// add scores the rows found for a query, which are sorted best first. A query without relevant rows, a mistake in the collection, scores 0.
func (q *quality) add(relevant map[string]int, found []string) {
	q.queries++
	if len(relevant) == 0 {
		return
	}
	var hits, gain, ideal float64
	for i, id := range found[:min(len(found), 10)] {
		if relevant[id] > 0 {
			hits, gain = hits+1, gain+discount(i)
		}
	}
	for i := range min(len(relevant), 10) {
		ideal += discount(i)
	}
	q.recall, q.ndcg = q.recall+hits/float64(len(relevant)), q.ndcg+gain/ideal
}

// discount is the share of the gain that a relevant row keeps at position i, counted from 0.
func discount(i int) float64 { return 1 / math.Log2(float64(i)+2) }

// qualities holds the quality by category, and that of all queries as allQueries.
type qualities map[string]*quality

const allQueries = "all"

func (s qualities) add(q query, found []string) {
	for _, category := range slices.Compact([]string{allQueries, q.Category}) {
		if category == "" {
			continue
		}
		if s[category] == nil {
			s[category] = &quality{}
		}
		s[category].add(q.Relevant, found)
	}
}
