package language

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"multis/text"
)

// Number is a number that a text says in words.
type Number struct {
	Value float64
	Words string // as they stand in the folded text
}

// When a word counts as a number.
type condition uint8

const (
	always condition = iota
	inItsLanguage
	beforeTime
	beforePrice
)

// meaning is what a word stands for as a number in one language.
type meaning struct {
	value float64
	when  condition
}

// numberTables are the words of all languages as they stand in a folded text.
type numberTables struct {
	words        map[Language]map[string]meaning
	prices, time map[string]bool
}

// readTables reads them once.
var readTables = sync.OnceValue(func() numberTables {
	t := numberTables{words: map[Language]map[string]meaning{}, prices: wordSet(priceWords), time: wordSet(timeWords)}
	for of, lines := range numberWords {
		t.words[of] = map[string]meaning{}
		for line := range strings.Lines(lines) {
			value, words, _ := strings.Cut(strings.TrimSpace(line), " ")
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				panic("language: a line of number words without a number: " + line)
			}
			for word := range strings.FieldsSeq(words) {
				m := meaning{value: number}
				switch word[len(word)-1] {
				case '~':
					m.when = inItsLanguage
				case '!':
					m.when = beforeTime
				case '?':
					m.when = beforePrice
				}
				t.words[of][foldWord(strings.TrimRight(word, "~!?"))] = m
			}
		}
	}
	return t
})

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[foldWord(word)] = true
	}
	return set
}

func foldWord(word string) string { return strings.ToLower(text.Fold(word)) }

// IsPriceWord reports whether a number before a folded word is a price, a share or a day of a month.
func IsPriceWord(word string) bool { return readTables().prices[word] }

// NumbersIn lists the numbers that the words of a folded text in lower case say, in any language that is known. of is that of the text.
// Where a word may be something else, such as an article, it counts only where it stands for a price, a day or a time; with all, always.
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

// numberRun is the words of one number.
type numberRun struct {
	value float64
	words int
	when  condition
}

// isNumber tells whether what may be a number is one, by the words after it.
func (t numberTables) isNumber(run numberRun, own bool, after []string) bool {
	for _, word := range after[:min(len(after), 2)] {
		if t.prices[word] || (run.when == beforeTime && t.time[word]) {
			return true
		}
	}
	return run.when == always || (run.when == inItsLanguage && own)
}

// read reads the number that words begin with: "twenty five", "zweihundertfünfzig", "cuarenta y nueve", "تسعة وأربعون".
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
		if run.words > 0 && !continues(of, last, parts[0], skip == 1 || prefixed) {
			break
		}
		for i, value := range parts {
			switch {
			case of == French && value == 20 && last == 4:
				current += 76 // quatre-vingt
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

// joinsNumbers tells whether a word stands between the words of one number.
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

// continues tells whether a number goes on: with a smaller part, or with a hundred or thousand of what was said.
func continues(of Language, last, next float64, joined bool) bool {
	switch {
	case next != float64(int(next)) || last != float64(int(last)):
		return false
	case next == 100 || next >= 1000:
		return last < next && !joined
	case joined && (of == English):
		return last >= 100
	case joined && (of == Arabic || of == German || of == Dutch) && last < 10:
		return next >= 20 && next < 100
	case of == French && (last == 4 && next == 20 || (last == 60 || last == 20) && next >= 10 && next < 20 || last == 10 && next >= 7 && next < 10):
		return true
	case last >= 100:
		return next < 100
	case last >= 20:
		return next < 10
	default:
		return false
	}
}

// wordValues are the values of a word: one, or those that it is made of, as German, Dutch and Italian do it. prefixed says that it begins with "and".
func (t numberTables) wordValues(of Language, word string) (values []float64, when condition, prefixed bool) {
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

// ordinalEndings are those of the words for a place in an order, which stand in dates; and none.
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

// compound cuts a word into the words for numbers that it is made of; nil if it is anything else.
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
