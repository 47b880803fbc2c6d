package proof

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"multis/internal/language/lexicon"
)

// vocabulary has the words of one language that the checks know.
type vocabulary struct {
	code       string
	harmless   map[string]bool // they claim nothing: articles, courtesy
	negative   map[string]bool // not, no, never, closed
	only       map[string]bool // only, except
	lower      map[string]bool // before a minimum: from, at least
	upper      map[string]bool // before a maximum: until, under
	lowerAfter map[string]bool // behind a minimum: "12 or older"
	upperAfter map[string]bool // behind a maximum: "12 or younger"
	least      map[string]bool // before a word that then means a minimum: "au" moins, "al" menos
	ranges     map[string]bool // between two days
	hours      map[string]bool // behind the hour of a time
	condition  map[string]bool // if, with, by appointment
	periods    map[string]bool // units of time
	deeds      []string        // what the assistant must not say of itself: "I have cancelled"
	refers     map[string]bool // they go on with the statement before: it, that
	clock      []clockPhrase
	relatives  map[string]bool // people of the customer: son, daughter
	numbers    map[string]float64
	days       map[string]int // weekdays, from Sunday
}

// clockPhrase are words that move an hour: "half past" nine, nine "et demie".
type clockPhrase struct {
	words  []string
	offset float64
	behind bool
}

var clockConcepts = []struct { //nolint:gochecknoglobals // a constant, were there constant lists
	concept string
	offset  float64
}{
	{"plus_half", 0.5},
	{"minus_half", -0.5},
	{"plus_quarter", 0.25},
	{"minus_quarter", -0.25},
	{"then_half", 0.5},
	{"then_quarter", 0.25},
	{"then_less_quarter", -0.25},
}

// limit is what a number limits.
type limit int

const (
	noLimit limit = iota
	lower         // from, at least
	upper         // until, at most
)

var vocabularies = sync.OnceValue(func() map[string]*vocabulary { //nolint:gochecknoglobals // read once
	all := map[string]*vocabulary{}
	for _, code := range lexicon.Languages("claims") {
		all[code] = readVocabulary(code)
	}
	return all
})

func readVocabulary(code string) *vocabulary {
	set := func(concept string) map[string]bool {
		words := map[string]bool{}
		for _, w := range lexicon.In(code, "claims", concept) {
			words[fold(w)] = true
		}
		return words
	}
	v := &vocabulary{
		code:       code,
		harmless:   set("harmless"),
		negative:   set("negative"),
		only:       set("only"),
		lower:      set("lower"),
		upper:      set("upper"),
		lowerAfter: set("lower_after"),
		upperAfter: set("upper_after"),
		least:      set("least"),
		ranges:     set("range"),
		hours:      set("hours"),
		condition:  set("condition"),
		periods:    set("periods"),
		relatives:  set("relatives"),
		refers:     set("refers"),
		numbers:    map[string]float64{},
		days:       map[string]int{},
	}
	for _, w := range lexicon.In(code, "claims", "deeds") {
		v.deeds = append(v.deeds, fold(w))
	}
	for _, c := range clockConcepts {
		for _, w := range lexicon.In(code, "claims", c.concept) {
			v.clock = append(v.clock, clockPhrase{strings.Fields(fold(w)), c.offset, strings.HasPrefix(c.concept, "then")})
		}
	}
	v.readNumbers()
	return v
}

func (v *vocabulary) readNumbers() {
	for _, row := range lexicon.Rows(v.code, "numbers") {
		if n, err := strconv.ParseFloat(row.Concept, 64); err == nil {
			for _, w := range row.Words() {
				if !strings.ContainsAny(w, "?!") {
					v.numbers[fold(strings.TrimRight(w, "~"))] = n
				}
			}
		}
	}
	for _, row := range lexicon.Rows(v.code, "claims") {
		if n, err := strconv.ParseFloat(strings.TrimPrefix(row.Concept, "n"), 64); err == nil && strings.HasPrefix(row.Concept, "n") {
			for _, w := range row.Words() {
				v.numbers[fold(w)] = n
			}
		}
	}
	for concept, hour := range map[string]float64{"noon": 12, "midnight": 24} {
		for _, w := range lexicon.In(v.code, "claims", concept) {
			if w = fold(w); !strings.Contains(w, " ") {
				v.numbers[w] = hour
			}
		}
	}
	for i, row := range lexicon.Rows(v.code, "days") {
		for _, w := range row.Words() {
			v.days[fold(w)] = i
		}
	}
}

// vocabularyOf returns the vocabulary of the language of a claim: the one with the most of its words.
func vocabularyOf(c Claim) *vocabulary {
	words := strings.FieldsFunc(fold(c.Sentence+" "+strings.Join(c.Units, " ")+" "+c.Question), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz'", r)
	})
	var best *vocabulary
	most := -1
	for _, code := range lexicon.Languages("claims") {
		v := vocabularies()[code]
		n := 0
		for _, w := range words {
			if v.harmless[w] || v.negative[w] {
				n++
			}
		}
		if n > most {
			most = n
			best = v
		}
	}
	return best
}

// isContent reports whether a token says something of its own.
func (v *vocabulary) isContent(t token) bool {
	if t.isNumber {
		return true
	}
	for _, set := range []map[string]bool{v.harmless, v.negative, v.only, v.lower, v.upper, v.lowerAfter, v.upperAfter, v.condition} {
		if set[t.word] {
			return false
		}
	}
	return t.currency == ""
}

func (v *vocabulary) isRelative(t token) bool { return v.relatives[t.word] }

