package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/store"
)

const (
	// A word of minCorrectedLen letters or more that stands nowhere may be mistyped. Up to maxSuggestions words are taken for it whose
	// length is no further off than maxLengthDiff, if two fifths of the trigrams of both are common to both: all as in the database.
	minCorrectedLen, maxLengthDiff, maxSuggestions = 5, 2, 2
	leastCommon, ofTrigrams                        = 2, 5
	// maxCorrections is how many words of a query are compared with all others: those that tell the most. Whoever writes
	// hundreds of words that nobody knows must not keep the database busy for seconds.
	maxCorrections = 8
)

// trigram is three letters in a row, as pg_trgm counts them.
type trigram [3]rune

// trigrams are those of the parts of a word that are letters and digits, each with two spaces before it and one after.
func trigrams(word string) []trigram {
	var list []trigram
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		last := trigram{' ', ' ', ' '}
		for _, r := range part + " " {
			last = trigram{last[1], last[2], r}
			list = append(list, last)
		}
	}
	slices.SortFunc(list, func(a, b trigram) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(list)
}

// vocabulary finds words that look similarWord.
type vocabulary struct {
	words []string
	sizes []int               // how many trigrams each has
	with  map[trigram][]int32 // the words with each
}

func newVocabulary(words []string) *vocabulary {
	v := &vocabulary{words: words, sizes: make([]int, len(words)), with: map[trigram][]int32{}}
	for i, word := range words {
		list := trigrams(word)
		v.sizes[i] = len(list)
		for _, t := range list {
			v.with[t] = append(v.with[t], int32(i))
		}
	}
	return v
}

// similarWord is a word, and how much it looks like another: by the share of the trigrams of both that are common to both.
type similarWord struct {
	word  string
	share float64
}

// like are the words that word may have been meant to be, in no order.
func (v *vocabulary) similar(word string) (list []similarWord) {
	asked, length := trigrams(word), utf8.RuneCountInString(word)
	common := make([]int, len(v.words)) // a map takes many times as long, and whoever writes a long question chooses the words
	for _, t := range asked {
		for _, i := range v.with[t] {
			common[i]++
		}
	}
	for i, n := range common {
		all := len(asked) + v.sizes[i] - n
		if n == 0 || n*ofTrigrams < all*leastCommon {
			continue
		}
		if off := utf8.RuneCountInString(v.words[i]) - length; max(off, -off) <= maxLengthDiff {
			list = append(list, similarWord{v.words[i], float64(n) / float64(all)})
		}
	}
	return list
}

// byWeight are the different words of a question, what it is about first. Words that are similarWord keep their order.
func byWeight(words []string) []string {
	var list []string
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(weightIn(words, a), weightIn(words, b)) })
	return list
}

// nowhere are the words that may be mistyped, because they stand in no passage, each with one of its stems: as many as are corrected.
func unindexedTerms(found []store.Term) []store.Term {
	var list []store.Term
	for _, t := range found {
		if utf8.RuneCountInString(t.Word) < minCorrectedLen || slices.ContainsFunc(found, func(o store.Term) bool { return o.Word == t.Word && o.Chunks > 0 }) {
			continue
		}
		i := slices.IndexFunc(list, func(o store.Term) bool { return o.Word == t.Word })
		if i < 0 {
			list = append(list, t)
			continue
		}
		list[i].Lexeme = min(list[i].Lexeme, t.Lexeme)
	}
	return list[:min(len(list), maxCorrections)]
}

// guesses are the words of roles that look the most like those of found which stand nowhere.
func suggestCorrections(roles []*cachedRole, found []store.Term) (terms []store.Term) {
	for _, t := range unindexedTerms(found) {
		list := mostSimilar(roles, t.Word)
		if len(list) == 0 {
			list = mostSimilar(roles, t.Lexeme)
		}
		for _, a := range list {
			terms = append(terms, store.Term{Word: t.Word, Lexeme: a.word, Chunks: chunksWith(roles, a.word), Guess: true})
		}
	}
	return terms
}

// alikes are the words of roles that look the most like a word.
func mostSimilar(roles []*cachedRole, word string) []similarWord {
	var list []similarWord
	for _, r := range roles {
		list = append(list, r.vocabulary().similar(word)...)
	}
	slices.SortFunc(list, func(a, b similarWord) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.word, b.word)) })
	list = slices.Compact(list)
	return list[:min(len(list), maxSuggestions)]
}

// isPlausible reports whether a guess looks enough like the word that was asked for, or is one slip away from its stem.
func isPlausible(guess store.Term, found []store.Term) bool {
	if len(newVocabulary([]string{guess.Lexeme}).similar(guess.Word)) > 0 {
		return true
	}
	return slices.ContainsFunc(found, func(t store.Term) bool { return !t.Guess && t.Word == guess.Word && isOneEdit(t.Lexeme, guess.Lexeme) })
}

// correction is the guess among found that surely is what was meant: the only one for the only mistyped word of a short question, one
// slip away. Nil if there is none.
func sureCorrection(found []store.Term) *store.Term {
	var guess *store.Term
	words := map[string]bool{}
	for i, t := range found {
		words[t.Word] = true
		switch {
		case !t.Guess:
		case guess != nil && guess.Lexeme != t.Lexeme:
			return nil
		default:
			guess = &found[i]
		}
	}
	if guess == nil || len(words) > shortQuery {
		return nil
	}
	for _, t := range found {
		if t.Guess || t.Word != guess.Word || utf8.RuneCountInString(t.Lexeme) < minCorrectedLen {
			continue
		}
		if isOneEdit(t.Lexeme, guess.Lexeme) || isOneEdit(t.Word, guess.Lexeme) {
			return guess
		}
	}
	return nil
}

// isOneEdit reports whether one letter too many or too few, or two that changed places, make a of b. Another letter in the same place
// often makes another word: "massages" are no "messages".
func isOneEdit(a, b string) bool {
	long, short := []rune(a), []rune(b)
	if len(long) < len(short) {
		long, short = short, long
	}
	i := 0
	for i < len(short) && long[i] == short[i] {
		i++
	}
	long, short = long[i:], short[i:]
	if len(long) == 0 || len(long)-len(short) > 1 {
		return false
	}
	if len(long) > len(short) {
		return slices.Equal(long[1:], short)
	}
	return len(long) > 1 && long[0] == short[1] && long[1] == short[0] && slices.Equal(long[2:], short[2:])
}
