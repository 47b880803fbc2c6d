package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

// searchCmd searches as the owner: in public and private documents, and in the named chats.
type searchCmd struct {
	Words   []string `arg:"" help:"What to look for."`
	Explain bool     `help:"Show how each score is computed."`
	Limit   int      `default:"5" placeholder:"NUMBER" help:"How many passages to show, no more than 50."`
	Chat    []string `placeholder:"NAME" help:"Also search the notes of this chat, by its name or number. May be repeated."`
}

// maxQuoteChars is the maximum length of a printed quote in characters.
const maxQuoteChars = 240

// Run searches and prints the passages.
func (c searchCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	vectors, err := openEmbedders(ctx, cfg, st)
	if err != nil {
		return err
	}
	scope, err := c.scope(ctx, st)
	if err != nil {
		return err
	}
	searcher := search.NewWithOptions(st, search.Options{Embedder: vectors.queries})
	found, err := searcher.AsOwner(ctx, scope, search.Query{Text: strings.Join(c.Words, " "), Limit: c.Limit, Explain: c.Explain})
	if err != nil {
		return err
	}
	quotes := make([]search.Quote, len(found.Hits))
	for i, hit := range found.Hits {
		if quotes[i], err = searcher.BestSentences(ctx, found, hit); err != nil {
			return err
		}
	}
	return printResult(os.Stdout, found, quotes)
}

// scope returns the owner's scope with the named chats.
func (c searchCmd) scope(ctx context.Context, st *store.Store) (policy.Scope, error) {
	if len(c.Chat) == 0 {
		return policy.OwnerScope(), nil
	}
	named, err := chatsNamed(ctx, st, c.Chat)
	if err != nil {
		return policy.Scope{}, err
	}
	ids := make([]store.ChatID, len(named))
	for i, chat := range named {
		ids[i] = chat.ID
	}
	return policy.OwnerScope(ids...), nil
}

// printResult prints the quote of each passage and, with --explain, how its score was computed.
func printResult(w io.Writer, found search.Result, quotes []search.Quote) error {
	var b strings.Builder
	explained := len(found.Hits) > 0 && found.Hits[0].Why != nil
	if explained {
		for _, t := range found.Terms {
			fmt.Fprintf(&b, "%-16s in %s, weight %.2f%s\n", t.Lexeme, text.Count(int(t.Chunks), "passage"), t.IDF,
				map[bool]string{true: ", a correction"}[t.Correction])
		}
		b.WriteString("\n")
	}
	if len(found.Hits) > 0 && len(found.Terms) == 0 {
		b.WriteString("The query has only stop words; these are the newest passages.\n\n")
	}
	for i, q := range quotes {
		h := q.Hit
		fmt.Fprintf(&b, "%d. %s  %.2f%s  (%s)\n   %s\n", i+1, knowledge.CiteQuote(q), h.Score, similarity(h),
			strings.Trim(string(h.Role)+", "+string(h.Language), ", "), clipQuote(q.Text))
		if h.Why != nil {
			explainHit(&b, *h.Why)
		}
	}
	if len(found.Hits) == 0 {
		b.WriteString("Nothing found.\n")
	}
	_, err := io.WriteString(w, text.Clean(b.String()))
	return err
}

func explainHit(b *strings.Builder, e search.Explanation) {
	for _, t := range e.Terms {
		fmt.Fprintf(b, "   %+6.2f  %s: %s, %.2f with its neighbours\n", t.Score, t.Lexeme, text.Count(t.Occurrences, "time"), t.Frequency)
	}
	if e.Author != 1 {
		fmt.Fprintf(b, "   x%5.2f  written by somebody whom the query names\n", e.Author)
	}
	for _, s := range []struct {
		score float64
		label string
	}{
		{e.Conversation, "the rest of the conversation"},
		{e.Cues, "adjacent words, or a date for a question that asks when"},
		{e.Activation, "used recently"},
	} {
		if s.score > 0.005 {
			fmt.Fprintf(b, "   %+6.2f  %s\n", s.score, s.label)
		}
	}
}

// similarity returns the similarity of a passage's embedding to the query's, if it was among the nearest.
func similarity(h search.Hit) string {
	if h.Similarity == 0 {
		return ""
	}
	return fmt.Sprintf(", meaning %.2f", h.Similarity)
}

// clipQuote returns the beginning of a text, on one line.
func clipQuote(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxQuoteChars {
		return text
	}
	return string([]rune(text)[:maxQuoteChars]) + "…"
}
