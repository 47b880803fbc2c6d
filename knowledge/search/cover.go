package search

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// content is a text as far as it is compared with a question: its words, numbers, days and months.
type content struct {
	words    map[string]bool
	joined   map[string]bool // two words that stand together, as one
	concepts map[string]bool
	days     int // a bit for each day of the week
	months   int // a bit for each month
	numbers  []amount
	side     map[string]bool // those of the words that are side words
	counted  map[string]bool // the words that a number stands before
	without  map[string]bool // the words that "without" stands before
	denies   bool            // it says not, no or never
	hasLimit bool            // it says from, up to, over, under or the like
}

// amount is a number with what it counts.
type amount struct {
	limit

	number string
	kinds  []string // the concepts of the unit; empty if it has none
}

// newContent reads a text.
func newContent(r *reader, text string) content {
	c := emptyContent()
	list := tokens(text)
	lastDay, lastMonth := -1, -1
	dayAt, monthAt := -1, -1
	for i, t := range list {
		c.words[t.text] = true
		if r.isSide(t.text) {
			c.side[t.text] = true
		}
		if i > 0 && isNumber(list[i-1].text) {
			c.counted[t.text] = true
		}
		if isAfterWithout(r, list, i) {
			c.without[t.text] = true
		}
		if i > 0 && !isNumber(t.text) && !isNumber(list[i-1].text) {
			c.joined[list[i-1].text+t.text] = true
		}
		for _, concept := range r.conceptsOf(t.text) {
			c.concepts[concept] = true
			c.hasLimit = c.hasLimit || concept == "limit"
			c.denies = c.denies || concept == "not"
		}
		if i > 0 && t.gap == "-" {
			c.addConcepts(r, list[i-1].text+t.text)
		}
		if isNumber(t.text) {
			c.numbers = append(c.numbers, amount{limitAt(r, list, i), t.text, unitOf(r, list, i)})
		}
		if d := r.day(t.text); d >= 0 {
			c.days |= span(list, lastDay, dayAt, d, i, 7)
			lastDay, dayAt = d, i
		}
		if m := r.month(t.text); m >= 0 {
			c.months |= span(list, lastMonth, monthAt, m, i, 12)
			lastMonth, monthAt = m, i
		}
	}
	c.months |= numericMonths(text)
	if address.MatchString(text) {
		c.concepts["address"] = true
	}
	return c
}

// addConcepts adds what a compound means.
func (c content) addConcepts(r *reader, word string) {
	for _, d := range r.dictionaries {
		for _, concept := range d.concepts[word] {
			c.concepts[concept] = true
		}
	}
}

func emptyContent() content {
	return content{
		words:    map[string]bool{},
		joined:   map[string]bool{},
		concepts: map[string]bool{},
		side:     map[string]bool{},
		counted:  map[string]bool{},
		without:  map[string]bool{},
	}
}

// maxWithout is how many words behind "without" may name what is left out.
const maxWithout = 2

// isAfterWithout reports whether a word names what something is without.
func isAfterWithout(r *reader, list []token, at int) bool {
	for i := max(at-maxWithout, 0); i < at; i++ {
		if slices.Contains(r.conceptsOf(list[i].text), "without") {
			return true
		}
	}
	return false
}

// address matches a place as it stands on letters: a postal code with its town, or a number with its street.
var address = regexp.MustCompile(`\b(?:\d{4}-\d{3}|\d{2}-\d{3}|\d{3} \d{2}|\d{4,5}|\d{4} [A-Z]{2})\s+\p{Lu}\p{Ll}{2,}` +
	`|\b\d{1,5} \p{Lu}\p{L}+ (?:Street|Road|Lane|Avenue|Drive|Square|St|Rd|Ave|Ln)\b`)

// numericRange matches a range of days in numbers, such as 13/6–17/8 or 13.6.-17.8.
var numericRange = regexp.MustCompile(`\b\d{1,2}[./](\d{1,2})\.?\s*[-–—]\s*\d{1,2}[./](\d{1,2})\b`)

// numericMonths returns the months of the ranges of days that a text has in numbers.
func numericMonths(text string) (bits int) {
	for _, m := range numericRange.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		if from < 1 || from > 12 || to < 1 || to > 12 {
			continue
		}
		for month := from - 1; ; month = (month + 1) % 12 {
			bits |= 1 << month
			if month == to-1 {
				break
			}
		}
	}
	return bits
}

// hasAmong reports whether some of the words of a text are forms of a word of the question, or name the same thing.
func (c content) hasAmong(w askedWord, words map[string]bool) bool {
	for word := range words {
		if isForm(w.text, word) || isPart(w.text, word) {
			return true
		}
	}
	return false
}

// rangeWords stand between the first and the last of a range, listWords between two that are listed.
var (
	rangeWords = strings.Fields("to till until through thru bis a au al t tot til do ate m") //nolint:gochecknoglobals // constant
	listWords  = strings.Fields("und and et y e en och i ve o or oder")                      //nolint:gochecknoglobals // constant
)

// span returns the bit of a day or month; of all from last on if the text between them says so.
func span(list []token, last, lastAt, now, at, count int) int {
	bits := 1 << now
	if last < 0 || at-lastAt > 4 {
		return bits
	}
	isRange := false
	for i := lastAt + 1; i <= at; i++ {
		isRange = isRange || strings.ContainsAny(list[i].gap, "-–—")
		if i < at && slices.Contains(rangeWords, list[i].text) {
			isRange = true
		}
		if i < at && slices.Contains(listWords, list[i].text) {
			return bits
		}
	}
	if !isRange {
		return bits
	}
	for d := last; d != now; d = (d + 1) % count {
		bits |= 1 << d
	}
	return bits
}

// unitOf returns the kinds of units that stand behind a number, or before it.
func unitOf(r *reader, list []token, at int) (kinds []string) {
	for _, i := range []int{at + 1, at + 2} {
		if i >= len(list) || isNumber(list[i].text) && i == at+1 {
			return kinds
		}
		for _, concept := range r.conceptsOf(list[i].text) {
			if strings.HasPrefix(concept, "unit.") {
				kinds = append(kinds, concept)
			}
		}
		if len(kinds) > 0 {
			return kinds
		}
	}
	return kinds
}

// has reports whether a text has a word of the question, a form of it, a compound with it or another word for it.
func (c content) has(w askedWord) bool {
	if w.day >= 0 {
		return c.days&(1<<w.day) != 0
	}
	if w.month >= 0 {
		return c.months&(1<<w.month) != 0
	}
	if isNumber(w.text) {
		return c.words[w.text] || c.hasLimit && slices.ContainsFunc(c.numbers, func(a amount) bool { return c.counts(a, w) })
	}
	for _, concept := range w.concepts {
		if c.concepts[concept] {
			return true
		}
	}
	return c.hasForm(w)
}

// hasForm reports whether a text has a word of the question, a form of it or a compound with it.
func (c content) hasForm(w askedWord) bool {
	if isNumber(w.text) {
		return c.has(w)
	}
	for _, text := range w.forms {
		if c.words[text] || c.joined[text] {
			return true
		}
	}
	for word := range c.words {
		if isForm(w.text, word) || isPart(w.text, word) || isPart(word, w.text) {
			return true
		}
	}
	return false
}

// rarity returns how much a word tells that n of all texts have.
func rarity(n, all int) float64 { return math.Log(1 + float64(max(all, 8))/float64(max(n, 1))) }
