package search

import (
	"multis/store/index"
)

// Explanation is the composition of a hit's score: the sum of Terms times Author, plus Conversation, Cues and Activation.
type Explanation struct {
	Terms        []TermShare // the terms that occur in the passage or in a neighbour
	Author       float64     // the factor for messages whose author the query names; otherwise 1
	Conversation float64     // added for other matches in the same conversation
	Cues         float64     // added for the text: adjacent query words, a date for a question that asks when
	Activation   float64     // added for recent use
}

// TermShare is one term's part of a score.
type TermShare struct {
	Lexeme      string
	Occurrences int     // in the passage itself
	Frequency   float64 // Occurrences plus the weighted occurrences in its neighbours
	Score       float64
}

// explain returns the composition of each ranked passage's score, by passage id.
func explain(ranked []*scored, terms []Term, words []string, corpus index.Corpus) map[int64]*Explanation {
	list := make(map[int64]*Explanation, len(ranked))
	for _, r := range ranked {
		p := r.neighbours[neighbourReach]
		e := &Explanation{Author: authorBoost(words, p)}
		sum := 0.0
		for t := range p.Frequencies {
			if x := frequency(&r.neighbours, t); x > 0 {
				s := terms[t].rankWeight() * x / (x + lengthNorm(p, averageWords(corpus)))
				e.Terms = append(e.Terms, TermShare{Lexeme: terms[t].Lexeme, Occurrences: int(p.Frequencies[t]), Frequency: x, Score: s})
				sum += s
			}
		}
		e.Conversation = r.score - sum*e.Author
		list[p.ID] = e
	}
	return list
}
