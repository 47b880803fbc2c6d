package policy

import "regexp"

// hidden stands where a secret stood.
const hidden = "[secret]"

// secrets are the forms by which keys and passwords are known wherever they turn up.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`),
	regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}\b`),                            // models, payments
	regexp.MustCompile(`\b(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{20,}\b|\bglpat-[A-Za-z0-9_-]{16,}`),            // code
	regexp.MustCompile(`\bA(?:KIA|SIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}`), // clouds, chats
	regexp.MustCompile(`\b(?:as|hs|syt)_[A-Za-z0-9_]{24,}`),                                                    // Matrix
	regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`),                            // signed tokens
	regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/=_.~-]{16,}`),                                     // headers
	regexp.MustCompile(`\b([a-z][a-z0-9+.-]*://[^\s/:@"']+):[^\s/@"']+@`),                                      // addresses with a password
	regexp.MustCompile(`(?i)\b(?:api[_-]?key|access[_-]?token|auth[_-]?token|secret|passw(?:or)?d|passphrase)["']?\s*[:=]\s*["']?[^\s"',;}]{6,}`),
}

// Redact takes out of a text what looks like a key or a password, before it is stored where it does not have to be.
func Redact(text string) string {
	for _, form := range secrets {
		text = form.ReplaceAllString(text, hidden)
	}
	return text
}
