package policy

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
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

	"multis/internal/text"
)

// minLeakLen is the length of the shortest secret that LeaksSecret looks for, in letters and digits. A shorter secret
// occurs in too many ordinary words.
const minLeakLen = 8

// secretForms are the forms in which LeaksSecret finds the secrets of the configuration. It is nil if there are none.
var secretForms atomic.Pointer[leakForms] //nolint:gochecknoglobals // set with the secrets that Hide masks, and read by the gate

// leakForms are the forms of secrets that LeaksSecret looks for, by their blocks. The index is needed: 30 secrets have
// 150 forms, and bytes.Contains takes 5 seconds to look for all of them in 12 MB, which is done for each reading of a
// file; the index takes 0.05.
type leakForms struct {
	// blocks has what is to be compared where a block occurs. A form that occurs in a text has one of its first blockStep
	// blocks at a multiple of blockStep there, because no form is shorter than minLeakLen. So a text is read once, however
	// many forms there are.
	blocks map[block][]leakForm
	// hashes has a bit for the hash of each key of blocks. Few blocks of a text have to be looked up in the map.
	hashes [1 << hashBits / 64]uint64
}

// block is a part of a folded text, of blockLen bytes.
type block = uint32

const (
	blockLen  = 4
	blockStep = minLeakLen - blockLen + 1
	hashBits  = 16
)

// leakForm is a form of a secret, and where in it a block is.
type leakForm struct {
	text string
	at   int
}

func blockAt(folded []byte, i int) block { return binary.LittleEndian.Uint32(folded[i:]) }

// hash returns a number below 1 << hashBits.
func hash(b block) uint32 { return b * 0x9e3779b1 >> (32 - hashBits) }

// add adds a form, as foldSecret folds it. A short one is left out.
func (f *leakForms) add(form string) {
	folded := []byte(foldSecret(form))
	if len(folded) < minLeakLen {
		return
	}
	for at := range blockStep {
		b := blockAt(folded, at)
		f.blocks[b] = append(f.blocks[b], leakForm{string(folded), at})
		f.hashes[hash(b)/64] |= 1 << (hash(b) % 64)
	}
}

// in reports whether a folded text contains one of the forms.
func (f *leakForms) in(folded []byte) bool {
	for i := 0; i+blockLen <= len(folded); i += blockStep {
		b := blockAt(folded, i)
		if f.hashes[hash(b)/64]&(1<<(hash(b)%64)) == 0 {
			continue
		}
		for _, form := range f.blocks[b] {
			if from := i - form.at; from >= 0 && bytes.HasPrefix(folded[from:], []byte(form.text)) {
				return true
			}
		}
	}
	return false
}

// newLeakForms returns the forms of secrets that LeaksSecret looks for: plain, URL-encoded, in JSON, in hexadecimal and
// in base64. It returns nil if there are none.
func newLeakForms(secrets []string) *leakForms {
	forms := &leakForms{blocks: map[block][]leakForm{}}
	for _, s := range secrets {
		if len(foldSecret(s)) < minLeakLen {
			continue
		}
		forms.add(s)
		for _, reading := range visibleTexts(unescape(s)) {
			forms.add(reading)
		}
		forms.add(url.QueryEscape(s))
		if raw, err := json.Marshal(s); err == nil {
			forms.add(string(raw))
		}
		forms.add(hex.EncodeToString([]byte(s)))
		for shift := range 3 { // the base64 form of a secret depends on its offset in the encoded text, modulo 3
			encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), s...))
			const byteBits, charBits = 8, 6
			// the base64 characters that depend on the secret only
			begin, end := (shift*byteBits+charBits-1)/charBits, (shift+len(s))*byteBits/charBits
			forms.add(encoded[begin:end])
		}
	}
	if len(forms.blocks) == 0 {
		return nil
	}
	return forms
}

// foldSecret reduces a text to its letters and digits, without case, accents and variants, so that spaces, invisible
// characters, punctuation and Markdown between the characters of a secret do not hide it. It drops whatever text.Clean
// removes, so it folds a text and its sent form to the same result.
func foldSecret(s string) string { return string(new(secretFolder).fold(s)) }

// secretFolder folds texts as foldSecret does. It remembers the folded form of each character, which takes long to find.
type secretFolder struct {
	runes  map[rune]string
	folded []byte
}

// fold returns the folded text. It is valid until the next call.
func (f *secretFolder) fold(s string) []byte {
	folded := slices.Grow(f.folded[:0], len(s))
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c = foldedASCII[c]; c != 0 {
				folded = append(folded, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if i += size; r != utf8.RuneError {
			folded = append(folded, f.rune(r)...)
		}
	}
	f.folded = folded
	return folded
}

// rune returns the folded form of a character.
func (f *secretFolder) rune(r rune) string {
	folded, ok := f.runes[r]
	if !ok {
		if f.runes == nil {
			f.runes = map[rune]string{}
		}
		folded = foldSecretRune(r)
		f.runes[r] = folded
	}
	return folded
}

// foldedASCII holds the folded form of each ASCII character: zero for those that are no letters or digits.
var foldedASCII = func() (folded [utf8.RuneSelf]byte) {
	for c := range folded {
		if r := rune(c); unicode.IsLetter(r) || unicode.IsDigit(r) {
			folded[c] = byte(unicode.ToLower(r))
		}
	}
	return folded
}()

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

// LeaksSecret reports whether a text contains a secret of the configuration, even if it is split by spaces, other
// characters, HTML tags, Markdown links or the numbers of a list, or encoded in base64 or hexadecimal, or for HTML, JSON
// or a URL. It takes time in proportion to the length of the text.
func LeaksSecret(s string) bool {
	forms := secretForms.Load()
	if forms == nil || len(s) < minLeakLen {
		return false
	}
	var folder secretFolder
	holds := func(s string) bool { return forms.in(folder.fold(s)) }
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
