// Package text cleans what goes out and folds what is compared: characters that nobody sees, and characters that only look different.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Clean removes from s what has no place in a message: invalid UTF-8, control characters but tab and line end, overrides of the writing
// direction, and characters that nobody sees. The joiners of emoji and of scripts that need them stay. Cleaning twice changes nothing.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "\v", "\n", "\f", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	var b strings.Builder
	b.Grow(len(s))
	var before rune // the last one that was kept
	runes := []rune(s)
	for i, r := range runes {
		if isJoiner(r) {
			if i+1 < len(runes) && joins(before, runes[i+1]) {
				b.WriteRune(r)
			}
			continue
		}
		if isHidden(r) {
			continue
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// isClean tells whether a text is nothing but plain letters, as most are.
func isClean(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return true
}

// OneLine cleans s and puts it on one line, with one blank for any run of them.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Clip shortens s to n characters.
func Clip(s string, n int) string {
	if runes := []rune(s); n > 0 && len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// isHidden reports whether r must not go out: it is a control character, nobody sees it, or it makes a text look like another one.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\ufe0e' || r == '\ufe0f': // how an emoji is drawn
		return false
	default:
		return unicode.IsControl(r) || IsInvisible(r)
	}
}

// IsInvisible reports whether r is drawn as nothing at all: marks of direction, zero-width blanks and joiners, soft hyphens, fillers.
func IsInvisible(r rune) bool {
	return (unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func isJoiner(r rune) bool { return r == zeroWidthJoiner || r == zeroWidthNonJoiner }

// joins reports whether a joiner between two characters changes how they are drawn. Between Latin letters or digits it only hides.
func joins(before, after rune) bool {
	emoji := func(r rune) bool { return unicode.In(r, unicode.So, unicode.Sk, unicode.Variation_Selector) }
	if emoji(before) && emoji(after) {
		return true
	}
	return isJoining(before) && isJoining(after)
}

// isJoining reports whether r is of a script whose letters change their form beside others.
func isJoining(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer)
}

// Fold writes s as it is compared: characters that only look different (fullwidth, circled, superscript, other digits) are the same,
// without accents and without what nobody sees, dots of other scripts are dots, and any run of blanks is one. Case stays. A number sign
// that has no digits, such as Ⅳ or ❾, stays what it is.
func Fold(s string) string { return fold(s, false) }

// FoldWithAccents is Fold, but accents stay, as those of an address: müller.de is another host than muller.de.
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
			b.WriteString(" " + string(r)) // 4½ is not 41/2
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

// foldRune is one character of a decomposed text as it is compared; negative for none.
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

// digit is the ASCII digit of the same value. The digits of a script stand in order, from zero.
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
