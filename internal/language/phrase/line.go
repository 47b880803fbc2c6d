package phrase

import (
	"slices"
	"strings"
	"unicode"

	"multis/internal/text"
)

// Token is a word of a line.
type Token struct {
	Word     string // in lower case, without accents and punctuation
	IsPolite bool   // it only makes the line polite
	start    int    // in bytes
	end      int
}

// Line is a line as words.
type Line struct {
	Typed  string
	Tokens []Token
}

// elisions are the words of French that are joined to the next one by an apostrophe.
var elisions = []string{"j", "d", "l", "n", "s", "c", "t", "m", "qu", "jusqu"}

// Tokens returns the words of a text.
func Tokens(typed string) []Token {
	var tokens []Token
	start := -1
	flush := func(end int) {
		if start >= 0 {
			tokens = append(tokens, wordsOf(typed, start, end)...)
		}
		start = -1
	}
	for i, r := range typed {
		switch {
		case unicode.IsSpace(r):
			flush(i)
		case start < 0:
			start = i
		}
	}
	flush(len(typed))
	return tokens
}

// wordsOf returns the words between two spaces: one, or more if they are joined by an apostrophe or hyphens.
func wordsOf(typed string, start, end int) []Token {
	isPart := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '#' }
	trimmed := strings.TrimLeftFunc(typed[start:end], func(r rune) bool { return !isPart(r) })
	start = end - len(trimmed)
	end = start + len(strings.TrimRightFunc(trimmed, func(r rune) bool { return !isPart(r) }))
	if start >= end {
		return nil
	}
	word := strings.ReplaceAll(typed[start:end], "’", "'")
	if before, after, found := strings.Cut(word, "'"); found && slices.Contains(elisions, fold(before)) && after != "" {
		return append([]Token{{Word: fold(before), start: start, end: start + len(before)}}, wordsOf(typed, end-len(after), end)...)
	}
	if before, _, found := strings.Cut(word, "-"); found && isJoined(word) {
		at := start + len(before)
		return append([]Token{{Word: fold(before), start: start, end: at}}, wordsOf(typed, at+1, end)...)
	}
	return []Token{{Word: fold(word), start: start, end: end}}
}

// isJoined reports whether a text is words with hyphens, such as "rappelle-moi", and not the name of a file.
func isJoined(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
}

// wordForms are the spellings that text.Fold leaves apart.
var wordForms = strings.NewReplacer("'", "", "ß", "ss")

// fold makes words comparable: "Größe" is "grosse", and "don't" is "dont".
func fold(word string) string {
	return wordForms.Replace(strings.ToLower(text.Fold(word)))
}

// Read returns a text as a line. polite are phrases of politeness, such as "could you please".
func Read(typed string, polite [][]string) Line {
	line := Line{Typed: typed, Tokens: Tokens(typed)}
	for i := range line.Tokens {
		for _, words := range polite {
			if line.has(i, words) {
				for j := range words {
					line.Tokens[i+j].IsPolite = true
				}
			}
		}
	}
	return line
}

// Words returns the words of a text as Read compares them.
func Words(text string) []string {
	var words []string
	for _, t := range Tokens(text) {
		words = append(words, t.Word)
	}
	return words
}

// has reports whether the words stand in the line from a token on.
func (l Line) has(at int, words []string) bool {
	if at+len(words) > len(l.Tokens) {
		return false
	}
	for j, word := range words {
		if l.Tokens[at+j].Word != word {
			return false
		}
	}
	return true
}

// isRestPolite reports whether only words of politeness follow from a token on.
func (l Line) isRestPolite(at int) bool {
	return !slices.ContainsFunc(l.Tokens[at:], func(t Token) bool { return !t.IsPolite })
}

// Text returns the typed text of tokens. At the end of the line it includes the punctuation.
func (l Line) Text(from, to int) string {
	end := l.Tokens[to-1].end
	if to == len(l.Tokens) {
		end = len(l.Typed)
	}
	return strings.TrimSpace(l.Typed[l.Tokens[from].start:end])
}
