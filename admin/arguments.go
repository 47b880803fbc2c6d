package admin

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"multis/internal/text"
)

// argumentsText formats all arguments of a call, one a line, in their order. A name that occurs twice is shown twice.
func argumentsText(raw string) string {
	args, ok := parseArguments(raw)
	if !ok {
		return visibleText(raw)
	}
	var lines []string
	for _, arg := range args {
		value := string(arg.value)
		var text string
		if json.Unmarshal(arg.value, &text) == nil {
			value = text
		}
		lines = append(lines, visibleText(arg.name)+": “"+visibleText(value)+"”")
	}
	return strings.Join(lines, "\n")
}

// argument is one argument of a call.
type argument struct {
	name  string
	value json.RawMessage
}

// parseArguments reads a JSON object and keeps names that occur twice, because programs differ in which one they use. ok
// is false for anything else, and for an empty object.
func parseArguments(raw string) (args []argument, ok bool) {
	dec := json.NewDecoder(strings.NewReader(raw))
	start, err := dec.Token()
	if err != nil {
		return nil, false
	}
	if start != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		arg := argument{name: fmt.Sprint(name)}
		if err := dec.Decode(&arg.value); err != nil {
			return nil, false
		}
		args = append(args, arg)
	}
	if _, err := dec.Token(); err != nil || len(strings.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, false
	}
	return args, len(args) > 0
}

// visibleText returns a text in which nothing is hidden: line ends, invisible characters and repeated spaces are escaped.
func visibleText(s string) string {
	const blank = "\u2800" // a sign of Braille without dots, which counts as printable
	if s != text.OneLine(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(s, blank) {
		quoted := strconv.Quote(s)
		s = strings.NewReplacer("  ", ` \x20`, blank, `\u2800`).Replace(quoted[1 : len(quoted)-1])
	}
	return text.Escape(s)
}
