package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/knowledge"
	"multis/search"
	"multis/store"
	"multis/text"
)

// foundNothing is what the owner hears when nothing has to do with his question.
const foundNothing = "I found nothing about that in your documents or chats."

// leastCoverage is the share of what a question is about that a passage must hold to be shown as found.
const leastCoverage = 0.3

// isNear reports whether a hit has enough to do with a question to be shown as found. Hits by date, and of a chat that was named, were
// asked for.
func isNear(h search.Hit) bool {
	_, ofChat := h.Role.Chat()
	return h.Coverage >= leastCoverage || h.Similarity > 0 || h.Score == 0 || ofChat
}

// listPassages shows what was found when no model read it: what answers the question comes first, what hardly has to do with it is left
// out.
func (a *Agent) listPassages(ctx context.Context, opening, question string, found search.Result, where places) (sourced, error) {
	near := found
	near.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h search.Hit) bool { return !isNear(h) })
	if len(near.Hits) == 0 {
		return sourced{markdown: foundNothing + nearest(question, found) + where.lookedIfNamed()}, nil
	}
	answers, err := a.answerFirst(ctx, &near)
	if err != nil {
		return sourced{}, err
	}
	listed := sourced{used: near.Hits[:min(len(near.Hits), shownPassages)]}
	var b strings.Builder
	b.WriteString("**" + opening + "**\n")
	for i, hit := range listed.used {
		q := search.Quote{Hit: hit, Text: hit.Text}
		switch {
		case answers != nil && hit.Ref == answers.Hit.Ref:
			q = *answers
		case hit.Source == "":
			if q, err = a.Search.BestSentences(ctx, near, hit); err != nil {
				return sourced{}, err
			}
		}
		fmt.Fprintf(&b, "\n%d\\. %s — \"%s\"\n", i+1, linked(knowledge.CiteQuote(q), listed.used, hit.Ref), text.Escape(text.Clip(spoken(q.Text), 400)))
		listed.spans = append(listed.spans, store.Span{Ref: hit.Ref, Source: knowledge.CiteQuote(q), Quote: q.Text})
	}
	listed.markdown = b.String() + where.lookedIfNamed()
	return listed, nil
}

// answerFirst puts the document that answers the question before the others, and returns its quote; nil if none does.
func (a *Agent) answerFirst(ctx context.Context, found *search.Result) (*search.Quote, error) {
	isDocument := func(h search.Hit) bool { return h.Kind == store.KindKnowledge }
	documents := *found
	documents.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h search.Hit) bool { return !isDocument(h) })
	q, ok, err := a.Search.Answer(ctx, documents)
	if err != nil || !ok {
		return nil, err
	}
	first := slices.IndexFunc(found.Hits, isDocument)
	at := slices.IndexFunc(found.Hits, func(h search.Hit) bool { return h.Ref == q.Hit.Ref })
	found.Hits = slices.Insert(slices.Delete(found.Hits, at, at+1), first, q.Hit)
	return &q, nil
}

// nearest says how to see the passages that are the nearest to a question, where there are any.
func nearest(question string, found search.Result) string {
	if len(found.Hits) == 0 || strings.Contains(question, "`") {
		return ""
	}
	return " `/search " + text.Clip(strings.Join(strings.Fields(question), " "), 100) + "` shows the nearest passages."
}
