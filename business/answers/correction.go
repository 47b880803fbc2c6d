package answers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// searchPublic searches the public documents.
func (b *Keeper) searchPublic(ctx context.Context, question string) (search.Result, error) {
	return b.Search.AsContact(ctx, policy.PublicScope(), search.Query{
		Text:  question,
		Limit: maxHits,
		Kinds: []index.Kind{index.KindKnowledge},
	})
}

// checkDocuments looks for a public document that contradicts an answer. If it finds one, it sets what the answer would
// replace or correct, and that the owner should be asked. If a learned answer has already replaced what the document
// says, it compares with that answer.
func (c *comparison) checkDocuments(ctx context.Context, g *store.UnansweredQuestion) error {
	q, ok, err := c.quoteAbout(ctx, g)
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	doc, err := index.DocumentByID(ctx, c.Store.DB(), q.Hit.DocumentID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was removed meanwhile
	}
	if err != nil {
		return err
	}
	said, quote := source{q.Hit.Heading(), q.Text}, contradictedPart(g.Question, source{q.Hit.Heading(), q.Text}, g.Answer)
	i := slices.IndexFunc(c.learned, func(a store.LearnedAnswer) bool {
		return doc.Origin == publicOrigin && a.Question == q.Hit.Heading() ||
			a.CorrectsQuote != "" && a.CorrectsOrigin == doc.Origin && (a.CorrectsQuote == quote || a.CorrectsQuote == q.Text)
	})
	if i >= 0 {
		said = source{text: c.learned[i].Answer}
	}
	isAsked := slices.ContainsFunc(c.asked, func(other store.UnansweredQuestion) bool {
		if i >= 0 {
			return other.Contradicts != nil && *other.Contradicts == c.learned[i].ID
		}
		return other.CorrectsOrigin == doc.Origin && other.CorrectsQuote == quote
	})
	if isAsked || i < 0 && doc.Origin == publicOrigin {
		return nil
	}
	switch contradicts, err := c.contradicts(ctx, g, said); {
	case err != nil || !contradicts:
		return err
	case i >= 0:
		g.State, g.Contradicts = store.UnansweredOpen, &c.learned[i].ID
	default:
		g.State = store.UnansweredOpen
		g.CorrectsOrigin = doc.Origin
		g.CorrectsQuote = quote
	}
	return nil
}

// contradictedPart returns the sentence of a quote that an answer contradicts by its words, because a correction takes
// the place of what it corrects, and the other sentences still hold. It returns the whole quote if that is no single
// sentence, or one that does not say by itself what it is about.
func contradictedPart(question string, said source, answer string) string {
	var found []string
	for _, sentence := range sentences(said.text) {
		if contradicts(question, source{said.heading, sentence}, answer) {
			found = append(found, sentence)
		}
	}
	if len(found) != 1 || !haveCommonWord(found[0], question+" "+answer) {
		return said.text
	}
	return found[0]
}

// maxCompared is how many passages are compared with an answer if none of them answers its question.
const maxCompared = 3

// quoteAbout returns the quote of a public document that answers a question; or one that the answer contradicts word by
// word, although it would not be enough for an answer.
func (c *comparison) quoteAbout(ctx context.Context, g *store.UnansweredQuestion) (search.Quote, bool, error) {
	result, err := c.searchPublic(ctx, g.Question)
	if err != nil {
		return search.Quote{}, false, err
	}
	if len(result.Hits) == 0 || len(result.Terms) == 0 {
		return search.Quote{}, false, nil
	}
	q, ok, err := c.Search.Answer(ctx, result)
	if err != nil {
		return q, ok, err
	}
	if ok {
		return q, ok, nil
	}
	for _, h := range result.Hits[:min(len(result.Hits), maxCompared)] {
		q, err := c.Search.BestSentences(ctx, result, h)
		if err != nil {
			return search.Quote{}, false, err
		}
		if wordsDiffer(g.Question, source{h.Heading(), q.Text}, g.Answer) {
			return q, true, nil
		}
	}
	return search.Quote{}, false, nil
}

// Corrected is the learned answer that replaces an outdated quote of a document.
type Corrected struct {
	Text     string // empty if the answer needs a person
	Citation store.Citation
	Hit      search.Hit
	Reason   string
}

// Correct returns the learned answer that replaces an answer to a question with these citations. ok is false if no
// learned answer corrects one of the quotes, or what the answer says. If it says more than the corrected sentence, and
// the question is not clearly about that, the result is what the other sentences of the passage answer; it has no text if
// they don't, because a person has to answer then.
func (b *Keeper) Correct(ctx context.Context, question, said string, citations []store.Citation) (by Corrected, ok bool, err error) {
	corrections, err := store.Corrections(ctx, b.Store.DB())
	if err != nil {
		return Corrected{}, false, err
	}
	if len(corrections) == 0 {
		return Corrected{}, false, nil
	}
	db, err := b.Store.ContactReader(policy.PublicScope())
	if err != nil {
		return Corrected{}, false, err
	}
	slices.Reverse(corrections) // the newest first
	var cited []index.ChunkText
	for _, citation := range citations {
		chunk, isChunk := citation.Ref.Chunk()
		if !isChunk {
			continue
		}
		texts, err := index.ChunkTexts(ctx, db, policy.PublicScope(), []int64{int64(chunk)})
		if err != nil {
			return Corrected{}, false, err
		}
		for _, t := range texts {
			for _, c := range corrections {
				if covers, whole := c.Covers(store.DocumentID(t.DocID), t.Content, citation.Quote); covers {
					by, err := b.correctedBy(ctx, db, c, whole || isPriceOf(question, c, citation.Quote))
					if err == nil && by.Text == "" && !whole {
						by, err = b.uncorrected(ctx, question, t, corrections, by)
					}
					return by, true, err
				}
			}
		}
		cited = append(cited, texts...)
	}
	if c, found := store.OnlySource(said, cited, corrections); found {
		by, err := b.correctedBy(ctx, db, c, false)
		return by, true, err
	}
	return Corrected{}, false, nil
}

