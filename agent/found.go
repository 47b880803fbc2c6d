package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

// addSuggestions adds to an escalation what the public documents say about the question, and an answer from them that a
// person may send. A failed search is only logged, so that it does not prevent the escalation.
func (t *Turns) addSuggestions(ctx context.Context, chat store.Chat, waiting []store.Message, r *turnResult) {
	var questions []string
	for _, m := range waiting {
		questions = append(questions, m.Body)
	}
	before, err := t.saidBefore(ctx, chat.ID, waiting)
	if err == nil {
		err = t.findSuggestions(ctx, strings.Join(questions, "\n"), before, r)
	}
	if err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot search for what a person needs to answer")
	}
}

func (t *Turns) findSuggestions(ctx context.Context, question string, before []string, r *turnResult) error {
	found, err := t.search.AsContact(ctx, policy.PublicScope(), search.Query{
		Text:   question,
		Before: before,
		Limit:  maxPassages,
		Kinds:  contactKinds,
		Quotes: true,
	})
	if err != nil {
		return err
	}
	for _, quote := range found.Match().Near {
		shown, err := t.withCorrection(ctx, question, t.quotedAnswer(quote))
		if err != nil {
			return err
		}
		r.escalation.propose(shown)
	}
	return nil
}

// maxProposals is the number of proposals of a card: more are not read.
const maxProposals = 3

// propose adds an answer to those that a person may send, each once. An answer has no text if a correction says less than
// what it quotes.
func (e *escalation) propose(answer contactAnswer) {
	isKnown := slices.ContainsFunc(e.proposals, func(p store.Proposal) bool { return strings.Contains(p.Text, answer.text) })
	if answer.text != "" && !isKnown && len(e.proposals) < maxProposals {
		e.proposals = append(e.proposals, store.Proposal{Text: answer.text, Citations: answer.citations})
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
