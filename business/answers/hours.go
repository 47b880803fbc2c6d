package answers

import (
	"context"
	"errors"

	"multis/business/catalog"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// HoursIn returns the opening hours in the language of a question, if an answer quotes them in another language: a search
// may find those, because many languages share words such as "open". ok is false for any other answer, and for a question
// that is too short to tell its language.
func (b *Keeper) HoursIn(ctx context.Context, question string, cited search.Hit) (in Corrected, ok bool, err error) {
	lang := catalog.DetectLanguage([]string{question}, "")
	if lang == "" || b.Variables.Hours == "" {
		return Corrected{}, false, nil
	}
	doc, err := index.DocumentByOrigin(ctx, b.Store.DB(), hoursOrigin)
	if errors.Is(err, store.ErrNotFound) || err == nil && cited.DocumentID != doc.ID {
		return Corrected{}, false, nil
	}
	if err != nil {
		return Corrected{}, false, err
	}
	db, err := b.Store.ContactReader(policy.PublicScope())
	if err != nil {
		return Corrected{}, false, err
	}
	said := catalog.HoursSentence(lang, b.Variables.Hours, b.Variables.closedDays())
	t, err := index.PublicChunkWith(ctx, db, doc.ID, said)
	if errors.Is(err, store.ErrNotFound) {
		return Corrected{}, false, nil // the document is older than the hours
	}
	if err != nil {
		return Corrected{}, false, err
	}
	if search.NewHit(t).Ref == cited.Ref {
		return Corrected{}, false, nil
	}
	hit := search.NewHit(t)
	return Corrected{
		Text:     said,
		Hit:      hit,
		Citation: store.Citation{Ref: hit.Ref, Source: knowledge.CiteQuote(search.Quote{Hit: hit, Text: said}), Quote: said},
	}, true, nil
}
