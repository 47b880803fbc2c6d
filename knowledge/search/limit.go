package search

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// limit is the smallest and the largest number that a text allows of something. One without limits is no limit.
type limit struct{ low, high int }

// noLimit allows all numbers.
var noLimit = limit{math.MinInt, math.MaxInt} //nolint:gochecknoglobals // a constant

func (l limit) allows(n int) bool { return l.low <= n && n <= l.high }

// maxBefore and maxBehind are how many words before or behind a number may make it a limit.
const maxBefore, maxBehind = 2, 3

// limitAt reads the limit that a number of a text is: "under 12", "ab 16 Jahren", "10 bis 25 kg", "65 and over".
func limitAt(r *reader, list []token, at int) limit {
	n, err := strconv.Atoi(list[at].text)
	if err != nil {
		return noLimit
	}
	for i := max(at-maxBefore, 0); i < at; i++ {
		if low, err := strconv.Atoi(list[i].text); err == nil && rangeEnd(r, list, i) == at {
			return limit{low, n}
		}
	}
	before := wordsUntilNumber(slices.Backward(list[max(at-maxBefore, 0):at]))
	behind := wordsUntilNumber(slices.All(list[at+1 : min(at+1+maxBehind, len(list))]))
	switch {
	case rangeEnd(r, list, at) > 0: // the end of the range is its limit
		return noLimit
	case r.hasLimit(before, upperLimit):
		return limit{math.MinInt, n}
	case r.hasLimit(before, lowerLimit), r.hasLimit(behind, lowerAfter):
		return limit{n, math.MaxInt}
	default:
		return noLimit
	}
}

// rangeEnd returns where the number stands that ends the range which another one begins; 0 if it begins none.
func rangeEnd(r *reader, list []token, at int) int {
	switch {
	case at+1 < len(list) && isNumber(list[at+1].text) && strings.ContainsAny(list[at+1].gap, "-–—"):
		return at + 1
	case at+2 < len(list) && isNumber(list[at+2].text) &&
		(slices.Contains(rangeWords, list[at+1].text) || r.hasLimit([]string{list[at+1].text}, upperLimit)):
		return at + 2
	default:
		return 0
	}
}

// wordsUntilNumber returns the words that stand before the first number.
func wordsUntilNumber(list iter.Seq2[int, token]) (words []string) {
	for _, t := range list {
		if isNumber(t.text) {
			break
		}
		words = append(words, t.text)
	}
	return words
}

// limitFit returns 1 if the piece has a number of the question or a limit that allows it, and -1 for a row whose limits all forbid it. A
// sentence with such a limit answers that it is not allowed.
func (p *piece) limitFit(w askedWord) int {
	n, err := strconv.Atoi(w.text)
	if err != nil {
		return 0
	}
	fit := 0
	for _, a := range p.own.numbers {
		switch {
		case !p.own.counts(a, w):
		case a.number == w.text:
			return 1
		case a.limit == noLimit:
		case a.allows(n):
			return 1
		case p.units[p.first].isRow:
			fit = -1
		}
	}
	return fit
}

// counts reports whether a number of the text counts the same as one of the question.
func (c content) counts(a amount, w askedWord) bool {
	if len(a.kinds) == 0 {
		return slices.Contains(w.kinds, "unit.year") && (c.concepts["child"] || c.concepts["age"])
	}
	return slices.ContainsFunc(w.kinds, func(k string) bool { return slices.Contains(a.kinds, k) })
}
