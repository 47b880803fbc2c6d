package policy

import (
	"cmp"
	"encoding/json"
	"html"
	"math/bits"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"multis/internal/text"
)

// Mask is written in place of a secret.
const Mask = "[secret]"

// secretPattern recognizes one form of keys or passwords.
type secretPattern struct {
	// hints are lower-case strings, of which every secret of this form contains one. They are searched first
	// (hintedPatterns), because most texts contain none.
	hints []string
	// pattern matches the secret. Its groups, if any, are the text before and after the secret, which is kept.
	pattern *regexp.Regexp
}

// placeholder is the end of an address that only shows where a password belongs, so it is not masked.
const placeholder = ":PASSWORD@"

// maskWithContext is the replacement of a match: Mask between the groups that are kept.
const maskWithContext = "${1}" + Mask + "${2}"

// secretPatterns lists the known forms. No pattern continues over a quotation mark or a backslash, so that JSON stays valid.
var secretPatterns = []secretPattern{
	{
		[]string{"private key-----"},
		regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?-----END [A-Z ]*PRIVATE KEY-----|-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*`),
	},
	{
		[]string{"sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gsk_", "xai-", "hf_"}, // models, payments
		regexp.MustCompile(`\b(?:sk|pk|rk|gsk|xai|hf)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}\b`),
	},
	// code
	{
		[]string{"gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-"},
		regexp.MustCompile(`\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{20,}\b|\bglpat-[A-Za-z0-9_-]{16,}`),
	},
	// clouds, chats
	{
		[]string{"akia", "asia", "aiza", "xox"},
		regexp.MustCompile(`\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}`),
	},
	// Matrix
	{[]string{"as_", "hs_", "syt_", "mct_", "mcr_"}, regexp.MustCompile(`\b(?:as|hs|syt|mct|mcr)_[A-Za-z0-9_]{24,}`)},
	// Telegram
	{[]string{":aa"}, regexp.MustCompile(`\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}`)},
	// webhooks
	{[]string{"whsec_"}, regexp.MustCompile(`\bwhsec_[A-Za-z0-9+/=_-]{16,}`)},
	// signed tokens
	{[]string{"eyj"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`)},
	// headers
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/=_.~-]{16,}`)},
	// addresses with a password
	{[]string{"://"}, regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s/:@"'\\]+:)[^\s/@"'\\]+(@)`)},
	{
		[]string{"key=", "token=", "secret=", "password=", "auth=", "sig=", "signature="}, // addresses with a secret in the query
		regexp.MustCompile(`(?i)([?&](?:[a-z]+[_-])*(?:api_?key|key|token|secret|password|auth|sig|signature)=)[^\s&"'\\]{6,}`),
	},
	{ // names and their values, as in the environment, in YAML, JSON and headers
		[]string{"key", "token", "secret", "passw", "passphrase"},
		regexp.MustCompile(`(?i)(\b(?:[a-z0-9]+[_-])*(?:api[_-]?key|access[_-]?key|[a-z0-9]+[_-]token|accesstoken|authtoken|secret|passw(?:or)?d|passphrase)(?:[_-][a-z0-9]+)*` +
			`\\?["']?\s*[:=]\s*\\?["']?)[^\s"',;}\\]{6,}`),
	},
}

// configuredSecrets holds the secrets of the configuration. It is nil if there are none.
var configuredSecrets atomic.Pointer[knownSecrets] //nolint:gochecknoglobals // set once at the start, and read wherever something is written

// knownSecrets masks secrets.
type knownSecrets struct {
	forms    []string // all spellings of the secrets, the longest first
	replacer *strings.Replacer
}

// minFragment is the length in bytes of the shortest part of a secret that HideBeforeCut and HideAfterCut mask.
const minFragment = 4

// minSecret is the length in bytes of the shortest configured secret that is masked. A shorter one occurs in too many ordinary words.
const minSecret = 6

