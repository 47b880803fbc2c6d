package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	pairShare  = 0.2 // what two words add that stand together in the question and in the passage
	whenFactor = 1.2 // for a passage that says when, if the question asks it
)

// saysWhen tells whether a text, in lower case, holds a date, or how people tell one from the day they speak.
func saysWhen(text string) bool {
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

// cues are what a question says beyond its words one by one. They are looked for in the texts of the best passages.
type cues struct {
	pairs []pair
	when  bool
}

// pair is two terms that stand together in the question.
type pair struct {
	first, second Term
	places        [2]int // of both among the terms
}

// in tells whether both stand in a passage, together or not.
func (p pair) in(s *scored) bool {
	frequencies := s.near[neighbourReach].Frequencies
	return frequencies[p.places[0]] > 0 && frequencies[p.places[1]] > 0
}

// worth is what it adds.
func (p pair) worth() float64 { return pairShare * (p.first.IDF + p.second.IDF) }

// newCues finds out what to look for. A long question says the same in many words, and their pairs would drown it.
func newCues(terms []Term, words []string) cues {
	c := cues{when: slices.Contains(words, "when") || strings.Contains(strings.Join(words, " "), "what time ")}
	if len(terms) > shortQuery {
		return c
	}
	of := func(word string) int {
		return slices.IndexFunc(terms, func(t Term) bool { return t.Chunks > 0 && slices.Contains(t.words, word) })
	}
	for i := range len(words) - 1 {
		if a, b := of(words[i]), of(words[i+1]); a >= 0 && b >= 0 {
			c.pairs = append(c.pairs, pair{terms[a], terms[b], [2]int{a, b}})
		}
	}
	return c
}

// raise adds to the score of a passage what its text shows.
func (c cues) raise(s *scored, text string) float64 {
	if c.most(s) == s.score {
		return s.score
	}
	score := s.score
	text = strings.ToLower(fold(text))
	if c.when && saysWhen(text) {
		score *= whenFactor
	}
	for _, p := range c.pairs {
		if p.in(s) && p.first.before(p.second, text) {
			score += p.worth()
		}
	}
	return score
}

// most is what raise can make of the score of a passage.
func (c cues) most(s *scored) float64 {
	score := s.score
	if c.when {
		score *= whenFactor
	}
	for _, p := range c.pairs {
		if p.in(s) {
			score += p.worth()
		}
	}
	return score
}

// before tells whether a word with t's stem stands right before one with next's, as well as can be told from the letters:
// this runs over the texts of all good passages.
func (t Term) before(next Term, text string) bool {
	for _, stem := range t.stems() {
		for from := 0; ; {
			i := strings.Index(text[from:], stem)
			if i < 0 {
				break
			}
			i += from
			from = i + len(stem)
			last, _ := utf8.DecodeLastRuneInString(text[:i])
			if !isWordRune(last) && next.starts(nextWord(text[from:])) {
				return true
			}
		}
	}
	return false
}

// stems are the beginnings that a word with t's meaning may have.
func (t Term) stems() []string {
	if strings.HasPrefix(t.words[0], t.Lexeme) {
		return []string{t.Lexeme}
	}
	return append([]string{t.Lexeme}, t.words...)
}

func (t Term) starts(text string) bool {
	return slices.ContainsFunc(t.stems(), func(stem string) bool { return strings.HasPrefix(text, stem) })
}

// nextWord is text from its next word on, when it begins inside one.
func nextWord(text string) string {
	return strings.TrimLeftFunc(strings.TrimLeftFunc(text, isWordRune), func(r rune) bool { return !isWordRune(r) })
}

func isWordRune(r rune) bool { return kindOf(r) != other }
