package search

import (
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Words cuts text into the words that are indexed and searched: lower case, without accents, letters apart from digits
// ("5kg" is found as "5 kg"), irregular forms of English words as their plain form. Stems and stop words are left to the
// database.
func Words(text string) []string {
	var words []string
	var word strings.Builder
	last := other
	flush := func() {
		if word.Len() > 0 {
			words = append(words, plainForm(word.String()))
			word.Reset()
		}
	}
	for _, r := range fold(text) {
		kind := kindOf(r)
		if kind != last {
			flush()
		}
		if kind != other {
			word.WriteRune(unicode.ToLower(r))
		}
		last = kind
	}
	flush()
	return words
}

// IndexText is what the search index holds of a passage: the words of its document's name, its headings and its text.
func IndexText(name, section, content string) string {
	name = strings.TrimSuffix(name, path.Ext(name))
	return strings.Join(Words(name+"\n"+section+"\n"+content), " ")
}

// IsQuestion tells whether text ends as a question does.
func IsQuestion(text string) bool {
	text = strings.TrimSpace(text)
	for _, mark := range []string{"?", "？", "؟"} {
		if strings.HasSuffix(text, mark) {
			return true
		}
	}
	return false
}

type charKind int

const (
	other charKind = iota
	letter
	digit
)

func kindOf(r rune) charKind {
	switch {
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	default:
		return other
	}
}

// fold takes accents off letters and makes one of the many forms of a letter. Marks that are letters of their script stay.
func fold(text string) string {
	if isASCII(text) {
		return text
	}
	bare := strings.Map(func(r rune) rune {
		if r >= 0x0300 && r <= 0x036F { // combining accents
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return norm.NFC.String(bare)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
