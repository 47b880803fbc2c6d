package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/text"
)

// Addressed reports whether the text calls the assistant by its name: as a whole word, in any case. A name that is part of
// a longer one ("Nora-Lena"), of a mail address or of a host name does not count, since a wrong answer costs more here than
// a missed one. An empty name is never called.
func Addressed(name, text string) bool {
	needle, hay := fold(name), fold(text)
	for start := range wordMatches(hay, needle) {
		if !isJoinedBefore(hay, start) && !isJoinedAfter(hay, start+len(needle)) {
			return true
		}
	}
	return false
}

// WithoutName takes the assistant's name out of a text that calls it, so that what is left is what is asked. In a text that is
// nothing but the name, it stays.
func WithoutName(name, text string) string {
	words, called := strings.Fields(text), strings.Fields(name)
	isName := func(word, part string) bool {
		return strings.EqualFold(strings.TrimFunc(word, func(r rune) bool { return !isWord(r) }), part)
	}
	var kept []string
	for len(words) > 0 {
		n := min(len(called), len(words))
		if n > 0 && slices.EqualFunc(words[:n], called, isName) {
			words = words[n:]
			continue
		}
		kept, words = append(kept, words[0]), words[1:]
	}
	if len(kept) == 0 {
		return text
	}
	return strings.Join(kept, " ")
}

// isJoinedBefore reports whether the word that starts at i hangs on another one: "anna-nora", "info.nora".
func isJoinedBefore(text []rune, i int) bool {
	return i >= 2 && strings.ContainsRune("-.@/_", text[i-1]) && isWord(text[i-2])
}

// isJoinedAfter reports whether another word hangs on the one that ended before i: "nora-lena", "nora@example.com".
func isJoinedAfter(text []rune, i int) bool {
	return i+1 < len(text) && strings.ContainsRune("-.@/_", text[i]) && isWord(text[i+1])
}

// FindKeyword returns the first of the keywords that stands in the text as a whole word, in any case. A keyword may be
// several words; how they are spaced in the text does not matter, nor do invisible characters between their letters.
func FindKeyword(keywords []string, text string) (keyword string, found bool) {
	hay := fold(text)
	for _, keyword := range keywords {
		for range wordMatches(hay, fold(keyword)) {
			return keyword, true
		}
	}
	return "", false
}

// IsCommand reports whether a bridge could take the text for a command instead of relaying it: an exclamation mark and a
// letter at the start, which is how the prefixes of bridges begin. Blanks and invisible characters in front do not hide it.
func IsCommand(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) })
	rest, bang := strings.CutPrefix(text, "!")
	first, _ := utf8.DecodeRuneInString(rest)
	return bang && unicode.IsLetter(first)
}

// wordMatches yields the places where needle stands in text as a whole word. Both must have been folded.
func wordMatches(text, needle []rune) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		if len(needle) == 0 {
			return
		}
		for start := 0; start+len(needle) <= len(text); start++ {
			if text[start] != needle[0] || !hasRunes(text[start:], needle) {
				continue
			}
			end := start + len(needle)
			if (start > 0 && !isBoundary(text[start-1], text[start])) || (end < len(text) && !isBoundary(text[end-1], text[end])) {
				continue
			}
			if !yield(start) {
				return
			}
		}
	}
}

func hasRunes(text, prefix []rune) bool {
	for i, r := range prefix {
		if text[i] != r {
			return false
		}
	}
	return true
}

// isBoundary reports whether a word may end between two neighbours. Scripts written without blanks have one everywhere.
func isBoundary(before, after rune) bool {
	return !isWord(before) || !isWord(after) || isSpaceless(before) || isSpaceless(after)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isSpaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// isInvisible reports whether r is drawn as nothing at all.
func isInvisible(r rune) bool { return text.IsInvisible(r) }

// fold makes texts comparable: one case, one blank for any run of them, no invisible characters, nothing around it.
func fold(text string) []rune {
	folded := collapseSpaces(text)
	for i, r := range folded {
		folded[i] = foldRune(r)
	}
	return folded
}

// collapseSpaces is a text without what nobody sees and with one blank between words.
func collapseSpaces(text string) []rune {
	folded := make([]rune, 0, len(text))
	for _, r := range strings.TrimSpace(text) {
		switch {
		case isInvisible(r):
		case unicode.IsSpace(r):
			if len(folded) > 0 && folded[len(folded)-1] != ' ' {
				folded = append(folded, ' ')
			}
		default:
			folded = append(folded, r)
		}
	}
	if len(folded) > 0 && folded[len(folded)-1] == ' ' {
		folded = folded[:len(folded)-1]
	}
	return folded
}

// foldRune gives all spellings of a letter in different cases the same rune: the lower-case one that comes first.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}
