package policy

import (
	"fmt"
	"regexp"
	"strings"
)

// Shortcut says what the owner means by words of his own: a command, before any model is asked.
type Shortcut struct {
	match   *regexp.Regexp
	command string
}

// NewShortcut takes a regular expression for a whole message, in any case, and the command that it means, in which $1 is what the
// first group matched.
func NewShortcut(pattern, means string) (Shortcut, error) {
	match, err := regexp.Compile(`(?is)^\s*(?:` + pattern + `)\s*$`)
	if err != nil {
		return Shortcut{}, fmt.Errorf("read %q: %w", pattern, err)
	}
	return Shortcut{match, means}, nil
}

// ExpandShortcut is the command that a text means by the first shortcut that fits; false: none does. What is long is no shortcut.
func ExpandShortcut(all []Shortcut, text string) (string, bool) {
	if len(text) > maxIntentBytes {
		return "", false
	}
	for _, s := range all {
		if found := s.match.FindStringSubmatchIndex(text); found != nil {
			return strings.TrimSpace(string(s.match.ExpandString(nil, s.command, text, found))), true
		}
	}
	return "", false
}
