package agent

import (
	"context"
	"fmt"
	"strings"

	"multis/agent/run"
	"multis/internal/language"
	"multis/store"
)

// gapsIn returns what is wrong with a model's answer to a contact, for the model to mend; empty if nothing is.
func (r *attempt) gapsIn(ctx context.Context, said string) string {
	answer, err := run.ParseAnswer(said)
	if err != nil {
		return "it is not the JSON object that was asked for."
	}
	var gaps []string
	if len(answer.Sentences) > maxSentences {
		gaps = append(gaps, fmt.Sprintf("write at most %d sentences.", maxSentences))
	}
	for i := range answer.Sentences {
		answer.Sentences[i].Text = run.WithoutOwnMarks(answer.Sentences[i].Text)
	}
	for i, gap := range r.run.GapsIn(ctx, answer.Sentences) {
		if gap != "" {
			gaps = append(gaps, fmt.Sprintf("sentence %d: %s.", i+1, gap))
		}
	}
	if gap := languageGap(r.run.Question, answer.Sentences); gap != "" {
		gaps = append(gaps, gap)
	}
	return strings.Join(gaps, "\n")
}

// languageGap returns what is wrong if an answer is clearly in another language than each sentence of the question; empty otherwise.
func languageGap(question string, sentences []run.Sentence) string {
	var said []string
	for _, s := range sentences {
		said = append(said, s.Text)
	}
	answered := language.Detect(strings.Join(said, " "))
	if answered == language.Unknown || language.Detect(question) == language.Unknown {
		return ""
	}
	for part := range strings.FieldsFuncSeq(question, func(r rune) bool { return strings.ContainsRune(".?!\n", r) }) {
		if asked := language.Guess(part); asked == answered {
			return ""
		}
	}
	return "write in the language of the question."
}

// inOtherLanguage reports whether an answer is in another language than the words that it cites: then no word of it can
// be compared.
func (r *attempt) inOtherLanguage(said string, citations []store.Citation) bool {
	var quotes []string
	for _, c := range citations {
		quotes = append(quotes, c.Quote)
	}
	a, b := language.Guess(said), language.Guess(strings.Join(quotes, "\n"))
	return a != language.Unknown && b != language.Unknown && a != b
}