// SetSecrets sets the secrets that Hide and Redact mask. It is called once, with all secrets of the configuration.
// They are in a package variable, so tests that set them cannot run in parallel.
func SetSecrets(values []string) {
	var written []string
	for _, v := range values {
		if len(v) < minSecret {
			continue
		}
		written = append(written, v, url.QueryEscape(v), url.PathEscape(v), html.EscapeString(v), htmlText.Replace(v), text.Escape(v))
		if raw, err := json.Marshal(v); err == nil {
			written = append(written, string(raw[1:len(raw)-1]))
		}
	}
	secretForms.Store(newLeakForms(values))
	// the longest first: one may be part of another
	slices.SortFunc(written, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	written = slices.Compact(written)
	if len(written) == 0 {
		configuredSecrets.Store(nil)
		return
	}
	var pairs []string
	for _, v := range written {
		pairs = append(pairs, v, Mask)
	}
	configuredSecrets.Store(&knownSecrets{written, strings.NewReplacer(pairs...)})
}

// htmlText escapes text in the same way as the Markdown renderer.
var htmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;") //nolint:gochecknoglobals // a constant, were there constant replacers

// Hide masks the secrets of the configuration in a text. It also masks the beginning of a secret before an ellipsis,
// where text.Clip cut the text. It changes nothing else. It is applied to the results of tools, before the model reads
// them, and to everything that the outbox sends.
func Hide(text string) string {
	known := configuredSecrets.Load()
	if known == nil {
		return text
	}
	text = known.replacer.Replace(text)
	if !strings.Contains(text, ellipsis) {
		return text
	}
	parts := strings.Split(text, ellipsis)
	for i := range len(parts) - 1 {
		parts[i] = known.maskEnd(parts[i])
	}
	return strings.Join(parts, ellipsis)
}

const ellipsis = "…"

// HideBeforeCut is Hide for a text whose end was cut off: it also masks the beginning of a secret that the cut went through.
func HideBeforeCut(text string) string {
	text = Hide(text)
	if known := configuredSecrets.Load(); known != nil {
		return known.maskEnd(text)
	}
	return text
}

// HideAfterCut is Hide for a text whose beginning was cut off: it also masks the end of a secret that the cut went through.
func HideAfterCut(text string) string {
	text = Hide(text)
	if known := configuredSecrets.Load(); known != nil {
		return known.maskStart(text)
	}
	return text
}

// maskEnd masks the beginning of a secret with which a text ends.
func (k *knownSecrets) maskEnd(text string) string {
	n := k.longestFragment(text, func(form string, n int) bool { return strings.HasSuffix(text, form[:n]) })
	if n == 0 {
		return text
	}
	return text[:len(text)-n] + Mask
}

// maskStart masks the end of a secret with which a text begins.
func (k *knownSecrets) maskStart(text string) string {
	n := k.longestFragment(text, func(form string, n int) bool { return strings.HasPrefix(text, form[len(form)-n:]) })
	if n == 0 {
		return text
	}
	return Mask + text[n:]
}

// longestFragment returns the length of the longest part of a secret that is in a text; zero for none. is reports whether
// n bytes of a form are in it.
func (k *knownSecrets) longestFragment(text string, is func(form string, n int) bool) (longest int) {
	for _, form := range k.forms {
		for n := min(len(form)-1, len(text)); n >= minFragment && n > longest; n-- {
			if is(form, n) {
				longest = n
			}
		}
	}
	return longest
}

// Redact masks the secrets of the configuration, and everything else that looks like a key or a password. It is applied
// to what is stored or logged while a message is processed: steps and answers of tasks, the inputs of delegated tasks,
// summaries, errors.
func Redact(text string) string {
	text = Hide(text)
	hinted := hintedPatterns(strings.ToLower(text))
	for i, f := range secretPatterns {
		if hinted&(1<<i) == 0 {
			continue
		}
		text = f.pattern.ReplaceAllStringFunc(text, func(match string) string {
			if strings.HasSuffix(match, placeholder) {
				return match
			}
			return f.pattern.ReplaceAllString(match, maskWithContext)
		})
	}
	return text
}

// hintStarts has for each pair of bytes, the first of them in the high bits, the patterns with a hint that begins with
// it: bit i stands for secretPatterns[i].
var hintStarts = func() *[1 << 16]uint16 {
	var starts [1 << 16]uint16
	for i, f := range secretPatterns {
		for _, hint := range f.hints {
			starts[pairOf(hint)] |= 1 << i
		}
	}
	return &starts
}()

// pairOf returns the first two bytes of a text as an index of hintStarts.
func pairOf(text string) uint16 { return uint16(text[0])<<8 | uint16(text[1]) }

// hintedPatterns returns the patterns of which a lower-case text contains a hint, as bits like those of hintStarts. It reads the text once.
func hintedPatterns(text string) (found uint16) {
	for at := 0; at+1 < len(text); at++ {
		for possible := hintStarts[pairOf(text[at:])] &^ found; possible != 0; possible &= possible - 1 {
			i := bits.TrailingZeros16(possible)
			if slices.ContainsFunc(secretPatterns[i].hints, func(hint string) bool { return strings.HasPrefix(text[at:], hint) }) {
				found |= 1 << i
			}
		}
	}
	return found
}
