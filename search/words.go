package search

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"multis/language"
)

// Words cuts text into the words that are indexed and searched: lower case, without accents, letters apart from digits
// ("5kg" is found as "5 kg"), what a hyphen joins to a letter also as one ("e-bike" is found as "ebike"), irregular forms of English words as their plain form. What is written without spaces is cut
// into pairs of characters. Stems and stop words are left to the database.
func Words(text string) []string { return words(text, readsEnglish(language.Detect(text))) }

// words is Words for a text of which it is known whether English forms are to be looked for.
func words(text string, english bool) []string {
	var list []string
	var word []rune
	last := other
	joined := "" // the letter that a hyphen joins to the next word
	flush := func(r rune) {
		switch {
		case len(word) == 0:
		case last == dense:
			list = append(list, pairs(word)...)
		case english:
			list = append(list, plainForm(string(word)))
		default:
			list = append(list, string(word))
		}
		if joined != "" && last == letter && len(word) > 1 {
			list = append(list, joined+string(word))
		}
		switch {
		case last == letter && len(word) == 1 && r == '-':
			joined = string(word)
		case last != other:
			joined = ""
		}
		word = word[:0]
	}
	for _, r := range fold(text) {
		kind := kindOf(r)
		if kind != last {
			flush(r)
		}
		if kind != other {
			word = append(word, unicode.ToLower(r))
		}
		last = kind
	}
	flush(0)
	return list
}

// readsEnglish tells whether English forms are looked for: also where the language cannot be told, as in a short question.
func readsEnglish(l language.Language) bool { return l == language.English || l == language.Unknown }

// pairs are the neighbouring characters of a run; a single one stands for itself.
func pairs(run []rune) []string {
	if len(run) == 1 {
		return []string{string(run)}
	}
	list := make([]string, len(run)-1)
	for i := range list {
		list[i] = string(run[i : i+2])
	}
	return list
}

// IndexText is what the search index holds of a passage: the words of its document's name, its headings and its text.
func IndexText(name, section, content string) string {
	name = strings.TrimSuffix(name, path.Ext(name))
	return strings.Join(words(name+"\n"+section+"\n"+content, readsEnglish(language.Detect(content))), " ")
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
	dense // of a script without spaces between words
	digit
)

func kindOf(r rune) charKind {
	if r < utf8.RuneSelf { // most of all text, and found out faster
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return letter
		case '0' <= r && r <= '9':
			return digit
		default:
			return other
		}
	}
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == longVowel:
		return dense
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	default:
		return other
	}
}

// longVowel is the mark that makes a vowel of Katakana long, which Unicode counts to no script.
const longVowel = 'ー'

// fold takes accents off letters and makes one of the many forms of a letter. Marks that are letters of their script stay;
// of the Cyrillic ones only the two dots of ё go, which are often not written.
func fold(text string) string {
	if isPlain(text) {
		return text
	}
	var base rune
	bare := strings.Map(func(r rune) rune {
		if !unicode.Is(unicode.Mn, r) {
			base = r
			return r
		}
		accent := r >= 0x0300 && r <= 0x036F
		if accent && (!unicode.Is(unicode.Cyrillic, base) || unicode.ToLower(base) == 'е') {
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return norm.NFC.String(bare)
}

// isPlain tells whether there is nothing to fold in a text. Most texts in Latin letters have a few quotation marks and dashes besides.
func isPlain(text string) bool {
	for _, r := range text {
		if r >= 0x80 && (r < '‒' || r > '―') && (r < '‘' || r > '‟') {
			return false
		}
	}
	return true
}
