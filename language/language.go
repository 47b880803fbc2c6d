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
	// minScore is what a text must reach for a language, and minScorePerWord what each of its words must on average.
	minScore        = 2 * commonWeight
	minScorePerWord = 0.1 * commonWeight
	// minWordsForSimple is how long a text of letters must be for the absence of common words to tell something.
	minWordsForSimple = 20
	// maxWords is how many words of a text are looked at.
	maxWords = 80
)

// Detect tells the language of a text: Unknown if it is too short or mixed, Simple if it is none that is known.
func Detect(text string) Language {
	words := firstWords(text)
	if l := byScript(words); l != Unknown {
		return l
	}
	found, first, second := topScores(score(words))
	switch {
	case first >= minScore && float64(first) >= minScorePerWord*float64(len(words)) && first > second:
		return found
	case first < minScore && len(words) >= minWordsForSimple && hasForeignLetters(text):
		return Simple
	default:
		return Unknown
	}
}

// IsCommon reports whether a word is among the commonest of a language that is known.
func IsCommon(word string) bool { return commonLanguages(strings.ToLower(word)) != 0 }

// firstWords is the first words of a text.
func firstWords(text string) []string {
	words := make([]string, 0, maxWords)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		if words = append(words, strings.ToLower(w)); len(words) == maxWords {
			break
		}
	}
	return words
}

// DetectPart is the language of a text that stands in one of language whole. What cannot be told is English if it is written
// like it.
func DetectPart(text string, whole Language) Language {
	if l := Detect(text); l != Unknown {
		return l
	}
	if whole != Unknown {
		return whole
	}
	if hasForeignLetters(text) {
		return Simple
	}
	return English
}

// hasForeignLetters tells whether there are letters that English does not have. A price list without them may well be English.
func hasForeignLetters(text string) bool {
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

// score counts what speaks for each of the languages of Latin letters: their common words, and where those leave it
// open, how the other words are spelt.
func score(words []string) (counts [7]int) {
	for _, w := range words {
		in := commonLanguages(w)
		for i := range counts {
			counts[i] += commonWeight * (in >> i & 1)
		}
	}
	if _, first, second := topScores(counts); first >= minScore && first > second+commonWeight {
		return counts
	}
	for i, l := range latinLanguages() {
		pieces := spellings(l)
		for _, w := range words {
			if commonLanguages(w) == 0 && slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(w+" ", piece) }) {
				counts[i]++
			}
		}
	}
	return counts
}

// topScores is the language with the most, and how much the next one has.
func topScores(counts [7]int) (found Language, first, second int) {
	for i, n := range counts {
		switch {
		case n > first:
			found, first, second = latinLanguages()[i], n, first
		case n > second:
			second = n
		}
	}
	return found, first, second
}

// spellings lists pieces of words that one language has and its neighbours write otherwise.
func spellings(l Language) []string {
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
