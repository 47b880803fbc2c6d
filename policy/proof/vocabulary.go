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
	except     map[string]bool // except
	contrast   map[string]bool // but
	from       map[string]bool // before the begin of a time: from
	until      map[string]bool // before the end of a time: until, closes at
	within     map[string]bool // before that for which something holds: for, in, during
	ahead      map[string]bool // behind a length of time that ends at something: before, in advance
	of         map[string]bool // between a limited thing and its number: "a height of" 1.20 m
	weekdays   map[string]bool // Monday to Friday
	weekend    map[string]bool // Saturday and Sunday
	aged       []string        // endings that make a number an age
	phrases    map[string]bool // words of several words
	lower      map[string]bool // before a minimum: from, at least
	upper      map[string]bool // before a maximum: until, under
	lowerAfter map[string]bool // behind a minimum: "12 or older"
	may        map[string]bool // that something is possible or permitted: can, may
	more       map[string]bool // behind a price that is added to another one
	upperAfter map[string]bool // behind a maximum: "12 or younger"
	ranges     map[string]bool // between two days
	between    map[string]bool // before two numbers, or behind them, that are a range: "between 9 and 5"
	afternoon  map[string]bool // beside the hour of a time behind noon: "three in the afternoon"
	morning    map[string]bool // beside the hour of a time before noon
	noon       map[string]bool // noon, also beside the hour: "twelve noon"
	quarters   map[string]bool // behind how many of them: "three quarters"
	hours      map[string]bool // behind the hour of a time
	condition  map[string]bool // if, with, by appointment
	periods    map[string]bool // units of time
	deeds      []string        // what the assistant must not say of itself: "I have cancelled"
	beforeNoun map[string]bool // before a noun: the Polish "z", because its nouns may end as verbs do
	adjectives []string        // endings of adjectives
	endings    []string        // of verbs by which the assistant says what it did or will do: "cancelei", "rimborseremo"
	comfort    []string        // phrases that reassure: "no danger"
	thanks     map[string]bool // thanks
	messages   map[string]bool // that for which a business thanks: a message, a question
	passives   []string        // what may be a deed of somebody: "has been", "will be"
	joins      map[string]bool // between two statements: and, but
	or         map[string]bool // between two things of a list
	none       map[string]bool // those that deny what stands behind them: no, without
	refers     map[string]bool // they go on with the statement before: it, that
	clock      []clockPhrase
	relatives  map[string]bool // people of the customer: son, daughter
	numbers    map[string]float64
	ones       map[string]bool     // words for one, articles too
	days       map[string]int      // weekdays, from Sunday
	months     map[string]int      // from January, 0
	concepts   map[string][]string // what a word means
	units      map[string]string   // units of time, by their words
	capitals   bool                // nouns are written with a capital letter
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
		except:     set("except"),
		contrast:   set("contrast"),
		from:       set("from"),
		until:      set("until"),
		within:     set("within"),
		ahead:      set("ahead"),
		of:         set("of"),
		weekdays:   set("weekdays"),
		weekend:    set("weekend"),
		phrases:    map[string]bool{},
		lower:      set("lower"),
		upper:      set("upper"),
		lowerAfter: set("lower_after"),
		upperAfter: set("upper_after"),
		ranges:     set("range"),
		between:    set("between"),
		beforeNoun: set("before_noun"),
		afternoon:  set("afternoon"),
		morning:    set("morning"),
		noon:       set("noon"),
		messages:   set("messages"),
		thanks:     map[string]bool{},
		quarters:   set("quarters"),
		hours:      set("hours"),
		condition:  set("condition"),
		periods:    set("periods"),
		relatives:  set("relatives"),
		refers:     set("refers"),
		joins:      set("joins"),
		or:         set("or"),
		may:        set("may"),
		more:       set("more"),
		none:       set("none"),
		numbers:    map[string]float64{},
		ones:       map[string]bool{},
		days:       map[string]int{},
		months:     map[string]int{},
		concepts:   map[string][]string{},
		units:      map[string]string{},
		capitals:   code == "de",
	}
	for concept, phrases := range map[string]*[]string{"deeds": &v.deeds, "passives": &v.passives, "comfort": &v.comfort} {
		for _, w := range lexicon.In(code, "claims", concept) {
			*phrases = append(*phrases, fold(w))
		}
	}
	for _, w := range lexicon.In(code, "thanks", "thanks") {
		v.thanks[fold(w)] = true
	}
	for _, c := range clockConcepts {
		for _, w := range lexicon.In(code, "claims", c.concept) {
			v.clock = append(v.clock, clockPhrase{strings.Fields(fold(w)), c.offset, strings.HasPrefix(c.concept, "then")})
		}
	}
	v.readEndings(code)
	for _, words := range []map[string]bool{
		v.harmless, v.only, v.except, v.from, v.until, v.ahead, v.weekdays, v.weekend, v.lower, v.upper, v.lowerAfter, v.condition,
		v.afternoon,
	} {
		for w := range words {
			v.phrases[w] = strings.Contains(w, " ")
		}
	}
	v.readConcepts()
	v.readNumbers()
	return v
}

// readEndings reads the endings of words.
func (v *vocabulary) readEndings(code string) {
	v.endings = lexicon.In(code, "claims", "deed_endings")
	v.adjectives = lexicon.In(code, "claims", "adjective_endings")
	for _, w := range lexicon.In(code, "claims", "aged") {
		v.aged = append(v.aged, fold(w))
	}
}