// uncorrected returns what the sentences of a passage that no correction corrects answer to a question. It returns
// otherwise if they don't, or if a corrected sentence matches the question better.
func (b *Keeper) uncorrected(ctx context.Context, question string, passage index.ChunkText, corrections []store.Correction,
	otherwise Corrected,
) (Corrected, error) {
	result, err := b.searchPublic(ctx, question)
	if err != nil {
		return Corrected{}, err
	}
	i := slices.IndexFunc(result.Hits, func(h search.Hit) bool { return h.Ref == search.NewHit(passage).Ref })
	if i < 0 {
		return otherwise, nil
	}
	rest, old := store.SplitPassage(corrections, result.Hits[i].DocumentID, result.Hits[i].Text)
	q, ok, err := b.answerFromParts(ctx, result, result.Hits[i], rest)
	if err != nil {
		return otherwise, err
	}
	if !ok {
		return otherwise, nil
	}
	better, ok, err := b.answerFromParts(ctx, result, result.Hits[i], old)
	if err != nil {
		return otherwise, err
	}
	if ok && better.Coverage > q.Coverage {
		return otherwise, nil
	}
	return Corrected{
		Text: q.Text, Hit: q.Hit, Citation: store.Citation{Ref: q.Hit.Ref, Source: knowledge.CiteQuote(q), Quote: q.Text},
		Reason: otherwise.Reason + " The rest of the passage answers this question.",
	}, nil
}

// answerFromParts returns the quote of parts of a passage that answers a question.
func (b *Keeper) answerFromParts(ctx context.Context, result search.Result, passage search.Hit,
	parts []store.PassagePart,
) (search.Quote, bool, error) {
	result.Hits = nil
	for _, part := range parts {
		h := passage
		if h.Text = part.Text; h.LineFrom > 0 {
			h.LineFrom += part.Lines
		}
		result.Hits = append(result.Hits, h)
	}
	return b.Search.Answer(ctx, result)
}

// isPriceOf reports whether a question asks for a price and for no day or place, and the correction is of the only price in the quote.
func isPriceOf(question string, c store.Correction, quote string) bool {
	hasPrice := func(s string) bool { return len(figures(s)["price"]) > 0 }
	rest := strings.ReplaceAll(text.CollapseSpaces(quote), text.CollapseSpaces(c.CorrectsQuote), " ")
	asked := tokens(question)
	return hasAny(asked, priceWords) && !hasAny(asked, whenWords) && len(daysOf(asked)) == 0 && hasPrice(c.Answer) &&
		hasPrice(c.CorrectsQuote) && !hasPrice(rest) &&
		len(sentences(c.CorrectsQuote)) == 1
}

// correctedBy returns a correction as an answer. The result has no text unless whole is true and the published document
// contains the correction.
func (b *Keeper) correctedBy(ctx context.Context, db store.DB, c store.Correction, whole bool) (Corrected, error) {
	by := Corrected{Reason: fmt.Sprintf("%s says “%s”, and you took another answer to that into your documents.", c.DocumentName,
		c.CorrectsQuote)}
	doc, err := index.DocumentByOrigin(ctx, b.Store.DB(), publicOrigin)
	if errors.Is(err, store.ErrNotFound) || !whole {
		return by, nil // not whole, or the document is not published yet
	}
	if err != nil {
		return Corrected{}, err
	}
	t, err := index.PublicChunkWith(ctx, db, doc.ID, c.Answer)
	if errors.Is(err, store.ErrNotFound) {
		return by, nil
	}
	if err != nil {
		return Corrected{}, err
	}
	by.Text = c.Answer
	by.Hit = search.NewHit(t)
	by.Citation = store.Citation{Ref: by.Hit.Ref, Source: knowledge.CiteQuote(search.Quote{Hit: by.Hit, Text: c.Answer}), Quote: c.Answer}
	return by, nil
}

// EndedCorrection is a correction of a sentence that its document no longer contains.
type EndedCorrection struct {
	store.Correction

	IsAnswered bool // its document answers the question now
}

// EndedCorrections returns the corrections of sentences that are no longer in their document, or whose document is no longer public.
func (b *Keeper) EndedCorrections(ctx context.Context) (ended []EndedCorrection, err error) {
	corrections, err := store.Corrections(ctx, b.Store.DB())
	if err != nil {
		return nil, err
	}
	if len(corrections) == 0 {
		return nil, nil
	}
	db, err := b.Store.ContactReader(policy.PublicScope())
	if err != nil {
		return nil, err
	}
	for _, c := range corrections {
		if c.DocumentID != 0 {
			_, err := index.PublicChunkWith(ctx, db, c.DocumentID, c.CorrectsQuote)
			if err == nil {
				continue
			}
			if !errors.Is(err, store.ErrNotFound) {
				return nil, err
			}
		}
		found, err := b.searchPublic(ctx, c.Question)
		if err != nil {
			return nil, err
		}
		found.Hits = slices.DeleteFunc(slices.Clone(found.Hits), func(h search.Hit) bool { return h.DocumentID != c.DocumentID })
		isAnswered := false
		if len(found.Hits) > 0 && len(found.Terms) > 0 {
			if _, isAnswered, err = b.Search.Answer(ctx, found); err != nil {
				return nil, err
			}
		}
		ended = append(ended, EndedCorrection{c, isAnswered})
	}
	return ended, nil
}
