// Package reply reads what a language model said. Models write thoughts before the answer, words around the JSON, comments
// and commas that JSON does not have, a text for a number, or a tool call as text. This package reads all of these, so that
// no caller parses a model's words itself. It changes nothing in well-formed JSON.
//
// Read never returns half an answer: if the JSON ends too early or is broken in the middle, it is unreadable as a whole.
package reply

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// ErrUnreadable is returned for a reply without a JSON value of the wanted type.
var ErrUnreadable = errors.New("the model's answer cannot be read")

const (
	// maxLength is the length in bytes of the longest reply that is read.
	maxLength = 1 << 20
	// maxStarts is how many places of a reply are tried as the beginning of a value.
	maxStarts = 200
)

// Read returns the first JSON value of a reply that fits T, a struct. Names are compared without case and punctuation.
// A field may have the tag alias with other names, separated by commas; they count if no key has a field's own name.
//
//   - Unknown keys are ignored. Null, and a value that a field cannot take, is the zero value.
//   - A list for a single value gives its first element. A single value for a list gives a list of one.
//   - A list in place of the whole value, or an element of it, goes into the first field that is a list.
//   - A text in place of a struct goes into the struct's first field of type string.
//   - A number may be a text with a number in it ("[1]", "passage 1").
func Read[T any](said string) (T, error) {
	var read T
	r := newReader(&read)
	text := Clean(said)
	if len(text) > maxLength {
		return read, ErrUnreadable
	}
	tried := 0
	for at := 0; at < len(text) && tried < maxStarts; at++ {
		if text[at] != '{' && text[at] != '[' {
			continue
		}
		tried++
		p := parser{text: text, at: at}
		value, ok := p.value(0)
		if !ok && p.hasMembers {
			return read, ErrUnreadable // it is broken, and its inner values are only a part of what was said
		}
		if !ok {
			continue
		}
		if r.take(value, strings.Trim(text[:at], "`json \n") == "") && !r.hasElements {
			return read, nil
		}
		at = p.at - 1
	}
	if r.hasElements {
		return read, nil
	}
	return read, ErrUnreadable
}

// Prose returns what a reply says in plain words. It returns false if there are none, or if the reply has JSON or a tool
// call in it, because people never read those.
func Prose(said string) (string, bool) {
	text := Clean(said)
	if text == "" || machineForm.MatchString(text) {
		return "", false
	}
	return text, true
}

// machineForm matches the beginning of JSON with a key or an object in it, and of a tool call in tags.
var machineForm = regexp.MustCompile("(?i)\\{\\s*[\"'{}]|[\"']\\s*:\\s*[\\[{\"]|\\[\\s*[{\"\\]]|</?(tool_?calls?|function|invoke|parameter)\\b|\\[tool_calls?\\]|```json")

const thoughtNames = `(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think)`

var (
	// openThought and closedThought match the tags around thoughts.
	openThought   = regexp.MustCompile(`(?i)(?:<` + thoughtNames + `\s*>|\[THINK\]|◁think▷)`)
	closedThought = regexp.MustCompile(`(?i)(?:</` + thoughtNames + `\s*>|\[/THINK\]|◁/think▷)`)
	// channel matches where a channel begins in the format of models that write their thoughts into a channel of its own.
	channel = regexp.MustCompile(`(?i)<\|channel\|>\s*(\w+)[^<]*(?:<\|[a-z_]+\|>[^<]*?)*?<\|message\|>`)
	// special matches tokens that belong to a model's format.
	special = regexp.MustCompile(`(?i)<\|[a-z0-9_]+\|>|</?s>|\[/?INST\]`)
)

// Clean returns a reply without thoughts and without the tokens of a model's format. What precedes a closing tag without
// an opening one is a thought, because some servers leave out the first tag; so is what follows an opening tag without a
// closing one.
func Clean(said string) string {
	said = finalChannel(said)
	var b strings.Builder
	for {
		opens := openThought.FindStringIndex(said)
		closes := closedThought.FindStringIndex(said)
		switch {
		case opens == nil && closes == nil:
			b.WriteString(said)
			return strings.TrimSpace(special.ReplaceAllString(b.String(), ""))
		case closes == nil:
			said = said[:opens[0]]
		case opens == nil || closes[0] < opens[0]:
			b.Reset()
			said = said[closes[1]:]
		default:
			b.WriteString(said[:opens[0]])
			said = said[closes[1]:]
		}
	}
}

// finalChannel returns the last channel with an answer; the whole text if it has no channels.
func finalChannel(said string) string {
	all := channel.FindAllStringSubmatchIndex(said, -1)
	if all == nil {
		return said
	}
	for i, place := range slices.Backward(all) {
		if name := strings.ToLower(said[place[2]:place[3]]); name != "final" && name != "commentary" {
			continue
		}
		end := len(said)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		return said[place[1]:end]
	}
	return said[:all[0][0]]
}
