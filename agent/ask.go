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

// Ask answers a question of the owner from his documents and the public ones, as Markdown with its sources. chat is where he
// asked.
func (a *Agent) Ask(ctx context.Context, chat store.Chat, question string) (string, error) {
	found, err := a.Search.AsOwner(ctx, policy.OwnerScope(), search.Query{Text: question, Limit: modelPassages})
	if err != nil {
		return "", err
	}
	if len(found.Terms) == 0 {
		found.Hits = nil // nothing but stop words: the newest passages are no answer
	}
	text, used, err := a.ask(ctx, chat, question, found)
	if err != nil || len(used) == 0 {
		return text, err
	}
	return text, a.Search.RecordAccess(ctx, policy.OwnerScope(), used)
}

// ask writes the answer and names the passages it shows.
func (a *Agent) ask(ctx context.Context, chat store.Chat, question string, found search.Result) (string, []search.Hit, error) {
	drafted, err := a.draftForOwner(ctx, chat, question, found)
	var over *llm.OverBudgetError
	switch {
	case errors.Is(err, llm.ErrNoModel):
		return a.listPassages(ctx, "I have no model configured, so here is what I found:", found)
	case errors.As(err, &over):
		return a.listPassages(ctx, a.overBudgetText(over)+" Here is what I found:", found)
	case ctx.Err() != nil:
		return "", nil, err
	case err != nil:
		zerolog.Ctx(ctx).Err(err).Msg("The model failed; answering from passages")
		return a.listPassages(ctx, "⚠️ The model did not answer ("+outbox.Escape(err.Error())+"), so here is what I found:", found)
	}
	text, shown := cited(drafted, found.Hits)
	return text, shown, nil
}

func (a *Agent) draftForOwner(ctx context.Context, chat store.Chat, question string, found search.Result) (draft, error) {
	window, err := store.Window(ctx, a.Store.DB(), chat.ID, windowLength)
	if err != nil {
		return draft{}, err
	}
	name, err := store.AssistantName(ctx, a.Store.DB(), a.Name)
	if err != nil {
		return draft{}, err
	}
	return a.draft(ctx, ownerPrompt(name, question, found.Hits, window), "ask", chat.ID)
}

// cited renders a drafted answer. A quote that does not stand in its passage loses its mark; an answer without any says so.
func cited(d draft, hits []search.Hit) (string, []search.Hit) {
	var text, list strings.Builder
	var spans []store.Span
	for _, s := range d.Sentences {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(outbox.Escape(strings.TrimSpace(s.Text)))
		span, ok := check(s, hits)
		if !ok {
			continue
		}
		if !slices.Contains(spans, span) {
			spans = append(spans, span)
			fmt.Fprintf(&list, "\n[%d] %s: \"%s\"  ", len(spans), outbox.Escape(span.Source), outbox.Escape(clip(span.Quote, 300)))
		}
		fmt.Fprintf(&text, " [%d]", slices.Index(spans, span)+1)
	}
	switch {
	case text.Len() == 0:
		return "I found nothing about that in your documents.", nil
	case len(spans) == 0:
		return text.String() + "\n\n(No source: nothing in your documents says this.)", nil
	}
	return text.String() + "\n" + list.String() + "\n\nLooked in: your documents.", spanned(hits, spans)
}

// listPassages shows what was found when no model read it.
func (a *Agent) listPassages(ctx context.Context, opening string, found search.Result) (string, []search.Hit, error) {
	if len(found.Hits) == 0 {
		return "I found nothing about that in your documents.", nil, nil
	}
	shown := found.Hits[:min(len(found.Hits), shownPassages)]
	var b strings.Builder
	b.WriteString("**" + opening + "**\n")
	for i, hit := range shown {
		q, err := a.Search.BestSentences(ctx, found, hit)
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintf(&b, "\n%d\\. %s — \"%s\"\n", i+1, outbox.Escape(knowledge.CiteQuote(q)), outbox.Escape(clip(spoken(q.Text), 400)))
	}
	return b.String(), shown, nil
}
