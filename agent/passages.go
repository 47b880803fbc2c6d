package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/store"
	"multis/store/index"
)

const (
	// foundNothing answers the owner when nothing is relevant to his question.
	foundNothing = "I found nothing about that in your documents or chats."
	// minCoverage is the share of a question's words that a passage must have to be shown.
	minCoverage = 0.3
	// maxShownPassages is how many passages the owner is shown when no model reads them.
	maxShownPassages = 3
)

// sourcedText is a text with the passages that it rests on and the citations from them.
type sourcedText struct {
	markdown  string
	used      []search.Hit
	citations []store.Citation
}

// isRelevant reports whether a hit is relevant enough to be shown. Hits by date, and hits in a chat that the question names, always are.
func isRelevant(h search.Hit) bool {
	_, ofChat := h.Role.Chat()
	return h.Coverage >= minCoverage || h.Similarity > 0 || h.Score == 0 || ofChat
}

// listPassages formats the relevant passages that were found, the one that answers the question first.
func (c *core) listPassages(ctx context.Context, opening, question string, found search.Result, where searchArea) (sourcedText, error) {
	relevant := found
	relevant.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h search.Hit) bool { return !isRelevant(h) })
	if len(relevant.Hits) == 0 {
		return sourcedText{markdown: foundNothing + searchHint(question, found) + where.textIfUnusual()}, nil
	}
	answers, err := c.moveAnswerFirst(ctx, &relevant)
	if err != nil {
		return sourcedText{}, err
	}
	listed := sourcedText{used: relevant.Hits[:min(len(relevant.Hits), maxShownPassages)]}
	var b strings.Builder
	b.WriteString("**" + opening + "**\n")
	for i, hit := range listed.used {
		q := search.Quote{Hit: hit, Text: hit.Text}
		switch {
		case answers != nil && hit.Ref == answers.Hit.Ref:
			q = *answers
		case hit.Source == "":
			if q, err = c.search.BestSentences(ctx, relevant, hit); err != nil {
				return sourcedText{}, err
			}
		}
		fmt.Fprintf(&b, "\n%d\\. %s — \"%s\"\n", i+1, linkedSource(knowledge.CiteQuote(q), listed.used, hit.Ref),
			text.Escape(text.Clip(plainQuote(q.Text), 400)))
		listed.citations = append(listed.citations, store.Citation{Ref: hit.Ref, Source: knowledge.CiteQuote(q), Quote: q.Text})
	}
	listed.markdown = b.String() + where.textIfUnusual()
	return listed, nil
}

// moveAnswerFirst puts the document that answers the question before the others, and returns its quote; nil if none does.
func (c *core) moveAnswerFirst(ctx context.Context, found *search.Result) (*search.Quote, error) {
	isDocument := func(h search.Hit) bool { return h.Kind == index.KindKnowledge }
	documents := *found
	documents.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h search.Hit) bool { return !isDocument(h) })
	q, ok, err := c.search.Answer(ctx, documents)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, nil //nolint:nilnil // nil is no quote
	}
	first := slices.IndexFunc(found.Hits, isDocument)
	at := slices.IndexFunc(found.Hits, func(h search.Hit) bool { return h.Ref == q.Hit.Ref })
	found.Hits = slices.Insert(slices.Delete(found.Hits, at, at+1), first, q.Hit)
	return &q, nil
}

// searchHint tells how to see the passages nearest to a question; empty if there are none.
func searchHint(question string, found search.Result) string {
	if len(found.Hits) == 0 || strings.Contains(question, "`") {
		return ""
	}
	return " `/search " + text.Clip(strings.Join(strings.Fields(question), " "), 100) + "` shows the nearest passages."
}
