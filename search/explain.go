package search

import "multis/store"

// Explanation says how a hit's score came about: the sum of Terms times Author, plus Company, plus Cues, plus Activation.
type Explanation struct {
	Terms      []TermShare // those that stand in the passage or beside it
	Author     float64     // the factor for what somebody named in the query said; 1 for all others
	Company    float64     // what the rest of its conversation added
	Cues       float64     // what its text added: words that stand together, a date for a question that asks when
	Activation float64     // what its recent use added
}

// TermShare is what one term adds to a score.
type TermShare struct {
	Lexeme    string
	Stands    int     // how often in the passage itself
	Frequency float64 // with what its neighbours lend
	Score     float64
}

// explain takes the score of each ranked passage apart, by its id.
func explain(ranked []*scored, terms []Term, words []string, corpus store.Corpus) map[int64]*Explanation {
	list := make(map[int64]*Explanation, len(ranked))
	for _, r := range ranked {
		p := r.near[neighbourReach]
		e := &Explanation{Author: authorShare(words, p)}
		sum := 0.0
		for t := range p.Frequencies {
			if x := frequency(&r.near, t); x > 0 {
				s := terms[t].rankWeight() * x / (x + lengthNorm(p, averageWords(corpus)))
				e.Terms = append(e.Terms, TermShare{Lexeme: terms[t].Lexeme, Stands: int(p.Frequencies[t]), Frequency: x, Score: s})
				sum += s
			}
		}
		e.Company = r.score - sum*e.Author
		list[p.ID] = e
	}
	return list
}
