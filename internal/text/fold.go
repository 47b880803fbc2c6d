package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s in the form in which texts are compared. It replaces variants of characters (fullwidth, circled,
// superscript, digits and full stops of other scripts) by the plain characters, removes accents and invisible characters,
// and collapses runs of spaces. It keeps the case, and numbers that are not digits, such as Ⅳ and ❾.
func Fold(s string) string { return fold(s, false) }

// FoldWithAccents is Fold, except that it keeps accents. Addresses need that: müller.de and muller.de are different hosts.
func FoldWithAccents(s string) string { return norm.NFC.String(fold(s, true)) }

func fold(s string, accents bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case IsInvisible(r):
		case unicode.Is(unicode.Nl, r):
			b.WriteRune(r)
		case unicode.Is(unicode.No, r) && strings.ContainsRune(norm.NFKD.String(string(r)), fractionSlash):
			b.WriteString(" " + string(r)) // so that 4½ does not become 41/2
		default:
			b.WriteRune(r)
		}
	}
	folded := make([]rune, 0, b.Len())
	for _, r := range b.String() {
		if unicode.Is(unicode.Nl, r) {
			folded = append(folded, r)
			continue
		}
		for _, r := range norm.NFKD.String(string(r)) {
			if accents && unicode.Is(unicode.Mn, r) && !IsInvisible(r) {
				folded = append(folded, r)
				continue
			}
			if r = foldRune(r); r == ' ' && len(folded) > 0 && folded[len(folded)-1] == ' ' {
				continue
			}
			if r >= 0 {
				folded = append(folded, r)
			}
		}
	}
	return string(folded)
}

const fractionSlash = '\u2044'

// foldRune folds one rune of a decomposed text. It returns -1 for a rune that is removed.
func foldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf && r != '\t' && r != '\v' && r != '\f':
		return r
	case r == fractionSlash, r == '\u2215':
		return '/'
	case strings.ContainsRune("\u3002\uff61\u06d4\ua4f8", r):
		return '.'
	case r == '\u2028' || r == '\u2029' || r == '\u0085':
		return '\n'
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r), IsInvisible(r), unicode.In(r, unicode.Mn, unicode.Me):
		return -1
	case unicode.Is(unicode.Nd, r):
		return digit(r)
	default:
		return r
	}
}

// digit returns the ASCII digit with the value of r. Unicode has the ten digits of each script in order, from zero.
func digit(r rune) rune {
	for _, ranges := range unicode.Nd.R16 {
		if first := rune(ranges.Lo); first <= r && r <= rune(ranges.Hi) {
			return '0' + (r-first)%10
		}
	}
	for _, ranges := range unicode.Nd.R32 {
		if first := rune(ranges.Lo); first <= r && r <= rune(ranges.Hi) { //nolint:gosec // no code point is beyond a rune
			return '0' + (r-first)%10
		}
	}
	return r
}
