package search

import (
	"cmp"
	"slices"
	"strings"

	"multis/store/index"
)

// Term is a lexeme of the query with its statistics in the index.
type Term struct {
	Lexeme        string
	Count         int     // occurrences in the query
	Chunks        int64   // document frequency: the number of passages that contain it
	ChunksAtLeast []int64 // the number of passages that contain it at least as often as each of index.FrequencyMarks; empty if not indexed
	IDF           float64 // inverse document frequency
	Correction    bool    // the query's word occurs in no passage; this term is spelled similarly, or one is a compound with the other
	words         []string
	class         wordClass
}

// IsTopical reports whether the term says what the question is about and comes from a word that is not in except.
func (t Term) IsTopical(except []string) bool {
	return t.class <= general && slices.ContainsFunc(t.words, func(w string) bool { return !slices.Contains(except, w) })
}

// correctionShare is the weight of a correction relative to the word itself.
const correctionShare = 0.7

// mergeTerms merges the words that share a lexeme. The terms that occur in a passage come first, in order of rarity and at
// most maxTerms of them; those that occur in none follow. A correction that equals another word of the query is not counted
// as a correction. A correction supports no answer, unless it is certain (see certainCorrection).
func mergeTerms(found []index.Term, words []string, corpus index.Corpus) []Term {
	slices.SortStableFunc(found, func(a, b index.Term) int {
		switch {
		case a.Correction == b.Correction:
			return 0
		case b.Correction:
			return -1
		default:
			return 1
		}
	})
	for i := range found {
		found[i].Correction = found[i].Correction && !isInflection(found[i], found)
	}
	all := found
	found = slices.DeleteFunc(slices.Clone(found), func(t index.Term) bool {
		// a light or filler word, or a correction that is too different
		return t.Correction && (classifyInQuestion(words, t.Word) > general || !isPlausible(t, all))
	})
	sure := certainCorrection(found)
	var terms []Term
	for _, f := range found {
		if f.Chunks == 0 && slices.ContainsFunc(found, func(o index.Term) bool { return o.Word == f.Word && o.Chunks > 0 && !o.Correction }) {
			continue // the word occurs in another language
		}
		i := slices.IndexFunc(terms, func(t Term) bool { return t.Lexeme == f.Lexeme })
		if i < 0 {
			i = len(terms)
			t := Term{
				Lexeme:        f.Lexeme,
				Chunks:        f.Chunks,
				ChunksAtLeast: f.ChunksAtLeast,
				IDF:           idf(f.Chunks, corpus.StatsChunks),
				Correction:    f.Correction,
				class:         classifyInQuestion(words, f.Word),
			}
			switch {
			case f.Correction:
				t.IDF *= correctionShare
				if sure == nil {
					t.class = filler
				}
			case sure != nil && f.Word == sure.Word:
				t.class = filler // the correction replaces it
			}
			terms = append(terms, t)
		}
		if !slices.Contains(terms[i].words, f.Word) {
			terms[i].words = append(terms[i].words, f.Word)
			terms[i].Count += occurrences(words, f.Word)
		}
	}
	slices.SortStableFunc(terms, func(a, b Term) int {
		if (a.Chunks == 0) != (b.Chunks == 0) {
			return cmp.Compare(b.Chunks, a.Chunks)
		}
		return cmp.Compare(a.Chunks, b.Chunks)
	})
	searched := len(indexedTerms(terms))
	return slices.Delete(terms, min(searched, maxTerms), searched)
}

// isInflection reports whether a correction is another form of its word, which the French stemmer does not unify:
// "livrez" (livr) and "livrons" (livron), "fermés" (ferm) and "fermée", which is indexed without its accent (ferme).
func isInflection(correction index.Term, found []index.Term) bool {
	return slices.ContainsFunc(found, func(t index.Term) bool {
		if t.Correction || t.Word != correction.Word {
			return false
		}
		verb := strings.HasSuffix(t.Word, "ez") || strings.HasSuffix(t.Word, "er") || strings.HasSuffix(t.Word, "ent")
		return verb && correction.Lexeme == t.Lexeme+"on" || correction.Lexeme == t.Lexeme+"e" || t.Lexeme == correction.Lexeme+"e"
	})
}

func occurrences(words []string, word string) int {
	n := 0
	for _, w := range words {
		if w == word {
			n++
		}
	}
	return n
}

// indexedTerms returns the leading terms, in the order of mergeTerms, that occur in a passage.
func indexedTerms(terms []Term) []Term {
	n := slices.IndexFunc(terms, func(t Term) bool { return t.Chunks == 0 })
	if n < 0 {
		n = len(terms)
	}
	return terms[:n]
}
