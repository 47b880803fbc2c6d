package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// commandSigns are the ways to begin a command, the longest first. Many Matrix clients take "/" for themselves; `\/` and
// "//" are how some of them send it.
var commandSigns = []string{`\/`, `\!`, "//", "/", "!"}

// CutCommandSign returns a command without the sign before it, such as "help" for "/help". isCommand is false for a text
// that does not begin with a sign and a letter.
func CutCommandSign(text string) (command string, isCommand bool) {
	text = strings.TrimSpace(text)
	for _, sign := range commandSigns {
		rest, found := strings.CutPrefix(text, sign)
		if !found {
			continue
		}
		first, _ := utf8.DecodeRuneInString(rest)
		return rest, unicode.IsLetter(first)
	}
	return text, false
}

// IsSigned reports whether a text begins with one of the signs of commands, whatever follows.
func IsSigned(text string) bool {
	for _, sign := range commandSigns {
		if strings.HasPrefix(text, sign) {
			return true
		}
	}
	return false
}
