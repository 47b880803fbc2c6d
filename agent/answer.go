package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/rs/zerolog"

	"multis/knowledge"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// How many passages go to a model, how many the owner is shown without one, and how much conversation goes along.
const (
	modelPassages = 6
	shownPassages = 3
	windowLength  = 20
)

// maxSentences of a model go to a contact.
const maxSentences = 3

// answer is what was found for a contact. An empty text means that no source supports one.
type answer struct {
	text    string
	spans   []store.Span
	why     string
	notices []string
}

// answerContact looks for a quoted answer in what the contact may see.
func (a *Agent) answerContact(ctx context.Context, chat store.Chat, question string, last bool) (answer, error) {
	scope := policy.ContactScope(chat.ID)
	found, err := a.Search.AsContact(ctx, scope, search.Query{Text: question, Limit: modelPassages})
	if err != nil {
		return answer{}, err
	}
	if len(found.Hits) == 0 || len(found.Terms) == 0 {
		return answer{why: "Nothing in the public documents is about it."}, nil
	}
	result, err := a.write(ctx, chat, question, found)
	var over *llm.OverBudgetError
	switch {
	case errors.Is(err, llm.ErrNoModel):
		result, err = a.quote(ctx, found)
	case errors.As(err, &over):
		result, err = a.quote(ctx, found)
		if over.First {
			result.notices = append(result.notices, a.overBudgetText(over))
		}
	case err != nil && last && ctx.Err() == nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", chat.ID).Msg("The model failed; answering from passages")
		result, err = a.quote(ctx, found)
	}
	if err != nil || result.text == "" {
		return result, err
	}
	return result, a.Search.RecordAccess(ctx, scope, spanned(found.Hits, result.spans))
}

// quote answers with a passage's own words, when they carry enough of what the question is about.
func (a *Agent) quote(ctx context.Context, found search.Result) (answer, error) {
	q, ok, err := a.Search.Answer(ctx, found)
	if err != nil || !ok {
		return answer{why: "No passage of the public documents carries enough of what was asked."}, err
	}
	source := knowledge.CiteQuote(q)
	return answer{
		text:  spoken(q.Text) + from([]search.Hit{q.Hit}),
		spans: []store.Span{{ChunkID: q.Hit.ChunkID, Source: source, Quote: q.Text}},
		why:   fmt.Sprintf("%s carries %.0f %% of what was asked.", source, 100*q.Coverage),
	}, nil
}

// from names the documents behind an answer to somebody who cannot open them.
func from(hits []search.Hit) string {
	var titles []string
	for _, h := range hits {
		if !slices.Contains(titles, h.Title) {
			titles = append(titles, h.Title)
		}
	}
	return " (from " + strings.Join(titles, ", ") + ")"
}

// spoken makes a quote read well where there is no markup: list marks go, a table's row becomes a line.
func spoken(quote string) string {
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
		if line = plain(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// write has the model answer a contact from passages. Sentences without a quote that stands in their passage are left out.
func (a *Agent) write(ctx context.Context, chat store.Chat, question string, found search.Result) (answer, error) {
	var window []store.Message
	err := a.Store.AsContact(ctx, policy.ContactScope(chat.ID), func(tx store.Tx) (err error) {
		window, err = store.Window(ctx, tx, chat.ID, windowLength)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	name, err := store.AssistantName(ctx, a.Store.DB(), a.Name)
	if err != nil {
		return answer{}, err
	}
	drafted, err := a.draft(ctx, contactPrompt(name, question, found.Hits, window), "reply", chat.ID)
	if err != nil {
		return answer{}, err
	}
	var sentences []string
	var result answer
	for _, s := range drafted.Sentences[:min(len(drafted.Sentences), maxSentences)] {
		span, ok := check(s, found.Hits)
		if !ok {
			continue
		}
		sentences = append(sentences, plain(s.Text))
		result.spans = append(result.spans, span)
	}
	if len(sentences) == 0 {
		result.why = "The model found no answer in the public documents that it could quote."
		return result, nil
	}
	result.text = strings.Join(sentences, " ") + from(spanned(found.Hits, result.spans))
	result.why = fmt.Sprintf("%s answered from %s.", a.Model.Name(), strings.Join(sources(result.spans), "; "))
	return result, nil
}

// draft calls the model and reads its answer.
func (a *Agent) draft(ctx context.Context, r llm.Request, purpose string, chat int64) (draft, error) {
	r.Purpose, r.Chat, r.JSON = purpose, chat, true
	resp, err := llm.Complete(ctx, a.Model, r)
	if err != nil {
		return draft{}, err
	}
	d, err := readDraft(resp.Text)
	if err != nil {
		// An answer that cannot be read is an answer without sentences: it costs, it is not tried again.
		zerolog.Ctx(ctx).Warn().Err(err).Str("model", a.Model.Name()).Msg("The model's answer cannot be read")
	}
	return d, nil
}

// check holds a sentence's quote against the passage it names.
func check(s sentence, hits []search.Hit) (store.Span, bool) {
	if s.Source < 1 || s.Source > len(hits) || strings.TrimSpace(s.Text) == "" {
		return store.Span{}, false
	}
	hit := hits[s.Source-1]
	if !knowledge.CheckSpan(hit.Text, s.Quote) || !bears(hit, s.Text) {
		return store.Span{}, false
	}
	return store.Span{ChunkID: hit.ChunkID, Source: knowledge.Cite(hit), Quote: s.Quote}, true
}

func sources(spans []store.Span) []string {
	var names []string
	for _, s := range spans {
		if !slices.Contains(names, s.Source) {
			names = append(names, s.Source)
		}
	}
	return names
}

// spanned are the hits that an answer rests on.
func spanned(hits []search.Hit, spans []store.Span) []search.Hit {
	var used []search.Hit
	for _, h := range hits {
		if slices.ContainsFunc(spans, func(s store.Span) bool { return s.ChunkID == h.ChunkID }) {
			used = append(used, h)
		}
	}
	return used
}

// plain takes out of a text what has no place in a network without markup: marks, and characters that nobody sees.
func plain(s string) string {
	s = strings.NewReplacer("**", "", "__", "", "`", "").Replace(s)
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200d':
			return -1
		default:
			return r
		}
	}, s))
}

func (a *Agent) overBudgetText(over *llm.OverBudgetError) string {
	return fmt.Sprintf("💶 %s I answer from documents only until midnight.", outbox.Escape(over.Error()))
}
