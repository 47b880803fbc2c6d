package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/store/index"
)

const (
	// A word of at least minCorrectedLen letters that occurs in no passage may be mistyped, a compound or part of one. It is
	// replaced by up to maxSuggestions indexed words which share at least 2/5 of the trigrams (sharedNumerator of
	// sharedDenominator) and whose length differs by at most maxLengthDiff, unless one is a compound with the other
	// (isCompound). search_terms in Postgres does the same.
	minCorrectedLen, minLastPartLen, maxLengthDiff, maxSuggestions = 5, 6, 2, 2
	sharedNumerator, sharedDenominator                             = 2, 5
	// maxCorrections bounds the words of a query that are corrected, the most topical first, so that a query of hundreds of
	// unknown words does not keep Postgres busy for seconds.
	maxCorrections = 8
)

// trigram is three consecutive characters, as in pg_trgm.
type trigram [3]rune

// trigrams returns the distinct trigrams of a word, sorted. As in pg_trgm, each run of letters and digits is padded with two
// spaces before and one after.
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

// vocabulary is a trigram index of words.
type vocabulary struct {
	words     []string
	sizes     []int               // the number of trigrams of each word
	wordsWith map[trigram][]int32 // the indexes of the words that contain a trigram
}

func newVocabulary(words []string) *vocabulary {
	v := &vocabulary{words: words, sizes: make([]int, len(words)), wordsWith: map[trigram][]int32{}}
	for i, word := range words {
		list := trigrams(word)
		v.sizes[i] = len(list)
		for _, t := range list {
			v.wordsWith[t] = append(v.wordsWith[t], int32(i))
		}
	}
	return v
}

// similarWord is an indexed word with its trigram similarity to another word, from 0 to 1.
type similarWord struct {
	word       string
	similarity float64
}

// similar returns the words that word may be a misspelling, a compound or a part of, in no particular order.
func (v *vocabulary) similar(word string) (list []similarWord) {
	wanted, length := trigrams(word), utf8.RuneCountInString(word)
	common := make([]int, len(v.words)) // a map would take many times as long for a long question
	for _, t := range wanted {
		for _, i := range v.wordsWith[t] {
			common[i]++
		}
	}
	for i, n := range common {
		union := len(wanted) + v.sizes[i] - n
		if n == 0 || n*sharedDenominator < union*sharedNumerator {
			continue
		}
		if off := utf8.RuneCountInString(v.words[i]) - length; max(off, -off) <= maxLengthDiff || isCompound(v.words[i], word) {
			list = append(list, similarWord{v.words[i], float64(n) / float64(union)})
		}
	}
	return list
}

// byWeight returns the distinct words of a question, the most topical first and otherwise in their order.
func byWeight(words []string) []string {
	var list []string
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(classifyInQuestion(words, a), classifyInQuestion(words, b)) })
	return list
}

// unindexedTerms returns the words that occur in no passage and may be mistyped, each with one of its stems; at most maxCorrections.
func unindexedTerms(found []index.Term) []index.Term {
	var list []index.Term
	for _, t := range found {
		if utf8.RuneCountInString(t.Word) < minCorrectedLen || slices.ContainsFunc(found, func(o index.Term) bool {
			return o.Word == t.Word && o.Chunks > 0
		}) {
			continue
		}
		i := slices.IndexFunc(list, func(o index.Term) bool { return o.Word == t.Word })
		if i < 0 {
			list = append(list, t)
			continue
		}
		list[i].Lexeme = min(list[i].Lexeme, t.Lexeme)
	}
	return list[:min(len(list), maxCorrections)]
}

// suggestCorrections returns the indexed words that are most similar to the unindexed words of found.
func suggestCorrections(roles []*cachedRole, found []index.Term) (terms []index.Term) {
	for _, t := range unindexedTerms(found) {
		list := mostSimilar(roles, t.Word)
		if len(list) == 0 {
			list = mostSimilar(roles, t.Lexeme)
		}
		for _, a := range list {
			terms = append(terms, index.Term{Word: t.Word, Lexeme: a.word, Chunks: documentFrequency(roles, a.word), Correction: true})
		}
	}
	return terms
}

// mostSimilar returns the indexed words of roles that are most similar to a word.
func mostSimilar(roles []*cachedRole, word string) []similarWord {
	var list []similarWord
	for _, r := range roles {
		list = append(list, r.vocabulary().similar(word)...)
	}
	slices.SortFunc(list, func(a, b similarWord) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), cmp.Compare(a.word, b.word))
	})
	list = slices.Compact(list)
	return list[:min(len(list), maxSuggestions)]
}

// isCompound reports whether the longer of two words begins or ends with the other, as "Schlüsselbund" and
// "Haustürschlüssel" do with "Schlüssel". The rest has more than maxLengthDiff letters, and the part at least
// minCorrectedLen, or minLastPartLen at the end, where five letters are often a mere ending. fits_length in Postgres does
// the same.
func isCompound(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	n := utf8.RuneCountInString(b)
	return utf8.RuneCountInString(a)-n > maxLengthDiff &&
		(n >= minCorrectedLen && strings.HasPrefix(a, b) || n >= minLastPartLen && strings.HasSuffix(a, b))
}

// isPlausible reports whether a correction is similar enough to the word of the query, one edit away from its stem, or a
// compound with the stem.
func isPlausible(correction index.Term, found []index.Term) bool {
	if len(newVocabulary([]string{correction.Lexeme}).similar(correction.Word)) > 0 {
		return true
	}
	return slices.ContainsFunc(found, func(t index.Term) bool {
		return !t.Correction && t.Word == correction.Word && (isOneEdit(t.Lexeme, correction.Lexeme) || isCompound(correction.Lexeme, t.Lexeme))
	})
}

// certainCorrection returns the correction in found that is certain, or nil: the only correction of the only mistyped word of a
// short question, one edit away.
func certainCorrection(found []index.Term) *index.Term {
	var correction *index.Term
	words := map[string]bool{}
	for i, t := range found {
		words[t.Word] = true
		switch {
		case !t.Correction:
		case correction != nil && correction.Lexeme != t.Lexeme:
			return nil
		default:
			correction = &found[i]
		}
	}
	if correction == nil || len(words) > shortQuery {
		return nil
	}
	for _, t := range found {
		if t.Correction || t.Word != correction.Word || utf8.RuneCountInString(t.Lexeme) < minCorrectedLen {
			continue
		}
		if isOneEdit(t.Lexeme, correction.Lexeme) || isOneEdit(t.Word, correction.Lexeme) {
			return correction
		}
	}
	return nil
}

// isOneEdit reports whether a and b differ by one inserted letter or by two transposed ones. A substituted letter does not
// count, because it often makes another word: "massages", "messages".
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
