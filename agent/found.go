package agent

import (
	"context"
	"strings"

	"github.com/rs/zerolog"

	"multis/knowledge"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/store/index"
)

const (
	// maxSuggestedQuotes is how many quotes a person who answers gets to see.
	maxSuggestedQuotes = 2
	// minSuggestedCoverage is the share of a question that a passage must cover to be shown.
	minSuggestedCoverage = 0.3
)

// addSuggestions adds to an escalation what the public documents say about the question, and an answer from them that a person may send. A failed search is
// only logged, so that it does not prevent the escalation.
func (t *Turns) addSuggestions(ctx context.Context, waiting []store.Message, r *turnResult) {
	var questions []string
	for _, m := range waiting {
		questions = append(questions, m.Body)
	}
	if err := t.findSuggestions(ctx, strings.Join(questions, "\n"), r); err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot search for what a person needs to answer")
	}
}

func (t *Turns) findSuggestions(ctx context.Context, question string, r *turnResult) error {
	found, err := t.search.AsContact(ctx, policy.PublicScope(), search.Query{Text: question, Limit: maxPassages, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil || len(found.Terms) == 0 {
		return err
	}
	for _, hit := range found.Hits {
		if len(r.citations) == maxSuggestedQuotes || hit.Coverage < minSuggestedCoverage {
			break
		}
		quote, err := t.search.BestSentences(ctx, found, hit)
		if err != nil {
			return err
		}
		r.citations = append(r.citations, store.Citation{Ref: hit.Ref, Source: knowledge.CiteQuote(quote), Quote: quote.Text})
	}
	answer, err := t.quoteAnswer(ctx, found)
	r.proposal = answer.text
	return err
}