// readConcepts reads what words mean, and the units of time. Rows of words that are numbers, limits or denials, or opposites
// of one another, are no concepts here.
func (v *vocabulary) readConcepts() {
	for _, row := range lexicon.Rows(v.code, "concepts") {
		unit, isUnit := strings.CutPrefix(row.Concept, "unit.")
		for _, w := range row.Words() {
			w = fold(w)
			switch {
			case isUnit:
				v.units[w] = unit
			case v.relatives[w]:
			case !slices.Contains([]string{"open", "limit", "not", "minimum", "maximum"}, row.Concept):
				v.concepts[w] = append(v.concepts[w], row.Concept)
			}
		}
	}
	for unit := range sizes {
		if len(unit) < minUnit {
			v.units[unit] = unit
		}
	}
	v.units["min"] = "minute"
	for w := range v.periods {
		if v.units[w] == "" {
			v.units[w] = v.unitLike(w)
		}
	}
}

// freeWords are the words of all languages by which something is free.
var freeWords = sync.OnceValue(func() map[string]bool { //nolint:gochecknoglobals // read once
	words := map[string]bool{}
	for _, w := range lexicon.Words("concepts", "free") {
		words[fold(w)] = true
	}
	return words
})

// minUnit is the length of a word for a unit of time of which another word may be a form.
const minUnit = 3

// unitLike returns the unit of time of which a word is a form, such as "monthly"; the word itself if it is of none.
func (v *vocabulary) unitLike(word string) string {
	for _, row := range lexicon.Rows(v.code, "concepts") {
		unit, isUnit := strings.CutPrefix(row.Concept, "unit.")
		if !isUnit {
			continue
		}
		for _, w := range row.Words() {
			w = fold(w)
			if len(word) >= minUnit && len(w) >= minUnit && (strings.HasPrefix(word, w) || strings.HasPrefix(w, word)) {
				return unit
			}
		}
	}
	return word
}

// period returns the unit of time that a word names; empty if it names none.
func (v *vocabulary) period(word string) string {
	if unit := v.units[word]; unit != "" && v.isPeriod(unit, word) {
		return unit
	}
	for w, unit := range v.units {
		isForm := len(w) >= minPart && strings.HasPrefix(word, w[:len(w)-1]) && len(word) <= len(w)+maxEnding
		if isForm && v.isPeriod(unit, w) {
			return unit
		}
	}
	return ""
}

// maxEnding is the length of the ending of a form of a word.
const maxEnding = 3

// isPeriod reports whether the unit of a word can be compared.
func (v *vocabulary) isPeriod(unit, word string) bool {
	return v.periods[word] || unit == "night" || sizes[unit].of != ""
}

// number returns the number that a word means: "ten", "ten-year-old".
func (v *vocabulary) number(word string) (float64, bool) {
	if n, ok := v.numbers[word]; ok {
		return n, true
	}
	for _, ending := range v.aged {
		if i := strings.Index(word, ending); i > 0 {
			n, ok := v.numbers[word[:i]]
			return n, ok
		}
	}
	return 0, false
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
	for _, w := range lexicon.In(v.code, "numbers", "1") {
		v.ones[fold(strings.TrimRight(w, "~?!"))] = true
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
	for topic, names := range map[string]map[string]int{"days": v.days, "months": v.months} {
		for i, row := range lexicon.Rows(v.code, topic) {
			for _, w := range row.Words() {
				names[fold(w)] = i
			}
		}
	}
}

// vocabularyOf returns the vocabulary of the language of a text: the one with the most of its words. In doubt it is another
// text's.
func vocabularyOf(s string, other *vocabulary) *vocabulary {
	words := strings.FieldsFunc(fold(s), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz'", r)
	})
	best := other
	most := -1
	if other != nil {
		const margin = 2
		most = other.count(words) + margin
	}
	for _, code := range lexicon.Languages("claims") {
		v := vocabularies()[code]
		if n := v.count(words); n > most {
			most = n
			best = v
		}
	}
	return best
}

// count returns how many words belong to the language.
func (v *vocabulary) count(words []string) (n int) {
	for _, w := range words {
		_, isNumber := v.numbers[w]
		if v.harmless[w] || v.negative[w] || isNumber {
			n++
		}
	}
	return n
}

// isContent reports whether a token says something of its own.
func (v *vocabulary) isContent(t token) bool {
	return t.isNumber || t.currency == "" && !v.isFunction(t.word)
}

// isFunction reports whether a word says nothing of its own.
func (v *vocabulary) isFunction(word string) bool {
	for _, set := range []map[string]bool{
		v.harmless, v.negative, v.only, v.except, v.from, v.until, v.ahead, v.of, v.lower, v.upper, v.lowerAfter, v.upperAfter, v.condition,
	} {
		if set[word] {
			return true
		}
	}
	return false
}

// day returns the number of a weekday, from Sunday; -1 for another word.
func (v *vocabulary) day(word string) int { return numberOf(v.days, word) }

// month returns the number of a month, from 0; -1 for another word.
func (v *vocabulary) month(word string) int { return numberOf(v.months, word) }

// numberOf returns the number of the name of which a word is a form; -1 if it is of none.
func numberOf(names map[string]int, word string) int {
	for name, n := range names {
		if name == word || len(name) >= 4 && strings.HasPrefix(word, name) && len(word) <= len(name)+maxEnding {
			return n
		}
	}
	return -1
}

// wordsOnly returns the words of a text between single spaces.
func wordsOnly(s string) string {
	return " " + strings.Join(strings.FieldsFunc(fold(s), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?()\"“”„'", r)
	}), " ") + " "
}
