package language

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"multis/internal/language/lexicon"
	"multis/internal/text"
)

// Number is a number that is written in words in a text.
type Number struct {
	Value float64
	Words string // as written in the folded text
}

// condition says when a word counts as a number.
type condition uint8

const (
	always condition = iota
	inItsLanguage
	beforeTime
	beforePrice
)

// meaning is the numeric value of a word in one language, and when the word counts as a number.
type meaning struct {
	value float64
	when  condition
}

// numberTables holds the number words of all languages, and the words after which ambiguous ones count. All are folded.
type numberTables struct {
	words        map[Language]map[string]meaning
	starts       map[Language]map[string]bool // the first startLength bytes of the words
	prices, time map[string]bool
}

// startLength is at most the length of the shortest number word, in bytes.
const startLength = 2

// readTables reads the number words on the first call.
var readTables = sync.OnceValue(func() numberTables {
	t := numberTables{
		words:  map[Language]map[string]meaning{},
		starts: map[Language]map[string]bool{},
		prices: wordSet(lexicon.Words("units", "price"), lexicon.Words("units", "month")),
		time:   wordSet(lexicon.Words("units", "time")),
	}
	for _, code := range lexicon.Languages("months") {
		for _, month := range lexicon.Rows(code, "months") {
			t.prices[foldWord(month.Words()[0])] = true
		}
	}
	for _, code := range lexicon.Languages("numbers") {
		t.addNumbers(codes()[code], lexicon.Rows(code, "numbers"))
	}
	return t
})

// addNumbers adds the number words of one language. Each row has a number and its words, each with a mark that limits where it counts.
func (t numberTables) addNumbers(of Language, rows []lexicon.Row) {
	t.words[of], t.starts[of] = map[string]meaning{}, map[string]bool{}
	for _, row := range rows {
		number, err := strconv.ParseFloat(row.Concept, 64)
		if err != nil {
			panic("language: a row of number words without a number: " + row.Concept)
		}
		for _, word := range row.Words() {
			m := meaning{value: number}
			switch word[len(word)-1] {
			case '~':
				m.when = inItsLanguage
			case '!':
				m.when = beforeTime
			case '?':
				m.when = beforePrice
			}
			folded := foldWord(strings.TrimRight(word, "~!?"))
			t.words[of][folded], t.starts[of][folded[:startLength]] = m, true
		}
	}
}

func wordSet(lists ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, word := range list {
			set[foldWord(word)] = true
		}
	}
	return set
}

func foldWord(word string) string { return strings.ToLower(text.Fold(word)) }

// IsPriceWord reports whether a folded word is a unit of prices, a word for percent, or a month. A number before such a word is a price, a
// percentage or a day.
func IsPriceWord(word string) bool { return readTables().prices[word] }

// IsNumberWord reports whether a word means a number in a recognized language, whatever else it may mean.
func IsNumberWord(word string) bool {
	word = foldWord(word)
	for _, words := range readTables().words {
		if _, known := words[word]; known {
			return true
		}
	}
	return false
}

// NumbersIn returns the numbers that words contain, in every recognized language. words are folded and in lower case; of is the language
// of the text. A word with other meanings, such as an article, counts only before a price, a month or a unit of time. If all is set, it
// always counts.
func NumbersIn(words []string, of Language, all bool) []Number {
	t := readTables()
	var found []Number
	for _, l := range slices.Sorted(maps.Keys(t.words)) {
		for i := 0; i < len(words); {
			run := t.read(l, words[i:])
			if run.words == 0 {
				i++
				continue
			}
			if all || t.isNumber(run, l == of, words[i+run.words:]) {
				found = append(found, Number{Value: run.value, Words: strings.Join(words[i:i+run.words], " ")})
			}
			i += run.words
		}
	}
	return found
}

// numberRun is a sequence of words that may be one number.
type numberRun struct {
	value float64
	words int
	when  condition
}

// isNumber reports whether a sequence counts as a number, given the words after it. own means that it is in the language of the text.
func (t numberTables) isNumber(run numberRun, own bool, after []string) bool {
	for _, word := range after[:min(len(after), 2)] {
		if t.prices[word] || (run.when == beforeTime && t.time[word]) {
			return true
		}
	}
	return run.when == always || (run.when == inItsLanguage && own)
}

