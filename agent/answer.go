package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/knowledge"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// minCoverage is the share of what a question is about that must stand in one passage before it is quoted without a model
// having read it.
const minCoverage = 0.6

// passages is how many go to a model, and how many the owner is shown without one.
const (
	modelPassages = 6
	shownPassages = 3
	windowLength  = 20
)

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
	var over *llm.OverBudget
	switch {
	case errors.Is(err, llm.ErrNoModel):
		result = quote(found)
	case errors.As(err, &over):
		result = quote(found)
		if over.First {
			result.notices = append(result.notices, a.overBudgetText(over))
		}
	case err != nil && !last:
		return answer{}, err
	case err != nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", chat.ID).Msg("The model failed; answering from passages")
		result = quote(found)
	}
	if result.text == "" {
		return result, nil
	}
	return result, a.Search.RecordAccess(ctx, scope, spanned(found.Hits, result.spans))
}

// quote answers with the best passage's own words, when it carries enough of what the question is about.
func quote(found search.Result) answer {
	for _, hit := range found.Hits {
		if hit.Coverage < minCoverage {
			continue
		}
		sentences := search.BestSentences(found, hit)
		if len(sentences) == 0 {
			continue
		}
		source := knowledge.Cite(hit)
		result := answer{why: fmt.Sprintf("Source %s carries %.0f %% of what was asked.", source, 100*hit.Coverage)}
		for _, s := range sentences {
			result.spans = append(result.spans, store.Span{ChunkID: hit.ChunkID, Source: source, Quote: s})
		}
		result.text = strings.Join(sentences, " ") + " (from " + hit.Title + ")"
		return result
	}
	return answer{why: "No passage of the public documents carries enough of what was asked."}
}

// write has the model answer a contact from passages. Sentences without a quote that stands in their passage are left out.
func (a *Agent) write(ctx context.Context, chat store.Chat, question string, found search.Result) (answer, error) {
	window, err := store.Window(ctx, a.Store.DB(), chat.ID, windowLength)
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
	for _, s := range drafted.Sentences {
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
	result.text = strings.Join(sentences, " ")
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
	if !knowledge.CheckSpan(hit.Text, s.Quote) {
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

// plain takes the markup out of what goes to a network that has none.
func plain(s string) string {
	return strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(s))
}

func (a *Agent) overBudgetText(over *llm.OverBudget) string {
	return fmt.Sprintf("💶 %s I answer from documents only until midnight.", outbox.Escape(over.Error()))
}
