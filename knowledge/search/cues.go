package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	pairShare  = 0.2 // weight of two words that are adjacent in the question and in the passage
	dateFactor = 1.2 // factor for a passage with a date, if the question asks when
)

// containsDate reports whether a lower-case text contains a date or a relative one such as "tomorrow".
func containsDate(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWordRune(r) }) {
		switch word {
		case "yesterday", "today", "tonight", "tomorrow", "ago", "last", "next", "recently", "soon", "weekend", "week", "month", "year",
			"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
			"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december":
			return true
		}
		if len(word) == 4 && (word[:2] == "19" || word[:2] == "20") && isDigits(word) {
			return true
		}
	}
	return false
}

func isDigits(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// cues are the features of a question beyond its single words. They are matched against the texts of the best passages.
type cues struct {
	terms    []Term
	pairs    []pair
	asksWhen bool
}

// pair is two adjacent words of the question, each as the indexes of its terms; a word has one term in each language.
type pair [2][]int

// newCues extracts the cues of a question. The pairs of a long question are left out, because there are too many to matter.
func newCues(terms []Term, words []string) cues {
	c := cues{terms: indexedTerms(terms), asksWhen: slices.Contains(words, "when") || strings.Contains(strings.Join(words, " "), "what time ")}
	if len(terms) > shortQuery {
		return c
	}
	termsOf := func(word string) (list []int) {
		for i, t := range c.terms {
			if slices.Contains(t.words, word) {
				list = append(list, i)
			}
		}
		return list
	}
	for i := range len(words) - 1 {
		if p := (pair{termsOf(words[i]), termsOf(words[i+1])}); len(p[0]) > 0 && len(p[1]) > 0 {
			c.pairs = append(c.pairs, p)
		}
	}
	return c
}

// pairTerms returns the two terms of a pair that occur in a passage, adjacent or not; nil if one of them does not occur.
func (c cues) pairTerms(s *scored, p pair) (first, second *Term) {
	frequencies := s.neighbours[neighbourReach].Frequencies
	occurs := func(term int) bool { return frequencies[term] > 0 }
	if a, b := slices.IndexFunc(p[0], occurs), slices.IndexFunc(p[1], occurs); a >= 0 && b >= 0 {
		return &c.terms[p[0][a]], &c.terms[p[1][b]]
	}
	return nil, nil
}

// pairBonus returns what two adjacent words add to a score.
func pairBonus(a, b *Term) float64 { return pairShare * (a.IDF + b.IDF) }

// boost returns the score of a passage raised by the cues in its text.
func (c cues) boost(s *scored, text string) float64 {
	if c.maxScore(s) == s.score {
		return s.score
	}
	score := s.score
	text = strings.ToLower(fold(text))
	if c.asksWhen && containsDate(text) {
		score *= dateFactor
	}
	for _, p := range c.pairs {
		if a, b := c.pairTerms(s, p); a != nil && a.precedes(*b, text) {
			score += pairBonus(a, b)
		}
	}
	return score
}

// maxScore returns the highest score that boost can return for a passage.
func (c cues) maxScore(s *scored) float64 {
	score := s.score
	if c.asksWhen {
		score *= dateFactor
	}
	for _, p := range c.pairs {
		if a, b := c.pairTerms(s, p); a != nil {
			score += pairBonus(a, b)
		}
	}
	return score
}

// precedes reports whether a word with t's stem directly precedes one with next's. It compares prefixes instead of stemming the
// text, because it runs over the texts of all good passages.
func (t Term) precedes(next Term, text string) bool {
	for _, stem := range t.stems() {
		for from := 0; ; {
			i := strings.Index(text[from:], stem)
			if i < 0 {
				break
			}
			i += from
			from = i + len(stem)
			last, _ := utf8.DecodeLastRuneInString(text[:i])
			if !isWordRune(last) && next.startsWord(nextWord(text[from:])) {
				return true
			}
		}
	}
	return false
}

// stems returns the prefixes that identify a form of t.
func (t Term) stems() []string {
	if strings.HasPrefix(t.words[0], t.Lexeme) {
		return []string{t.Lexeme}
	}
	return append([]string{t.Lexeme}, t.words...)
}

func (t Term) startsWord(text string) bool {
	return slices.ContainsFunc(t.stems(), func(stem string) bool { return strings.HasPrefix(text, stem) })
}

// nextWord returns text from the next word on; text may begin inside a word.
func nextWord(text string) string {
	return strings.TrimLeftFunc(strings.TrimLeftFunc(text, isWordRune), func(r rune) bool { return !isWordRune(r) })
}

func isWordRune(r rune) bool { return kindOf(r) != other }
