package search

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"multis/internal/language/lexicon"
)

// token is a word of a text with what stands before it.
type token struct {
	text string // in lower case and without accents
	gap  string // what stands between it and the word before
}

// plainLetters replaces letters that have no accent to remove.
var plainLetters = strings.NewReplacer("ł", "l", "ı", "i", "ø", "o", "ß", "ss", "æ", "ae", "œ", "oe", "đ", "d") //nolint:gochecknoglobals // a constant

// plain returns a text in lower case and without accents.
func plain(text string) string { return plainLetters.Replace(strings.ToLower(fold(text))) }

// tokens splits a text into words and numbers.
func tokens(text string) (list []token) {
	text = plain(text)
	from, end := -1, 0
	kind := other
	flush := func(to int) {
		if from >= 0 {
			list = append(list, token{text: text[from:to], gap: text[end:from]})
			from, end = -1, to
		}
	}
	for i, r := range text {
		k := kindOf(r)
		if k != kind {
			flush(i)
		}
		if k != other && from < 0 {
			from = i
		}
		kind = k
	}
	flush(len(text))
	return list
}

// dictionary is the part of the lexicon by which words of questions and documents are compared, for one language.
type dictionary struct {
	code     string
	side     map[string]bool
	concepts map[string][]string // the names of the concepts of a word
	alike    map[string][]string // the words of concepts by the bytes in which their forms begin: see isForm
	days     calendar            // from Sunday
	months   calendar            // from January
	limits   map[string][]string // the kinds of limits that a word makes of a number
}

// The kinds of words that make a number a limit, as they are named in the lexicon. The last one stands behind the number.
const (
	lowerLimit = "lower"
	upperLimit = "upper"
	lowerAfter = "lower_after"
)

// readDictionaries reads the dictionaries on the first call.
var readDictionaries = sync.OnceValue(func() (all []dictionary) {
	for _, code := range lexicon.Languages("concepts") {
		d := dictionary{
			code:     code,
			side:     map[string]bool{},
			concepts: map[string][]string{},
			alike:    map[string][]string{},
			limits:   map[string][]string{},
		}
		for _, kind := range []string{lowerLimit, upperLimit, lowerAfter} {
			for _, word := range lexicon.In(code, "claims", kind) {
				d.limits[plain(word)] = append(d.limits[plain(word)], kind)
			}
		}
		for _, concept := range []string{"side", "continue"} {
			for _, word := range lexicon.In(code, "side", concept) {
				d.side[plain(word)] = true
			}
		}
		for _, row := range lexicon.Rows(code, "concepts") {
			for _, word := range row.Words() {
				word = plain(word)
				d.concepts[word] = append(d.concepts[word], row.Concept)
				if joined := strings.ReplaceAll(word, "-", ""); joined != word {
					d.concepts[joined] = append(d.concepts[joined], row.Concept)
				}
			}
		}
		for word := range d.concepts {
			if len(word) >= minForm {
				d.alike[word[:minSame]] = append(d.alike[word[:minSame]], word)
			}
		}
		d.days = readCalendar(code, "days")
		d.months = readCalendar(code, "months")
		all = append(all, d)
	}
	return all
})

// calendar has the names of days or months in one language.
type calendar struct {
	at    map[string]int      // the place of a name, from 0
	alike map[string][]string // the names by their first minDayPrefix bytes
}

func readCalendar(code, topic string) calendar {
	c := calendar{at: map[string]int{}, alike: map[string][]string{}}
	for i, row := range lexicon.Rows(code, topic) {
		for _, word := range row.Words() {
			name := plain(word)
			c.at[name] = i
			if len(name) > minDayPrefix {
				c.alike[name[:minDayPrefix]] = append(c.alike[name[:minDayPrefix]], name)
			}
		}
	}
	return c
}

// dictionariesOf returns the dictionaries of the languages that most words of a text are side words of; all of them for a
// text without side words.
func dictionariesOf(list []token) []dictionary {
	all := readDictionaries()
	counts, most := make([]int, len(all)), 0
	for i, d := range all {
		for _, t := range list {
			if d.side[t.text] {
				counts[i]++
			}
		}
		most = max(most, counts[i])
	}
	var found []dictionary
	for i, d := range all {
		if counts[i] == most {
			found = append(found, d)
		}
	}
	return found
}

