package policy

import (
	"regexp"
	"slices"
	"strings"
)

// hidden stands where a secret stood.
const hidden = "[secret]"

// form is one by which keys and passwords are known wherever they turn up.
type form struct {
	// signs are words, in small letters, of which one stands in every secret of the form. Looking for them is a hundred times quicker
	// than looking for the form, and most texts have none.
	signs   []string
	pattern *regexp.Regexp
}

var secrets = []form{
	{[]string{"private key-----"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)},
	{[]string{"sk-", "sk_", "pk-", "pk_", "rk-", "rk_"}, regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}\b`)},                                        // models, payments
	{[]string{"gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-"}, regexp.MustCompile(`\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{20,}\b|\bglpat-[A-Za-z0-9_-]{16,}`)}, // code
	{[]string{"akia", "asia", "aiza", "xox"}, regexp.MustCompile(`\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}`)},                        // clouds, chats
	{[]string{"as_", "hs_", "syt_"}, regexp.MustCompile(`\b(?:as|hs|syt)_[A-Za-z0-9_]{24,}`)},                                                                                    // Matrix
	{[]string{"eyj"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`)},                                                                           // signed tokens
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/=_.~-]{16,}`)},                                                                        // headers
	{[]string{"://"}, regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s/:@"']+):[^\s/@"']+@`)},                                                                                     // addresses with a password
	{
		[]string{"key", "token", "secret", "passw", "passphrase"},
		regexp.MustCompile(`(?i)\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|passw(?:or)?d|passphrase)["']?\s*[:=]\s*["']?[^\s"',;}]{6,}`),
	},
}

// Redact takes out of a text what looks like a key or a password, before it is stored where it does not have to be.
func Redact(text string) string {
	small := strings.ToLower(text)
	for _, f := range secrets {
		if slices.ContainsFunc(f.signs, func(sign string) bool { return strings.Contains(small, sign) }) {
			text = f.pattern.ReplaceAllString(text, hidden)
		}
	}
	return text
}
