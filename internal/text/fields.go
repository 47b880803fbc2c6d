package text

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Field is a member of a JSON object as people read it: a string without its quotation marks, any other value as JSON.
type Field struct{ Name, Value string }

// Fields reads a JSON object and keeps names that occur twice, because programs differ in which one they use. ok is false
// for anything else, and for an empty object.
func Fields(raw string) (fields []Field, ok bool) {
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
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		f := Field{Name: fmt.Sprint(name), Value: string(value)}
		var text string
		if json.Unmarshal(value, &text) == nil {
			f.Value = text
		}
		fields = append(fields, f)
	}
	if _, err := dec.Token(); err != nil || len(strings.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, false
	}
	return fields, len(fields) > 0
}

// Unhidden returns a text in which nothing is hidden: line ends, invisible characters and repeated spaces are escaped.
func Unhidden(s string) string {
	const blank = "\u2800" // a sign of Braille without dots, which counts as printable
	if s != OneLine(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(s, blank) {
		quoted := strconv.Quote(s)
		return strings.NewReplacer("  ", ` \x20`, blank, `\u2800`).Replace(quoted[1 : len(quoted)-1])
	}
	return s
}
