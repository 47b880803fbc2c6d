package agent

import (
	"context"
	"slices"

	"multis/knowledge/search"
	"multis/policy"
)

// searchForContact searches the public documents. If none of them answers the question, it fetches web pages that may, and searches again.
func (t *Turns) searchForContact(ctx context.Context, question string, before []string) (search.Result, error) {
	if t.pages == nil {
		found, _, err := t.searchWordings(ctx, question, before, false)
		return found, err
	}
	found, answered, err := t.searchWordings(ctx, question, before, true)
	if err != nil {
		return found, err
	}
	changed, err := t.pages.Refresh(ctx, documentsOf(found.Hits))
	if err == nil && changed {
		found, answered, err = t.searchWordings(ctx, question, before, true)
	}
	if err != nil {
		return found, err
	}
	if answered || !t.pages.Find(ctx, question) {
		return found, nil
	}
	found, _, err = t.searchWordings(ctx, question, before, false)
	return found, err
}

// searchWordings searches the public documents for a question, and if they do not answer it, for other words of it
// (policy.HoursWordings). answered reports whether what it returns answers the question; without needsAnswer it is only
// known for a question with other words.
func (t *Turns) searchWordings(ctx context.Context, question string, before []string, needsAnswer bool) (
	first search.Result, answered bool, err error,
) {
	others := policy.HoursWordings(question)
	for i, wording := range append([]string{question}, others...) {
		found, err := t.search.AsContact(ctx, policy.PublicScope(), search.Query{
			Text:   wording,
			Before: before,
			Limit:  maxPassages,
			Kinds:  contactKinds,
			Quotes: true,
		})
		if err != nil {
			return search.Result{}, false, err
		}
		if i == 0 {
			first = found
		}
		if !needsAnswer && len(others) == 0 {
			continue
		}
		_, answered, err := t.search.Answer(ctx, found)
		if err != nil {
			return found, answered, err
		}
		if answered {
			return found, answered, nil
		}
	}
	return first, false, nil
}

// hasNothing reports whether a search found nothing that is about the question.
func hasNothing(found search.Result) bool { return len(found.Hits) == 0 || len(found.Terms) == 0 }

// hasNoQuote reports whether a search found nothing that could be quoted for the question either.
func hasNoQuote(found search.Result) bool { return hasNothing(found) && len(found.Match().Near) == 0 }

// nearestPassages returns the passages of the quotes that come nearest to the question, each once.
func nearestPassages(found search.Result) []search.Hit {
	var hits []search.Hit
	for _, quote := range found.Match().Near {
		if !slices.ContainsFunc(hits, func(h search.Hit) bool { return h.Ref == quote.Hit.Ref }) {
			hits = append(hits, quote.Hit)
		}
	}
	return hits
}
