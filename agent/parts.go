package agent

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

// questionBreak matches what separates the questions of a text: a new line, and what follows a question mark.
var questionBreak = regexp.MustCompile(`\n+|([` + policy.QuestionMarks + `]+)\s+`)

const (
	// maxParts is the maximum number of questions that are answered one by one.
	maxParts = 4
	// maxPartLines is the maximum number of lines in which questions are looked for. A longer text is one question.
	maxPartLines = 5 * maxParts
)

// partialReason is why a conversation is escalated of which a part was answered. It has no words of the contact, which
// would stay after their message is deleted.
const partialReason = "Your public documents answer only a part of the question."

// splitQuestions returns the questions of a text, each on its own: what stands before a question mark, or the lines of a
// text without any. Thanks and greetings are none. The questions may need each other, so a part is worth something only
// if it is answered.
func splitQuestions(asked string) (parts []string) {
	lines := strings.Split(questionBreak.ReplaceAllString(asked, "$1\n"), "\n")
	if len(lines) > maxPartLines {
		return []string{asked}
	}
	hasMarks, before := strings.ContainsAny(asked, policy.QuestionMarks), ""
	var joined []string
	for _, line := range lines {
		joined = append(joined, search.SplitJoined(line)...)
	}
	for _, line := range joined {
		line = strings.TrimSpace(line)
		if line == "" || policy.IsAcknowledgement(line) || policy.IsGreeting(line) {
			continue
		}
		asks := !hasMarks || strings.ContainsAny(line, policy.QuestionMarks) || len(parts) > 0 && search.Continues(line)
		if before = joinLines(before, line); !asks {
			continue // it belongs to the question that follows
		}
		parts, before = append(parts, before), ""
	}
	if before != "" && len(parts) > 0 {
		parts[len(parts)-1] = joinLines(parts[len(parts)-1], before)
	}
	return parts
}

// quoteAnswers answers without a model: with a quote that has all that is asked, or with one for each of several questions.
// A person answers those that have none (contactAnswer.isPartial).
func (t *Turns) quoteAnswers(ctx context.Context, q contactQuestion, found search.Result) (contactAnswer, error) {
	if hasNoQuote(found) {
		return contactAnswer{reason: noDocumentReason}, nil
	}
	parts := splitQuestions(q.text)
	hasMarks := strings.ContainsAny(q.text, policy.QuestionMarks)
	isOne := len(parts) < 2 || len(parts) > maxParts
	if !isOne && !hasMarks {
		m := found.Match()
		isOne = m.Whole && m.Quote.HasValues(parts) // what looks like several questions may be one
	}
	if isOne {
		return t.quoteAnswer(ctx, found)
	}
	var answered contactAnswer
	hasOpen := false
	for i, part := range parts {
		asked, err := t.partAnswer(ctx, q, part, slices.Concat(q.before, parts[:i]))
		switch {
		case err != nil:
			return contactAnswer{}, err
		case asked.text == "":
			hasOpen = true
		default:
			answered.add(asked)
		}
	}
	if answered.text == "" || hasOpen && !hasMarks { // without marks, what was split is perhaps no question
		return contactAnswer{reason: noAnswerReason}, nil
	}
	if hasOpen {
		answered.reason = "A part of the question is answered. " + answered.reason
		answered.isPartial = true
	}
	return answered, nil
}

// partAnswer answers one of several questions, from the owner's own answers or with a quote, as it is after corrections.
func (t *Turns) partAnswer(ctx context.Context, q contactQuestion, part string, before []string) (contactAnswer, error) {
	canned, ok, err := t.cannedAnswer(ctx, q.chat.Name, part)
	if err != nil {
		return canned, err
	}
	if ok {
		return canned, nil
	}
	var answer contactAnswer
	for _, earlier := range [][]string{nil, before} { // by itself, else as a follow-up
		found, _, err := t.searchWordings(ctx, part, earlier, false)
		if err != nil {
			return contactAnswer{}, err
		}
		if answer, err = t.quoteAnswer(ctx, found); err != nil {
			return contactAnswer{}, err
		}
		if answer.text != "" || len(before) == 0 {
			break
		}
	}
	return t.withCorrection(ctx, part, answer)
}

// add adds the answer to another question. One that is the same is said once.
func (a *contactAnswer) add(other contactAnswer) {
	if a.text == "" {
		*a = other
		return
	}
	if !slices.ContainsFunc(other.citations, func(c store.Citation) bool {
		return !slices.Contains(a.citations, c)
	}) && strings.Contains(text.CollapseSpaces(a.text), text.CollapseSpaces(other.text)) {
		return
	}
	a.text += "\n\n" + other.text
	a.citations, a.used = slices.Concat(a.citations, other.citations), slices.Concat(a.used, other.used)
	a.reason += " " + other.reason
}