// read returns the number at the start of words, such as "twenty five", "zweihundertfünfzig", "cuarenta y nueve" or "تسعة
// وأربعون". If there is none, the number of words in the result is 0.
func (t numberTables) read(of Language, words []string) (run numberRun) {
	var total, current, last float64
	for run.words < len(words) {
		skip := 0
		if run.words > 0 && joinsNumbers(of, words[run.words]) && run.words+1 < len(words) {
			skip = 1
		}
		parts, when, prefixed := t.wordValues(of, words[run.words+skip])
		if len(parts) == 0 {
			break
		}
		if run.words > 0 && !continuesNumber(of, last, parts[0], skip == 1 || prefixed) {
			break
		}
		for i, value := range parts {
			switch {
			case of == French && value == 20 && last == 4:
				current += 76 // quatre-vingt: the 4 is already added, 4 + 76 = 80
			case value >= 1000 && value == float64(int(value)):
				total, current = total+max(current, 1)*value, 0
			case value == 100 && current > 0 && current < 10:
				current *= 100
			default:
				current += value
			}
			if last = value; i > 0 {
				when = always
			}
		}
		if run.words += 1 + skip; run.words == 1+skip && skip == 0 {
			run.when = when
		} else {
			run.when = always
		}
	}
	run.value = total + current
	return run
}

// joinsNumbers reports whether a word joins the parts of one number, as "and" does in English.
func joinsNumbers(of Language, word string) bool {
	switch of {
	case English:
		return word == "and"
	case German:
		return word == "und"
	case French:
		return word == "et"
	case Spanish:
		return word == "y"
	case Portuguese, Italian:
		return word == "e"
	case Dutch:
		return word == "en"
	default:
		return false
	}
}

// continuesNumber reports whether next belongs to the same number as last: next is a smaller part, or the hundred or thousand that last
// multiplies. joined means that a word such as "and" is between them.
func continuesNumber(of Language, last, next float64, joined bool) bool {
	switch {
	case next != float64(int(next)) || last != float64(int(last)):
		return false
	case next == 100 || next >= 1000:
		return last < next && !joined
	case joined && (of == English):
		return last >= 100
	case joined && (of == Arabic || of == German || of == Dutch) && last < 10:
		return next >= 20 && next < 100
	case of == French && (last == 4 && next == 20 || (last == 60 || last == 20) && next >= 10 && next < 20 ||
		last == 10 && next >= 7 && next < 10):
		return true
	case last >= 100:
		return next < 100
	case last >= 20:
		return next < 10
	default:
		return false
	}
}

// wordValues returns the values in a word: one, or several for a compound in English, German, Dutch or Italian. prefixed means that
// the word begins with "and".
func (t numberTables) wordValues(of Language, word string) (values []float64, when condition, prefixed bool) {
	if of != Arabic && !(len(word) >= startLength && t.starts[of][word[:startLength]]) { // most words, and it saves the search for compounds
		return nil, always, false
	}
	if m, known := t.words[of][word]; known {
		return []float64{m.value}, m.when, false
	}
	switch of {
	case English, German, Dutch, Italian:
		for _, ending := range ordinalEndings(of) {
			if stem, ends := strings.CutSuffix(word, ending); ends {
				if values := t.compound(of, stem, 0); values != nil {
					return values, always, false
				}
			}
		}
	case Arabic:
		for _, prefix := range []string{"و", "ب", "ل", "ال", "بال"} {
			if rest, starts := strings.CutPrefix(word, prefix); starts {
				if m, known := t.words[of][rest]; known {
					return []float64{m.value}, m.when, prefix == "و"
				}
			}
		}
	default:
	}
	return nil, always, false
}

// ordinalEndings returns the endings of ordinal numbers, which dates use. The empty ending is always among them.
func ordinalEndings(of Language) []string {
	switch of {
	case German:
		return []string{"", "te", "ten", "ter", "tes", "ste", "sten", "ster", "mal", "fach"}
	case Dutch:
		return []string{"", "de", "ste", "voud"}
	default:
		return []string{""}
	}
}

// compound splits a compound word into its number words and returns their values; nil if it contains anything else.
func (t numberTables) compound(of Language, word string, depth int) []float64 {
	const maxParts = 8
	if word == "" || depth == maxParts {
		return nil
	}
	if m, known := t.words[of][word]; known && m.value == float64(int(m.value)) {
		return []float64{m.value}
	}
	for end := len(word) - 1; end > 1; end-- {
		m, known := t.words[of][word[:end]]
		if !known || m.value != float64(int(m.value)) {
			continue
		}
		rest := word[end:]
		for _, joint := range []string{"", "und", "en", "e"} {
			if after, cut := strings.CutPrefix(rest, joint); cut && (joint == "" || joint == "und" && of == German || joint == "en" && of == Dutch) {
				if values := t.compound(of, after, depth+1); values != nil {
					return append([]float64{m.value}, values...)
				}
			}
		}
	}
	return nil
}
