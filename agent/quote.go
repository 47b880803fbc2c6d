package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"multis/agent/run"
	"multis/business/catalog"
	"multis/internal/text"
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
	said := quoteText(q)
	if policy.GivesOrders(q.Text) || policy.GivesOrders(said) {
		return contactAnswer{reason: "What answers it looks like an order to an assistant, so I did not quote it: " + citation.Source + "."}
	}
	return contactAnswer{
		text: said + co.titlesText(q.Hit.Text, []search.Hit{q.Hit}), used: []search.Hit{q.Hit},
		citations: []store.Citation{citation}, reason: coverageText(q.Coverage),
		scope: policy.PublicScope(),
	}
}

// quoteText writes a quote as a customer reads it, behind a title that denies it.
func quoteText(q search.Quote) string {
	said := plainQuote(q.Text)
	title := run.WithoutMarkup(run.DenyingTitle(q.Hit, q.From))
	switch {
	case title == "":
		return said
	case strings.Contains(said, "\n"):
		return title + ":\n" + said
	default:
		return title + ": " + said
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
// few to tell, it uses the language of the last passage, or else of the business.
func (co *core) titlesText(words string, hits []search.Hit) string {
	var titles []string
	language := co.language
	for _, h := range hits {
		language = catalog.LangOf(h.Language, language)
		if title := cmp.Or(h.ShownTitle, h.Title); !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
	}
	return catalog.Source(words, titles, language)
}

// plainQuote writes a quote as a customer reads it: a paragraph on one line, a row of a table as lines of its cells,
// nothing of Markdown. What is checked is what is sent: only marks, spaces and line ends differ, and the words are those
// of the quote, in their order; else the quote is written on one line.
func plainQuote(quote string) string {
	var paragraphs []string
	between := "\n"
	for _, paragraph := range search.Paragraphs(quote) {
		cells := cellLines(run.WithoutMarkup(paragraph))
		if len(cells) > 1 {
			between = "\n\n" // so that the cells of a row stand together
		}
		paragraphs = append(paragraphs, strings.Join(cells, "\n"))
	}
	said := strings.Join(paragraphs, between)
	if unmarked := run.WithoutMarkup(quote); !slices.Equal(plainWords(said), plainWords(unmarked)) {
		return text.OneLine(unmarked)
	}
	return said
}

// cellLines returns the cells of a row, each on a line: "Name: value". What has no name belongs to the cell before it,
// whose value has a semicolon. The cells of a row without names are joined, and any other text is one line.
func cellLines(paragraph string) (lines []string) {
	sep := "; "
	switch {
	case strings.Contains(paragraph, "|"):
		sep = "|"
	case !knowledge.IsRow(paragraph):
		return []string{paragraph}
	}
	for cell := range strings.SplitSeq(paragraph, sep) {
		cell = strings.TrimSpace(cell)
		switch {
		case cell == "":
		case sep != "|" && len(lines) > 0 && !strings.Contains(cell, ": "):
			lines[len(lines)-1] += sep + cell
		default:
			lines = append(lines, cell)
		}
	}
	if sep == "|" {
		return []string{strings.Join(lines, ": ")}
	}
	return lines
}

// plainWords returns the words and numbers of a text.
func plainWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r) })
}
