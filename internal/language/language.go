// Package language detects the language of a text, so that full-text search stems its words correctly. It recognizes the languages below
// by their most common words and by their script.
package language

import (
	"slices"
	"strings"
	"unicode"

	"multis/internal/language/lexicon"
)

// Language is the name of one of Postgres' text search configurations.
type Language string

// The recognized languages. Simple means any other language: words are not stemmed, and none is a stop word.
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
	// commonWeight is the points for a common word of a language. A word with a typical spelling gets one point.
	commonWeight = 2
	// minScore is the minimum of points that a language needs in a text, and minScorePerWord the minimum per word.
	minScore        = 2 * commonWeight
	minScorePerWord = 0.1 * commonWeight
	// minWordsForSimple is how many words a text without common words must have to be Simple and not Unknown.
	minWordsForSimple = 20
	// maxWords is how many words of a text are examined.
	maxWords = 80
)

// Detect returns the language of a text: Unknown if the text is too short or mixed, Simple if its language is not recognized.
func Detect(text string) Language {
	words := firstWords(text)
	if l := byScript(words); l != Unknown {
		return l
	}
	if hasOtherLetters(words) {
		return Simple
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

// otherLetters are letters in Latin script that none of the recognized languages has, but Polish, Czech, Turkish, Swedish and others.
const otherLetters = "łąęśćźżńřěůčšžďťňğşıőűāēīūķļņģåøþðĺľŕ"

const (
	// minOtherShare is the minimum share of words with otherLetters in a text of another language, and minOtherWords their
	// minimum number. Names may have some in any language.
	minOtherShare = 0.15
	minOtherWords = 2
)

// hasOtherLetters reports whether a text is in Latin script, and in a language that is not recognized.
func hasOtherLetters(words []string) bool {
	n := 0
	for _, w := range words {
		if strings.ContainsAny(w, otherLetters) {
			n++
		}
	}
	return n >= minOtherWords && float64(n) >= minOtherShare*float64(len(words))
}

// Guess is Detect for a text that may be too short for it, such as a note of one sentence: then one common word decides,
// if none of another language is in the text.
func Guess(text string) Language {
	if l := Detect(text); l != Unknown {
		return l
	}
	words := firstWords(text)
	if found, first, second := topScores(score(words)); first >= commonWeight && second == 0 {
		return found
	}
	return Unknown
}

// IsCommon reports whether a word is among the most common words of a recognized language.
func IsCommon(word string) bool { return commonLanguages(strings.ToLower(word)) != 0 }

// firstWords returns the first maxWords words of a text in lower case. One with a digit is of no language, such as A7.
func firstWords(text string) []string {
	words := make([]string, 0, maxWords)
	isBetween := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) }
	for w := range strings.FieldsFuncSeq(text, isBetween) {
		if strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		if words = append(words, strings.ToLower(w)); len(words) == maxWords {
			break
		}
	}
	return words
}

// DetectPart returns the language of a part of a longer text. If the part is too short to tell, it returns the language
// of the whole. If that is Unknown too, it returns English for a text without letters outside ASCII, and Simple
// otherwise.
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

// hasForeignLetters reports whether a text has letters outside ASCII. A price list without such letters may well be English.
func hasForeignLetters(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsLetter(r) })
}

// byScript returns the language that the script and a few words or spellings determine; Unknown for Latin script, and for
// too little text to tell the languages of a script apart.
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
				russian = russian && !strings.ContainsRune("іїєґўјљњћђџѓќѕөүәғқңұһҳ", r)
			case unicode.Is(unicode.Arabic, r):
				arabic++
				arab = arab && !strings.ContainsRune("پچژگکیٹڈڑےں", r)
			default:
				others++
			}
		}
	}
	mostLetters := max(latin, cyrillic, arabic, others)
	switch {
	case mostLetters == latin:
		return Unknown
	case mostLetters == cyrillic && russian:
		return sureOf("ru", words)
	case mostLetters == arabic && arab:
		return sureOf("ar", words)
	default:
		return Simple
	}
}

// sureOf returns a language if a word shows that a text is in it, and in no other one of its script. A long text without such a word is in
// another language.
func sureOf(code string, words []string) Language {
	common := lexicon.In(code, "common", "most")
	pieces := lexicon.In(code, "common", "spellings")
	for _, w := range words {
		hasPiece := slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(w+"_", piece) })
		hasPrefix := code == "ar" && slices.ContainsFunc(lexicon.In(code, "common", "prefixes"), func(prefix string) bool {
			return len(w) > len(prefix)+2 && strings.HasPrefix(w, prefix)
		})
		if hasPiece || hasPrefix || slices.Contains(common, w) {
			return codes()[code]
		}
	}
	if len(words) < minWordsForSimple {
		return Unknown
	}
	return Simple
}

// score returns how many points each language of latinCodes gets: for its common words and, if these do not decide, for the spelling of the
// other words.
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
	for i, code := range latinCodes() {
		pieces := lexicon.In(code, "common", "spellings")
		for _, w := range words {
			if commonLanguages(w) == 0 && slices.ContainsFunc(pieces, func(piece string) bool { return strings.Contains(w+"_", piece) }) {
				counts[i]++
			}
		}
	}
	return counts
}

// topScores returns the language with the most points, its points, and the points of the second-best.
func topScores(counts [7]int) (found Language, first, second int) {
	for i, n := range counts {
		switch {
		case n > first:
			second = first
			first = n
			found = codes()[latinCodes()[i]]
		case n > second:
			second = n
		}
	}
	return found, first, second
}