// day returns the number of a weekday, from Sunday.
func (v *vocabulary) day(t token) (int, bool) {
	for name, n := range v.days {
		if name == t.word || len(name) >= 4 && strings.HasPrefix(t.word, name) && len(t.word) <= len(name)+3 {
			return n, true
		}
	}
	return 0, false
}

func (v *vocabulary) isDay(t token) bool {
	_, ok := v.day(t)
	return ok
}

// isAnsweredDay reports whether a weekday lies in a range of days of the sources.
func (v *vocabulary) isAnsweredDay(t token, source []clause) bool {
	day, ok := v.day(t)
	if !ok {
		return false
	}
	for _, c := range source {
		var found []int
		for _, other := range c.tokens {
			if n, isDay := v.day(other); isDay {
				found = append(found, n)
			}
		}
		if len(found) == 2 && v.isRange(c) {
			for d := found[0]; ; d = (d + 1) % 7 {
				if d == day {
					return true
				}
				if d == found[1] {
					break
				}
			}
		}
	}
	return false
}

// isRange reports whether between the two days of a clause stands a dash or a word such as "to".
func (v *vocabulary) isRange(c clause) bool {
	seen := false
	for _, t := range c.tokens {
		if v.isDay(t) {
			if seen {
				return t.dash
			}
			seen = true
			continue
		}
		if seen {
			return v.upper[t.word] || v.ranges[t.word]
		}
	}
	return false
}

func (v *vocabulary) denies(c clause) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return v.negative[t.word] })
}

func (v *vocabulary) limits(c clause) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return v.only[t.word] })
}

func (v *vocabulary) hasCondition(c clause) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return v.condition[t.word] })
}

// deedIn returns the words of a sentence by which the assistant says that it did or will do something, unless its source
// has them.
func (v *vocabulary) deedIn(c Claim) string {
	said, source := wordsOnly(c.Sentence), wordsOnly(strings.Join(c.Units, " . "))
	for _, deed := range v.deeds {
		if d := wordsOnly(deed); strings.Contains(said, d) && !strings.Contains(source, d) {
			return strings.TrimSpace(d)
		}
	}
	return ""
}

// wordsOnly returns the words of a text between single spaces.
func wordsOnly(s string) string {
	return " " + strings.Join(strings.FieldsFunc(fold(s), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?()\"“”„'", r)
	}), " ") + " "
}

// limitAt returns the limit that a number of a clause is.
func (v *vocabulary) limitAt(c clause, at int) limit {
	if !c.tokens[at].isNumber {
		return noLimit
	}
	if c.tokens[at].dash {
		return upper
	}
	for i := at - 1; i >= max(0, at-4); i-- {
		t := c.tokens[i]
		isLeast := i > 0 && v.least[c.tokens[i-1].word]
		switch {
		case v.lower[t.word] || v.upper[t.word] && isLeast:
			return lower
		case v.upper[t.word]:
			return upper
		case !v.isJoint(t):
			i = -1
		}
	}
	if c.tokens[at].starts {
		return lower
	}
	for i := at + 1; i < min(len(c.tokens), at+5); i++ {
		t := c.tokens[i]
		switch {
		case v.lowerAfter[t.word]:
			return lower
		case v.upperAfter[t.word]:
			return upper
		case !v.isJoint(t):
			return noLimit
		}
	}
	return noLimit
}

// maxJoint is the length of the words that may stand between a number and its limit, beside units of time.
const maxJoint = 4

func (v *vocabulary) isJoint(t token) bool {
	return !t.isNumber && (len(t.word) <= maxJoint || v.periods[t.word] || t.currency != "")
}

// sameLimit reports whether two numbers limit the same. Two numbers that are one range in both are the same limits.
func (v *vocabulary) sameLimit(c clause, at int, s clause, i int) bool {
	said, source := v.limitAt(c, at), v.limitAt(s, i)
	if said == source || source != noLimit && said == noLimit && s.tokens[i].isTime && s.tokens[i].starts {
		return true
	}
	for _, step := range []int{-1, 1} {
		other, otherSource := nextNumber(c, at, step), nextNumber(s, i, step)
		if other < 0 || otherSource < 0 || !c.tokens[other].sameValue(s.tokens[otherSource]) {
			continue
		}
		first, last := min(i, otherSource), max(i, otherSource)
		if s.tokens[last].dash || v.limitAt(s, first) == lower && v.limitAt(s, last) == upper {
			return true
		}
	}
	return false
}

// nextNumber returns the nearest number behind or before a token of a clause; -1 if there is none.
func nextNumber(c clause, at, step int) int {
	for i := at + step; i >= 0 && i < len(c.tokens); i += step {
		if c.tokens[i].isNumber {
			return i
		}
	}
	return -1
}

// periodAt returns the unit of time behind a number; empty if there is none.
func (v *vocabulary) periodAt(c clause, at int) string {
	for i := at + 1; i < min(len(c.tokens), at+4); i++ {
		t := c.tokens[i]
		if t.isNumber {
			break
		}
		if v.periods[t.word] {
			return t.word
		}
	}
	return ""
}

// hasPeriod reports whether a number of a source has a unit of time: the nearest one in its clause.
func (v *vocabulary) hasPeriod(s clause, at int, period string) bool {
	if found := v.periodAt(s, at); found != "" {
		return sameWord(found, period)
	}
	for i := at - 1; i >= 0; i-- {
		if v.periods[s.tokens[i].word] {
			return sameWord(s.tokens[i].word, period)
		}
	}
	return false
}
