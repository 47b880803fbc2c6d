package policy

import (
	"fmt"
	"regexp"
	"strings"
)

// Shortcut maps the owner's phrases to a command. It is applied before a message goes to a model.
type Shortcut struct {
	match   *regexp.Regexp
	command string
}

// NewShortcut returns a Shortcut. pattern is a regular expression that must match a whole message, in any case; in
// command, $1 stands for the text that its first group matched.
func NewShortcut(pattern, command string) (Shortcut, error) {
	match, err := regexp.Compile(`(?is)^\s*(?:` + pattern + `)\s*$`)
	if err != nil {
		return Shortcut{}, fmt.Errorf("read %q: %w", pattern, err)
	}
	return Shortcut{match, command}, nil
}

// ExpandShortcut returns the command of the first shortcut that matches a text; false if none does. A text over 400 bytes matches none.
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
