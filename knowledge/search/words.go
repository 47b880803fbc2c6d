package search

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"multis/internal/language"
)

// Words tokenizes text into the words that are indexed and searched. They are in lower case and without accents. Letters are
// separated from digits ("5kg" becomes "5", "kg"). A letter joined to a word by a hyphen also makes one word ("e-bike" adds
// "ebike"). Irregular English forms become their base form. Scripts without spaces are split into pairs of characters.
// Stemming and stop words are left to Postgres.
func Words(text string) []string { return words(text, replacesEnglishForms(language.Detect(text))) }

// words is Words; english says whether irregular English forms are replaced.
func words(text string, english bool) []string {
	var list []string
	var word []rune
	last := other
	joined := "" // the letter that a hyphen joins to the next word
	flush := func(r rune) {
		switch {
		case len(word) == 0:
		case last == unspaced:
			list = append(list, pairs(word)...)
		case english:
			list = append(list, baseForm(string(word)))
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

// replacesEnglishForms reports whether irregular English forms are replaced in texts of a language. It is true for an
// unknown one, because a short question may be English.
func replacesEnglishForms(l language.Language) bool {
	return l == language.English || l == language.Unknown
}

// pairs returns the bigrams of a run of characters, or the character itself if there is only one.
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

// IndexText returns the words that are indexed for a passage: those of its document's name, its headings and its text.
func IndexText(name, section, content string) string {
	return strings.Join(indexWords(name, section, content), " ")
}

func indexWords(name, section, content string) []string {
	name = strings.TrimSuffix(name, path.Ext(name))
	return words(name+"\n"+section+"\n"+content, replacesEnglishForms(language.Detect(content)))
}

// IsQuestion reports whether text ends with a question mark.
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
	unspaced // a letter of a script without spaces between words
	digit
)

func kindOf(r rune) charKind {
	if r < utf8.RuneSelf { // the common case, and faster
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
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar) || r == prolongedSoundMark:
		return unspaced
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	default:
		return other
	}
}

// prolongedSoundMark is the Katakana prolonged sound mark, which Unicode assigns to no script.
const prolongedSoundMark = 'ー'

// fold normalizes the forms of a letter (NFKC) and removes accents. It keeps combining marks that are part of a script's spelling.
// In Cyrillic it removes only the dots of ё, which people often do not write.
func fold(text string) string {
	if isPlain(text) {
		return text
	}
	var base rune
	folded := strings.Map(func(r rune) rune {
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
	return norm.NFC.String(folded)
}

// isPlain reports whether fold would not change text: it is ASCII apart from typographic quotation marks and dashes.
func isPlain(text string) bool {
	for _, r := range text {
		if r >= 0x80 && (r < '‒' || r > '―') && (r < '‘' || r > '‟') {
			return false
		}
	}
	return true
}
