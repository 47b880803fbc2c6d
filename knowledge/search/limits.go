package search

import (
	"regexp"
	"slices"
	"strings"

	"multis/internal/language/lexicon"
)

// withLimits extends a quote, from unit first to unit last of a passage, by the sentences beside it in its paragraph that
// limit it with a word such as "only" or "except": without them it would promise more than the document does.
func withLimits(passage string, list []unit, first, last int) (from, to int) {
	isBeside := func(at, of int) bool {
		return at >= 0 && at < len(list) && list[at].block == list[of].block && !list[at].isRow && !list[at].introduces
	}
	if !isBeside(first-1, first) && !isBeside(last+1, last) {
		return first, last
	}
	words := limitWords(passage)
	limits := func(u unit) bool {
		return slices.ContainsFunc(tokens(passage[u.from:u.to]), func(t token) bool { return words[t.text] })
	}
	for isBeside(first-1, first) && limits(list[first-1]) {
		first--
	}
	for isBeside(last+1, last) && limits(list[last+1]) {
		last++
	}
	return first, last
}

// limitWords returns the words that limit a statement, in the languages of a text.
func limitWords(text string) map[string]bool {
	words := map[string]bool{}
	for _, d := range dictionariesOf(tokens(text)) {
		for _, word := range slices.Concat(lexicon.In(d.code, "claims", "only"), lexicon.In(d.code, "claims", "except")) {
			words[plain(word)] = true
		}
	}
	return words
}

// itemNumber matches the number of an item.
var itemNumber = regexp.MustCompile(`^\d{1,3}[.)]$`)

// Paragraphs returns the paragraphs, items and rows of a quote, each on one line: a line that was only wrapped continues.
// Marks of items are left out, their numbers are not.
func Paragraphs(quote string) (lines []string) {
	block, end := -1, 0
	for _, u := range units(quote) {
		said := strings.Join(strings.Fields(quote[u.from:u.to]), " ")
		if number := itemNumber.FindString(strings.TrimSpace(quote[end:u.from])); number != "" {
			said = number + " " + said
		}
		end = u.to
		if u.block == block && len(lines) > 0 {
			lines[len(lines)-1] += " " + said
			continue
		}
		block = u.block
		lines = append(lines, said)
	}
	return lines
}
