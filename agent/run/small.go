package run

import (
	"regexp"
	"slices"
	"strings"

	"multis/agent/tools"
)

const (
	// maxSmallTools is how many tools a small model is offered, and maxSmallPassages how many passages it reads.
	maxSmallTools    = 5
	maxSmallPassages = 3
)

// usualTools are the tools that most questions need, the most useful first. Others are offered if the question needs them.
var usualTools = []string{ //nolint:gochecknoglobals // a constant, were there constant lists
	"search_docs", "escalate", "schedule", tools.MessageContactName, "remember", "recall_memory",
}

// pathOrAddress matches what names a file or a page: a word with a slash, or with an extension.
var pathOrAddress = regexp.MustCompile(`\S/\S|\b[\w-]+\.[A-Za-z]\w{1,4}\b`)

// neededTools returns at most maxSmallTools of the tools that are offered, each with a short description: first those that
// the question needs, then the usual ones.
func neededTools(offered []tools.Spec, question string) []tools.Spec {
	rank := func(s tools.Spec) int {
		usual := slices.Index(usualTools, s.Name)
		switch {
		case usual >= 0:
			return 2 * usual
		case isNeeded(s, question):
			return 1 // behind the search
		default:
			return 2 * len(usualTools)
		}
	}
	chosen := slices.Clone(offered)
	slices.SortStableFunc(chosen, func(a, b tools.Spec) int { return rank(a) - rank(b) })
	chosen = chosen[:min(len(chosen), maxSmallTools)]
	for i := range chosen {
		chosen[i].Description = firstSentences(chosen[i].Description)
	}
	return chosen
}

// isNeeded reports whether a question names what an unusual tool works on: a file or a page, or a word of its name.
func isNeeded(s tools.Spec, question string) bool {
	if (s.NeedsFolders || s.Kinds.Paths || s.Kinds.Domains) && pathOrAddress.MatchString(question) {
		return true
	}
	question = strings.ToLower(question)
	return slices.ContainsFunc(strings.FieldsFunc(s.Name, func(r rune) bool { return r == '_' || r == '-' }), func(word string) bool {
		return len(word) >= 4 && strings.Contains(question, strings.ToLower(word))
	})
}

// maxShortDescription is the length from which a description is cut to its first sentences, in bytes.
const maxShortDescription = 200

// firstSentences returns the first sentences of a description, as many as fit, at least one.
func firstSentences(description string) string {
	sentences := strings.SplitAfter(strings.TrimSpace(description), ". ")
	short := sentences[0]
	for _, next := range sentences[1:] {
		if len(short)+len(next) > maxShortDescription {
			break
		}
		short += next
	}
	return strings.TrimSpace(short)
}
