package policy

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode"

	"golang.org/x/text/unicode/norm"
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

// foldSecret reduces a text to its lower-case letters and digits, so that spaces, invisible characters, punctuation and markup between the
// characters of a secret do not hide it.
func foldSecret(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKC.String(s) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// LeaksSecret reports whether a text contains a secret of the configuration, even if it is split by spaces or other characters, or encoded in
// base64, hexadecimal or for a URL.
func LeaksSecret(text string) bool {
	forms := secretForms.Load()
	if forms == nil || len(*forms) == 0 || len(text) < minLeakLen {
		return false
	}
	folded := foldSecret(text)
	for _, form := range *forms {
		if strings.Contains(folded, form) {
			return true
		}
	}
	return false
}

// HasMask reports whether a text has the mark that Hide and Redact write in place of a secret.
func HasMask(text string) bool { return strings.Contains(text, Mask) }
