// Package language tells in which language a text is, so that its words are cut to stems the right way. It knows the
// languages below by their commonest words and by their script; everything else is left as it stands.
package language

import (
	"slices"
	"strings"
	"unicode"
)

// Language is the name of one of Postgres' text search configurations.
type Language string

// The languages that are told apart. Simple is for all others: words stay as they are, and none is a stop word.
const (
	Unknown    Language = "" // too little text to tell
	English    Language = "english"
	German     Language = "german"
	French     Language = "french"
	Spanish    Language = "spanish"
	Portuguese Language = "portuguese"
	Italian    Language = "italian"
	Dutch      Language = "dutch"
	Russian    Language = "russian"
	Arabic     Language = "arabic"
	Simple     Language = "simple"
)

const (
	// commonWeight is what a common word of a language counts; a word that is spelt in its way counts one.
	commonWeight = 2
	// enoughHits is what a text must reach for a language, and hitShare what each of its words must on average.
	enoughHits = 2 * commonWeight
	hitShare   = 0.1 * commonWeight
	// enoughWords is how long a text of letters must be for the absence of common words to tell something.
	enoughWords = 20
	// lookedAt is how many words of a text are looked at.
	lookedAt = 80
)

// Detect tells the language of a text: Unknown if it is too short or mixed, Simple if it is none that is known.
func Detect(text string) Language {
	words := head(text)
	if l := byScript(words); l != Unknown {
		return l
	}
	found, first, second := best(tally(words))
	switch {
	case first >= enoughHits && float64(first) >= hitShare*float64(len(words)) && first > second:
		return found
	case first < enoughHits && len(words) >= enoughWords && foreign(text):
		return Simple
	default:
		return Unknown
	}
}

// IsCommon reports whether a word is among the commonest of a language that is known.
func IsCommon(word string) bool { return commonIn(strings.ToLower(word)) != 0 }

// head is the first words of a text.
func head(text string) []string {
	words := make([]string, 0, lookedAt)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if words = append(words, strings.ToLower(w)); len(words) == lookedAt {
			break
		}
	}
	return words
}

// OrOf is the language of a text that stands in one of language whole. What cannot be told is English if it is written
// like it.
func OrOf(text string, whole Language) Language {
	if l := Detect(text); l != Unknown {
		return l
	}
	if whole != Unknown {
		return whole
	}
	if foreign(text) {
		return Simple
	}
	return English
}

// foreign tells whether there are letters that English does not have. A price list without them may well be English.
func foreign(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) })
}

// byScript tells what the letters tell alone; Unknown for Latin ones.
func byScript(words []string) Language {
	var latin, cyrillic, arabic, others int
	russian, arab := true, true
	for _, w := range words {
		for _, r := range w {
			switch {
			case unicode.Is(unicode.Latin, r):
				latin++
			case unicode.Is(unicode.Cyrillic, r):
				cyrillic++
				russian = russian && !strings.ContainsRune("іїєґўјљњћђџѓќѕ", r)
			case unicode.Is(unicode.Arabic, r):
				arabic++
				arab = arab && !strings.ContainsRune("پچژگکیٹڈڑےں", r)
			default:
				others++
			}
		}
	}
	most := max(latin, cyrillic, arabic, others)
	switch {
	case most == latin:
		return Unknown
	case most == cyrillic && russian:
		return Russian
	case most == arabic && arab:
		return Arabic
	default:
		return Simple
	}
}

// tally counts what speaks for each of the languages of Latin letters: their common words, and where those leave it
// open, how the other words are spelt.
func tally(words []string) (counts [7]int) {
	for _, w := range words {
		in := commonIn(w)
		for i := range counts {
			counts[i] += commonWeight * (in >> i & 1)
		}
	}
	if _, first, second := best(counts); first >= enoughHits && first > second+commonWeight {
		return counts
	}
	for i, l := range latin() {
		pieces := spelling(l)
		for _, w := range words {
			if commonIn(w) == 0 && slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(w+" ", piece) }) {
				counts[i]++
			}
		}
	}
	return counts
}

// best is the language with the most, and how much the next one has.
func best(counts [7]int) (found Language, first, second int) {
	for i, n := range counts {
		switch {
		case n > first:
			found, first, second = latin()[i], n, first
		case n > second:
			second = n
		}
	}
	return found, first, second
}

// spelling lists pieces of words that one language has and its neighbours write otherwise.
func spelling(l Language) []string {
	switch l {
	case English:
		return []string{"th", "wh", "ing ", "ght"}
	case German:
		return []string{"sch", "ung ", "ß", "ä", "ö", "ü", "keit", "lich "}
	case French:
		return []string{"eux ", "aux ", "ez ", "oi", "è", "ê", "tion "}
	case Spanish:
		return []string{"ñ", "ción", "dad ", "ía", "ll", "rr", "ue"}
	case Portuguese:
		return []string{"ã", "õ", "ção", "nh", "lh", "dade "}
	case Italian:
		return []string{"zion", "tà ", "gli", "cch", "tto ", "zz"}
	case Dutch:
		return []string{"ij", "aa", "oe", "isch", "heid ", "uu"}
	case Unknown, Russian, Arabic, Simple:
	}
	return nil
}
