package policy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/text"
)

// MentionsName reports whether the text has the assistant's name as a whole word, in any case. A name inside a longer name ("Nora-Lena"), a
// mail address or a host name does not count, because a wrong answer is worse than a missing one. An empty name never matches.
func MentionsName(name, text string) bool {
	needle, haystack := fold(name), fold(text)
	for start := range wordMatches(haystack, needle) {
		if !isJoinedBefore(haystack, start) && !isJoinedAfter(haystack, start+len(needle)) {
			return true
		}
	}
	return false
}

// WithoutName removes the assistant's name from a text, so that only the question is left. It does not change a text that is only the name.
func WithoutName(name, text string) string {
	words, nameWords := strings.Fields(text), strings.Fields(name)
	isName := func(word, part string) bool {
		return strings.EqualFold(strings.TrimFunc(word, func(r rune) bool { return !isWord(r) }), part)
	}
	var kept []string
	for len(words) > 0 {
		n := min(len(nameWords), len(words))
		if n > 0 && slices.EqualFunc(words[:n], nameWords, isName) {
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

// isJoinedBefore reports whether the word at i is joined to the one before it: "anna-nora", "info.nora".
func isJoinedBefore(text []rune, i int) bool {
	return i >= 2 && strings.ContainsRune("-.@/_", text[i-1]) && isWord(text[i-2])
}

// isJoinedAfter reports whether the word that ends before i is joined to the next one: "nora-lena", "nora@example.com".
func isJoinedAfter(text []rune, i int) bool {
	return i+1 < len(text) && strings.ContainsRune("-.@/_", text[i]) && isWord(text[i+1])
}

// FindKeyword returns the first of the keywords that the text has as a whole word, in any case. A keyword may be several words; spacing
// and invisible characters in the text do not matter.
func FindKeyword(keywords []string, text string) (keyword string, found bool) {
	haystack := fold(text)
	for _, keyword := range keywords {
		for range wordMatches(haystack, fold(keyword)) {
			return keyword, true
		}
	}
	return "", false
}

// IsBridgeCommand reports whether a bridge could run the text as a command instead of relaying it: it begins with an exclamation mark and a
// letter, after spaces and invisible characters.
func IsBridgeCommand(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) })
	rest, bang := strings.CutPrefix(text, "!")
	first, _ := utf8.DecodeRuneInString(rest)
	return bang && unicode.IsLetter(first)
}

// wordMatches yields the positions at which the text has needle as whole words. Both must be folded.
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

// isBoundary reports whether a word may end between two neighbouring characters. Scripts without spaces have a boundary everywhere.
func isBoundary(before, after rune) bool {
	return !isWord(before) || !isWord(after) || isSpaceless(before) || isSpaceless(after)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isSpaceless(r rune) bool {
	const first = 0x0e00 // the first character of Thai: the tables need not be searched below it, which is faster
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// isInvisible reports whether a character is not visible.
func isInvisible(r rune) bool { return text.IsInvisible(r) }

// fold returns a text for comparison: in one case, with single spaces, and without invisible characters.
func fold(text string) []rune {
	folded := collapseSpaces(text)
	for i, r := range folded {
		folded[i] = foldRune(r)
	}
	return folded
}

// collapseSpaces returns a text without invisible characters, with one space between words and none at the ends.
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

// foldRune returns the same rune for all cases of a letter.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return unicode.ToLower(least)
}