// dictionariesAmong returns the dictionaries of a text's languages. Of several that fit equally well it takes those that
// are spoken.
func dictionariesAmong(list []token, spoken []dictionary) []dictionary {
	found := dictionariesOf(list)
	both := slices.DeleteFunc(slices.Clone(found), func(d dictionary) bool {
		return !slices.ContainsFunc(spoken, func(s dictionary) bool { return s.code == d.code })
	})
	if len(both) == 0 {
		return found
	}
	return both
}

// reader reads words in the languages of some dictionaries.
type reader struct {
	dictionaries []dictionary
	known        map[string][]string // concepts of words that were looked up
}

func newReader(dictionaries []dictionary) *reader {
	return &reader{dictionaries: dictionaries, known: map[string][]string{}}
}

// isSide reports whether a word stands beside what a question is about.
func (r *reader) isSide(word string) bool {
	return utf8.RuneCountInString(word) == 1 && !unicode.IsDigit(rune(word[0])) ||
		slices.ContainsFunc(r.dictionaries, func(d dictionary) bool { return d.side[word] })
}

// conceptsOf returns the concepts that a word, or another form of it, names.
func (r *reader) conceptsOf(word string) []string {
	if found, ok := r.known[word]; ok {
		return found
	}
	var found []string
	for _, d := range r.dictionaries {
		if exact := d.concepts[word]; len(exact) > 0 {
			found = append(found, exact...)
			continue
		}
		if d.side[word] {
			continue // "with" is no form of "without"
		}
		if len(word) < minSame {
			continue
		}
		for _, w := range d.alike[word[:minSame]] {
			if isForm(word, w) {
				found = append(found, d.concepts[w]...)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	r.known[word] = found
	return found
}

// hasLimit reports whether one of some words beside a number makes it a limit of a kind.
func (r *reader) hasLimit(words []string, kind string) bool {
	return slices.ContainsFunc(r.dictionaries, func(d dictionary) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(d.limits[w], kind) })
	})
}

// day returns the day of the week that a word names, from Sunday; -1 for none.
func (r *reader) day(word string) int {
	return r.named(word, func(d dictionary) calendar { return d.days })
}

// month returns the month that a word names, from January; -1 for none.
func (r *reader) month(word string) int {
	return r.named(word, func(d dictionary) calendar { return d.months })
}

// minDayPrefix is the length from which the beginning of the name of a day or month counts as the name.
const minDayPrefix = 3

func (r *reader) named(word string, of func(dictionary) calendar) int {
	if isDigits(word) {
		return -1
	}
	for _, d := range r.dictionaries {
		names := of(d)
		if at, ok := names.at[word]; ok {
			return at
		}
		if len(word) < minDayPrefix {
			continue
		}
		if at, ok := names.at[strings.TrimSuffix(word, "s")]; ok && len(word) > minDayPrefix {
			return at
		}
		for _, name := range names.alike[word[:minDayPrefix]] {
			rest, isLonger := strings.CutPrefix(word, name)
			isShort := len(word) == minDayPrefix && d.code == "en"
			if isShort || isLonger && isDayPart(rest) {
				return names.at[name]
			}
		}
	}
	return -1
}

// isDayPart reports whether what follows the name of a day or month is an ending or a part of the day, as in
// "dienstagabend", "lunedi", "haziranda".
func isDayPart(rest string) bool { return len(rest) <= 8 }

// minForm is the length from which words with the same beginning may be forms of each other; minSame are the bytes in which
// they begin alike at least.
const minForm, minSame = 4, 3

// isForm reports whether two words are forms of one word: they differ in an ending.
func isForm(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) < minSame || len(b) < minSame || a[:minSame] != b[:minSame] || isNumber(a) {
		return false
	}
	short, long := []rune(a), []rune(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	same := 0
	for same < len(short) && short[same] == long[same] {
		same++
	}
	more := len(long) - len(short)
	ending := string(long[same:])
	isPlural := len(short) == 3 && (ending == "s" || ending == "es")
	if same == len(short) && (len(short) >= minForm && more <= 3 || isPlural) {
		return true
	}
	return same >= minForm && len(short)-same <= 2 && len(long)-same <= 3 && 3*same >= 2*len(long)
}

// minPart is the length from which a word is looked for inside another one.
const minPart = 5

// isPart reports whether a word is the beginning or the end of a compound.
func isPart(part, compound string) bool {
	length := utf8.RuneCountInString(part)
	if length < minPart || utf8.RuneCountInString(compound) < length+3 {
		return false
	}
	stem := strings.TrimRight(part, "aeiouns")
	if utf8.RuneCountInString(stem) < minPart-1 {
		stem = part
	}
	return strings.HasPrefix(compound, stem) || strings.HasSuffix(compound, part)
}
