package setup

import (
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"multis/internal/text"
)

// hidden replaces each secret in a diff.
const hidden = "…"

// Diff returns the lines that differ between two versions of a file, each after - or +, with hidden in place of the secrets. It is empty if
// the versions are the same, or old is nil.
func Diff(old, now []byte, secrets []string) string {
	if old == nil || string(old) == string(now) {
		return ""
	}
	var out strings.Builder
	write := func(sign, lines string) {
		for line := range strings.Lines(lines) {
			out.WriteString("  " + text.Visible(redactLine(sign+" "+strings.TrimSpace(line), secrets)) + "\n")
		}
	}
	before := string(old)
	for _, edit := range udiff.Lines(before, string(now)) {
		write("-", before[edit.Start:edit.End])
		write("+", edit.New)
	}
	return out.String()
}

// secretKeys are the keys whose values are not shown, in the old version and in the new one.
var secretKeys = []string{"as_token", "hs_token", "api_key", "token", "secret", "client_secret", "unidoc_key", "url"}

// redactLine returns a line of a diff without its secrets.
func redactLine(line string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			line = strings.ReplaceAll(line, s, hidden)
		}
	}
	key, value, ok := strings.Cut(line, ":")
	if fields := strings.Fields(key); ok && strings.Trim(value, ` "'`) != "" && len(fields) == 2 && slices.Contains(secretKeys, fields[1]) {
		return key + ": " + hidden
	}
	return line
}
