package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"multis/internal/text"
	"multis/knowledge/search"
)

// Unit is what an answer cites of a passage: a sentence, a list item or a row of a table, in the passage's own words.
type Unit struct {
	Text string
	From int  // the byte offset at which it begins in the passage
	Row  bool // a row of a table, as "Column: value; Column: value"
}

// Shown returns a unit as a model reads it: on one line, the cells of a row between bars.
func (u Unit) Shown() string {
	line := strings.TrimSpace(strings.TrimLeft(text.CollapseSpaces(emphasis.ReplaceAllString(u.Text, "$1$2")), "|-*+• "))
	if u.Row {
		return strings.ReplaceAll(line, "; ", " | ")
	}
	return line
}

// emphasis matches the marks of bold words. Those of one letter may be a part of a name, and so may two low lines inside a word.
var emphasis = regexp.MustCompile(`\*\*|(^|[^\p{L}\p{N}])__|__($|[^\p{L}\p{N}])`)

// rowForm matches a row of at least two cells of which the last has the name of its column, or the first and another one:
// the value of the last may have a semicolon.
var rowForm = regexp.MustCompile(`^[-|*+•\s]*(?:[^;]+(?:; [^;]*)*; [^;:]{1,60}: \S[^;]*|[^;:]{1,60}: [^;]*(?:; [^;]*)*; [^;:]{1,60}: \S.*)$`)

// IsRow reports whether a line is a row of a table whose cells have the names of their columns.
func IsRow(line string) bool { return !strings.Contains(line, "\n") && rowForm.MatchString(line) }

// Units returns the units of a passage, in order. A passage's headings and blank lines are no units.
func Units(passage string) []Unit {
	var units []Unit
	from := 0
	for _, to := range search.BreakOffsets(passage) {
		part := strings.TrimSpace(passage[from:to])
		at := from + strings.Index(passage[from:to], part)
		from = to
		if !strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			continue
		}
		units = append(units, Unit{Text: part, From: at, Row: IsRow(part)})
	}
	return units
}

// FindQuote returns the numbers, from 0, of the units of a passage in which the words of a quote stand. Case, quotation
// marks, dashes, bullets and the punctuation around words do not matter; the parts around an ellipsis stand in order. It
// returns none if the passage does not have the words, or if they are too few.
func FindQuote(units []Unit, quote string) []int {
	words, owner := unitWords(units)
	var found []int
	from := 0
	count := 0
	for part := range strings.SplitSeq(strings.ReplaceAll(quote, "...", "…"), "…") {
		wanted := quoteWords(part)
		if len(wanted) == 0 {
			continue
		}
		at := indexWords(words[from:], wanted)
		if at < 0 {
			return nil
		}
		at += from
		from = at + len(wanted)
		count += len(wanted)
		for _, n := range owner[at:from] {
			if !slices.Contains(found, n) {
				found = append(found, n)
			}
		}
	}
	if count < minQuoteWords && !isWholeUnit(units, quote) {
		return nil
	}
	return found
}

// minQuoteWords is how many words a quote has at least, unless it is a whole unit.
const minQuoteWords = 3

func isWholeUnit(units []Unit, quote string) bool {
	return slices.ContainsFunc(units, func(u Unit) bool { return slices.Equal(quoteWords(u.Text), quoteWords(quote)) })
}

// unitWords returns the words of all units, and the unit that each is of.
func unitWords(units []Unit) (words []string, owner []int) {
	for n, u := range units {
		for _, w := range quoteWords(u.Text) {
			words = append(words, w)
			owner = append(owner, n)
		}
	}
	return words, owner
}

// quoteWords returns the words of a text as quotes are compared: folded, without what stands around them.
func quoteWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(text.Fold(s)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("€$£%", r)
	})
}

// indexWords returns where words stand in a list of words; -1 if they do not.
func indexWords(all, wanted []string) int {
	for i := 0; i+len(wanted) <= len(all); i++ {
		if slices.Equal(all[i:i+len(wanted)], wanted) {
			return i
		}
	}
	return -1
}
