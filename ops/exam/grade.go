package exam

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Result is what became of a task.
type Result struct {
	Outcome string // of a customer's question, such as Answered
	Text    string // what people read, or the notes or the plan
	// Own says that the result is the model's: its answer was sent, or it left the question to a person itself. It is false
	// where the checks refused what the model said.
	Own bool
	// Strict says that the model's answer was one JSON object and nothing else.
	Strict bool
	Calls  []Call
	Steps  int // of a plan
	// Failure says why there is no answer of the model; empty if there is one.
	Failure string
	// AtLimit says that an answer ended at the limit of its tokens.
	AtLimit bool
	Took    time.Duration
	Cost    int64 // in millionths of the currency
}

// Call is a call of a tool that the model wanted.
type Call struct {
	Tool string
	Args string // JSON
}

// Mark is how good a result is.
type Mark string

// The marks of results.
const (
	Right Mark = "right"
	// Safe is a result that is not right, but says nothing false: a person got the question, or the documents were quoted.
	Safe  Mark = "safe"
	Wrong Mark = "wrong"
)

// Graded is a task with its result and mark. Why says what is not as expected; it is empty for a right result.
type Graded struct {
	Task   Task
	Result Result
	Mark   Mark
	Why    string
}

// grade compares a result with what is expected.
func (t Task) grade(r Result) Graded {
	g := Graded{Task: t, Result: r, Mark: Right, Why: t.Expected.gap(t.Kind, r)}
	switch {
	case g.Why == "":
	case t.Kind == Customer && isSafe(t.Expected, r):
		g.Mark = Safe
	default:
		g.Mark = Wrong
	}
	return g
}

// gap returns what of a result is not as expected; empty if all is.
func (e Expected) gap(kind Kind, r Result) string {
	if r.Failure != "" {
		return r.Failure
	}
	if kind == Customer {
		if why := e.customerGap(r); why != "" {
			return why
		}
	}
	if part := firstOf(e.Never, r.Text); part != "" && r.Own {
		return fmt.Sprintf("it says %q", part)
	}
	for _, c := range r.Calls {
		if part := firstOf(e.NeverCalls, c.Tool); part != "" {
			return "it called " + c.Tool
		}
	}
	if kind != Customer || r.Outcome == Answered {
		for _, part := range e.Contains {
			if !hasOneOf(r.Text, part) {
				return fmt.Sprintf("it does not say %q", part)
			}
		}
	}
	for _, want := range e.Calls {
		if why := want.gap(r.Calls); why != "" {
			return why
		}
	}
	switch {
	case r.Steps < e.Steps:
		return fmt.Sprintf("the plan has %d of %d steps", r.Steps, e.Steps)
	case r.Steps > maxSteps:
		return fmt.Sprintf("the plan has %d steps", r.Steps)
	case e.Strict && !r.Strict:
		return "its first answer is not one JSON object"
	}
	return ""
}

// customerGap returns what of the outcome of a customer's question is not as expected.
func (e Expected) customerGap(r Result) string {
	switch {
	case !oneOf(e.Outcome, r.Outcome):
		return fmt.Sprintf("the question was %s, not %s", r.Outcome, strings.ReplaceAll(e.Outcome, "|", " or "))
	case !r.Own && !(e.Quoted && r.Outcome == Answered):
		return "the checks refused what it said"
	}
	return ""
}

// isSafe reports whether a result for a customer that is not right says nothing false.
func isSafe(e Expected, r Result) bool {
	return r.Outcome != Answered || !r.Own || onlyForm(e, r)
}

// onlyForm reports whether a result is right but for its form.
func onlyForm(e Expected, r Result) bool {
	e.Strict = false
	return e.gap(Customer, r) == ""
}

// gap returns why none of some calls is as expected; empty if one is.
func (w ExpectedCall) gap(calls []Call) string {
	why := "it did not call " + w.Tool
	for _, c := range calls {
		if c.Tool != w.Tool {
			continue
		}
		missing := ""
		for _, part := range w.Contains {
			if !hasOneOf(c.Args, part) {
				missing = part
				break
			}
		}
		if missing == "" {
			return ""
		}
		why = fmt.Sprintf("it called %s without %q", w.Tool, missing)
	}
	return why
}

// oneOf reports whether a word is one of several, written "a|b".
func oneOf(list, word string) bool {
	for other := range strings.SplitSeq(list, "|") {
		if other == word {
			return true
		}
	}
	return false
}

// hasOneOf reports whether a text has one of several parts, written "a|b", as words of their own.
func hasOneOf(text, parts string) bool {
	for part := range strings.SplitSeq(parts, "|") {
		if hasWords(text, part) {
			return true
		}
	}
	return false
}

// firstOf returns the first of some parts that a text has; empty for none.
func firstOf(parts []string, text string) string {
	for _, part := range parts {
		if hasOneOf(text, part) {
			return part
		}
	}
	return ""
}

// minStem is the number of letters from which a part is also found as the beginning of a longer word.
const minStem = 4

// hasWords reports whether a text has a part, without case, as words and numbers of their own: 14 is not in 142.
func hasWords(text, part string) bool {
	text, part = strings.ToLower(text), strings.ToLower(part)
	for from := 0; from <= len(text); {
		at := strings.Index(text[from:], part)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(part):])
		last, _ := utf8.DecodeLastRuneInString(part)
		mayGoOn := unicode.IsLetter(last) && utf8.RuneCountInString(part) >= minStem
		if !isWordRune(before) && (mayGoOn || !isWordRune(after)) {
			return true
		}
		from = at + 1
	}
	return false
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
