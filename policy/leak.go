package policy

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"multis/text"
)

// minLeakLen is the length of the shortest secret that LeaksSecret looks for, in letters and digits. A shorter secret occurs in too many ordinary words.
const minLeakLen = 8

// secretForms are the forms in which LeaksSecret finds the secrets of the configuration.
var secretForms atomic.Pointer[[]string] //nolint:gochecknoglobals // set with the secrets that Hide masks, and read by the gate

// leakForms returns the forms of secrets that LeaksSecret looks for: plain, URL-encoded, in JSON, in hexadecimal and in base64.
func leakForms(secrets []string) *[]string {
	var forms []string
	add := func(s string) {
		if s = foldSecret(s); len(s) >= minLeakLen {
			forms = append(forms, s)
		}
	}
	for _, s := range secrets {
		if len(foldSecret(s)) < minLeakLen {
			continue
		}
		add(s)
		for _, reading := range visibleTexts(unescape(s)) {
			add(reading)
		}
		add(url.QueryEscape(s))
		if raw, err := json.Marshal(s); err == nil {
			add(string(raw))
		}
		add(hex.EncodeToString([]byte(s)))
		for shift := range 3 { // the base64 form of a secret depends on its offset in the encoded text, modulo 3
			encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), s...))
			const byteBits, charBits = 8, 6
			begin, end := (shift*byteBits+charBits-1)/charBits, (shift+len(s))*byteBits/charBits // the base64 characters that depend on the secret only
			add(encoded[begin:end])
		}
	}
	return &forms
}

// foldSecret reduces a text to its letters and digits, without case, accents and variants, so that spaces, invisible characters, punctuation and Markdown
// between the characters of a secret do not hide it. It drops whatever text.Clean removes, so it folds a text and its sent form to the same result.
func foldSecret(s string) string { return secretFolder{}.fold(s) }

// secretFolder folds texts as foldSecret does. It remembers the folded form of each character, which takes long to find.
type secretFolder map[rune]string

func (f secretFolder) fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case 'A' <= r && r <= 'Z':
			b.WriteRune(r - 'A' + 'a')
		case r >= utf8.RuneSelf:
			folded, ok := f[r]
			if !ok {
				folded = foldSecretRune(r)
				f[r] = folded
			}
			b.WriteString(folded)
		}
	}
	return b.String()
}

// foldSecretRune returns the letters and digits of which one character consists.
func foldSecretRune(r rune) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(string(r)) {
		switch {
		case text.IsInvisible(r):
		case unicode.IsDigit(r):
			b.WriteString(text.Fold(string(r)))
		case unicode.IsLetter(r) && !unicode.Is(unicode.Lm, r): // a sign such as ʹ or ー hides nothing
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// maxUnescape is how often the escapes in a text are replaced, because an escape may itself be escaped.
const maxUnescape = 5

// LeaksSecret reports whether a text contains a secret of the configuration, even if it is split by spaces, other characters, HTML tags, Markdown
// links or the numbers of a list, or encoded in base64 or hexadecimal, or for HTML, JSON or a URL. It takes time in proportion to the length of the text.
func LeaksSecret(s string) bool {
	forms := secretForms.Load()
	if forms == nil || len(*forms) == 0 || len(s) < minLeakLen {
		return false
	}
	folder := secretFolder{}
	holds := func(s string) bool {
		folded := folder.fold(s)
		return slices.ContainsFunc(*forms, func(form string) bool { return strings.Contains(folded, form) })
	}
	s = text.Clean(s)
	for range maxUnescape {
		if slices.ContainsFunc(visibleTexts(s), holds) {
			return true
		}
		plain := unescape(s)
		if plain == s {
			return false
		}
		s = plain
	}
	return slices.ContainsFunc(visibleTexts(s), holds)
}

// escapes are the prefixes of the two hexadecimal digits of an escaped byte, in URLs, JSON, programs and lists of bytes.
var escapes = [...]string{"%", `\x`, `\u00`, `\U000000`, "0x"} //nolint:gochecknoglobals // a constant, were there constant arrays

// unescape replaces the escapes of URLs, JSON, programs and HTML by the characters that they mean.
func unescape(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' || c == '\\' || c == '0' {
			if value, n := escapedByte(s[i:]); n > 0 {
				c, i = value, i+n-1
			} else if m := runeEscape(s[i:]); m != nil {
				value, _ := strconv.ParseInt(m[1]+m[2]+m[3], 16, 32)
				b.WriteRune(rune(value))
				i += len(m[0]) - 1
				continue
			}
		}
		b.WriteByte(c)
	}
	return html.UnescapeString(b.String())
}

// escapedRune is the escape of a character of programs and old URLs: \u200b, \u{200b}, \U0000200b, %u200b. It has at most maxEscape bytes.
var escapedRune = regexp.MustCompile(`^(?:[\\%]u(?:([0-9a-fA-F]{4})|\{([0-9a-fA-F]{1,6})\})|\\U00([0-9a-fA-F]{6}))`)

const maxEscape = 10

// runeEscape returns the match of escapedRune at the beginning of s.
func runeEscape(s string) []string {
	if len(s) < 2 || s[1]|0x20 != 'u' { // no escape; the expression would take longer to say so
		return nil
	}
	return escapedRune.FindStringSubmatch(s[:min(len(s), maxEscape)])
}

// escapedByte returns the byte that an escape at the beginning of s means, and the length of the escape; zero if there is none.
func escapedByte(s string) (value byte, n int) {
	for _, before := range escapes {
		digits, ok := strings.CutPrefix(s, before)
		if !ok || len(digits) < 2 {
			continue
		}
		if v, err := strconv.ParseUint(digits[:2], 16, 8); err == nil {
			return byte(v), len(before) + 2
		}
	}
	return 0, 0
}

// HasMask reports whether a text contains the mark that Hide and Redact write in place of a secret.
func HasMask(s string) bool { return strings.Contains(s, Mask) }
