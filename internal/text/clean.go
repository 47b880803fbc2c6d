// Package text cleans, folds, shortens and formats texts. It is pure: the results of all functions depend only on their arguments.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// Clean returns s in the form in which messages are sent. It replaces invalid UTF-8 by U+FFFD and every kind of line end
// by \n. It removes direction marks, invisible characters, and all other control characters except tabs. It keeps the
// joiners of emoji and of scripts whose letters join, and the flags of regions such as Scotland. Clean is idempotent.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	var before rune // the last rune that was kept
	runes := []rune(s)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if ' ' <= r && r < 0x7f { // most characters
			b.WriteByte(byte(r))
			before = r
			continue
		}
		if n := regionFlag(runes[i:]); n > 0 {
			b.WriteString(string(runes[i : i+n]))
			i += n - 1
			before = r
			continue
		}
		if isJoiner(r) {
			if i+1 < len(runes) && joinerHasEffect(before, runes[i+1]) {
				b.WriteRune(r)
			}
			continue
		}
		if isLineEnd(r) {
			r = '\n'
		}
		if isHidden(r) {
			continue
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// isClean reports whether s is printable ASCII with tabs and line ends only. Most texts are, and need no copy.
func isClean(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || (c < ' ' && c != '\n' && c != '\t') || c == 0x7f {
			return false
		}
	}
	return true
}

// isLineEnd reports whether r ends a line. Clean replaces it by \n, and Escape by a space.
func isLineEnd(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }

// isHidden reports whether Clean removes r: a control character, an invisible character or a direction mark.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == '\ufe0e' || r == '\ufe0f': // variation selectors, which make an emoji plain or coloured
		return false
	default:
		return unicode.IsControl(r) || IsInvisible(r)
	}
}

// IsInvisible reports whether r draws nothing: direction marks, zero-width spaces and joiners, soft hyphens, fillers.
func IsInvisible(r rune) bool {
	return (unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// regionFlag returns the length of the flag of England, Scotland or Wales at the beginning of runes, or 0. Such a flag is
// a black flag, the region's code in tag characters, and an end tag. Unicode recommends no others, and tag characters are
// invisible and could carry any text, so no others count.
func regionFlag(runes []rune) int {
	const (
		blackFlag = '\U0001f3f4'
		tags      = 0xe0000 // a tag character is the sum of this and its ASCII character
		length    = 7
	)
	if len(runes) < length || runes[0] != blackFlag || runes[length-1] != tags+0x7f {
		return 0
	}
	var code strings.Builder
	for _, r := range runes[1 : length-1] {
		code.WriteRune(r - tags)
	}
	switch code.String() {
	case "gbeng", "gbsct", "gbwls":
		return length
	default:
		return 0
	}
}

func isJoiner(r rune) bool { return r == zeroWidthJoiner || r == zeroWidthNonJoiner }

// joinerHasEffect reports whether a joiner between two runes changes how they are drawn. Between Latin letters or digits it draws nothing.
func joinerHasEffect(before, after rune) bool {
	emoji := func(r rune) bool { return unicode.In(r, unicode.So, unicode.Sk, unicode.Variation_Selector) }
	if emoji(before) && emoji(after) {
		return true
	}
	return isJoining(before) && isJoining(after)
}

// isJoining reports whether r belongs to a script whose letters change their form next to others.
func isJoining(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) &&
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
			unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
			unicode.Khmer)
}

// Storable returns s in a form that Postgres can store: it replaces invalid UTF-8 by U+FFFD and removes zero bytes.
func Storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}
