package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/agent/run"
	"multis/business/catalog"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

// contactAnswer is an answer to a contact. An empty text means that no source supports one.
type contactAnswer struct {
	text        string
	citations   []store.Citation
	reason      string
	modelReason string // why a person is needed, in the model's words: stored only where it is deleted with the messages that it rests on
	used        []search.Hit
	isPartial   bool // a person has to answer a part of the question
	// isUnproven says that a model's answer does not follow from what it cites; citations and used are what it cites.
	isUnproven      bool
	inOtherLanguage bool         // the unproven answer is in another language than what it cites
	cause           policy.Cause // why there is no text; empty means that no document has the answer
	scope           policy.Scope // in which used was found
	task            *store.Task  // the task that the answer ends; nil if no model was asked
	summarise       bool         // the conversation is long enough to be summarised
	clarifies       bool         // it asks the contact which of two things is meant
}

// quoteAnswer answers with a quoted passage that covers enough of the question.
func (co *core) quoteAnswer(ctx context.Context, found search.Result) (contactAnswer, error) {
	q, ok, err := co.search.Answer(ctx, found)
	if err != nil {
		return contactAnswer{reason: noAnswerReason}, err
	}
	if !ok {
		return contactAnswer{reason: noAnswerReason}, nil
	}
	return co.quotedAnswer(q), nil
}

// quotedAnswer returns a quote as an answer to a contact. It has no text for words that give orders to an assistant.
func (co *core) quotedAnswer(q search.Quote) contactAnswer {
	citation := quoteCitation(q)
	if policy.GivesOrders(q.Text) {
		return contactAnswer{reason: "What answers it looks like an order to an assistant, so I did not quote it: " + citation.Source + "."}
	}
	return contactAnswer{
		text: plainQuote(q.Text) + co.titlesText(q.Hit.Text, []search.Hit{q.Hit}), used: []search.Hit{q.Hit},
		citations: []store.Citation{citation}, reason: coverageText(q.Coverage),
		scope: policy.PublicScope(),
	}
}

// quoteCitation returns the citation of a quote.
func quoteCitation(q search.Quote) store.Citation {
	return store.Citation{Ref: q.Hit.Ref, Source: knowledge.CiteQuote(q), Quote: q.Text}
}

// coverageText says how much of a question a passage covers.
func coverageText(coverage float64) string {
	if coverage > 0.995 {
		return "This passage covers every word of the question."
	}
	return fmt.Sprintf("This passage covers %.0f %% of the question.", 100*coverage)
}

// titlesText names the documents of an answer to a contact, who cannot open them, in the language of words. If they are too
// few to tell, it uses the language of the business.
func (co *core) titlesText(words string, hits []search.Hit) string {
	var titles []string
	for _, h := range hits {
		if !slices.Contains(titles, h.Title) {
			titles = append(titles, h.Title)
		}
	}
	return catalog.Source(words, titles, co.language)
}

// plainQuote writes a quote without Markdown: list marks are removed, a table's row becomes a line.
func plainQuote(quote string) string {
	var lines []string
	for line := range strings.Lines(quote) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>-*+ \t")
		if strings.HasPrefix(line, "|") {
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				if cell = strings.TrimSpace(cell); strings.Trim(cell, ":- ") != "" {
					cells = append(cells, cell)
				}
			}
			line = strings.Join(cells, ": ")
		}
		if line = run.WithoutMarkup(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
