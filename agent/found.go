package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	// maxSuggestedQuotes is how many quotes a person who answers gets to see.
	maxSuggestedQuotes = 2
	// minSuggestedCoverage is the share of a question that a passage must cover to be shown.
	minSuggestedCoverage = 0.3
)

// addSuggestions adds to an escalation what the public documents say about the question, and an answer from them that a
// person may send. A failed search is only logged, so that it does not prevent the escalation.
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
	found, err := t.search.AsContact(ctx, policy.PublicScope(), search.Query{
		Text:  question,
		Limit: maxPassages,
		Kinds: []index.Kind{index.KindKnowledge},
	})
	if err != nil {
		return err
	}
	if len(found.Terms) == 0 {
		return nil
	}
	for _, hit := range found.Hits {
		if len(r.escalation.citations) >= maxSuggestedQuotes || hit.Coverage < minSuggestedCoverage {
			break
		}
		quote, err := t.search.BestSentences(ctx, found, hit)
		if err != nil {
			return err
		}
		shown, err := t.withCorrection(ctx, question, t.quotedAnswer(quote))
		if err != nil {
			return err
		}
		r.addCitations(shown.citations) // none of a quote that says more than what was corrected
	}
	answer, err := t.quoteAnswer(ctx, found)
	if err == nil {
		answer, err = t.withCorrection(ctx, question, answer)
	}
	if err != nil {
		return err
	}
	if answer.text == "" {
		return nil
	}
	r.escalation.proposal = answer.text
	r.addCitations(answer.citations) // the card shows what the proposal rests on
	return nil
}

// addCitations adds citations to those that the card shows, each once.
func (r *turnResult) addCitations(citations []store.Citation) {
	for _, c := range citations {
		if !slices.Contains(r.escalation.citations, c) {
			r.escalation.citations = append(r.escalation.citations, c)
		}
	}
}

// documentsOf returns the documents that hits are from.
func documentsOf(hits []search.Hit) []store.DocumentID {
	ids := make([]store.DocumentID, len(hits))
	for i, h := range hits {
		ids[i] = h.DocumentID
	}
	return ids
}
