package answers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"multis/bridgebridge"
	"multis/internal/language"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// LearnWords keeps the words of a contact's message as words of the passage that the owner picked for it, so that the next
// question in these words is answered from it. Numbers, names of contacts and what else looks personal are left out. If a
// word is neither in the lexicon nor in a public document, the words are deleted with the message; otherwise nothing says
// who asked. It does nothing if the message is gone, or is not one question.
func (b *Keeper) LearnWords(ctx context.Context, tx store.Tx, asked store.MessageID, picked store.Citation) error {
	chunk, isChunk := picked.Ref.Chunk()
	m, err := store.MessageByID(ctx, tx, asked)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, tx, m.ChatID)
	if err != nil {
		return err
	}
	names := []string{bridgebridge.DisplayName(chat.Name)}
	wording, _ := search.WordingOf(MaskPersonalData(policy.WithoutGreeting(m.Body), names))
	unknown, err := b.unknownWords(ctx, m.Body, wording.Words)
	if err != nil {
		return err
	}
	named, err := namesAmong(ctx, tx, unknown)
	if err != nil {
		return err
	}
	isName := func(word string) bool { return slices.Contains(named, word) }
	words := slices.DeleteFunc(wording.Words, isName)
	unknown = slices.DeleteFunc(unknown, isName)
	if !isChunk || len(words) == 0 {
		return nil
	}
	learned := index.LearnedWords{ChunkID: chunk, Quote: picked.Quote, Words: words, Asks: wording.Asks}
	if len(unknown) > 0 {
		learned.Sources = []store.MessageID{m.ID}
	}
	return index.AddLearnedWords(ctx, tx, learned)
}

// unknownWords returns the words of a question that are neither in the lexicon nor in a public document.
func (b *Keeper) unknownWords(ctx context.Context, question string, words []string) ([]string, error) {
	unknown := slices.DeleteFunc(slices.Clone(words), search.IsVocabulary)
	if len(unknown) == 0 {
		return nil, nil
	}
	db, err := b.Store.ContactReader(policy.PublicScope())
	if err != nil {
		return nil, err
	}
	terms, _, err := index.SearchTerms(ctx, db, index.Documents, unknown, language.Guess(question))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(unknown, func(word string) bool {
		return slices.ContainsFunc(terms, func(t index.Term) bool { return t.Word == word && t.Chunks > 0 && !t.Correction })
	}), nil
}

// namesAmong returns those of the words that are in the name of a chat.
func namesAmong(ctx context.Context, db store.DB, words []string) (named []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	chats, err := store.ChatNames(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, c := range chats {
		for _, word := range search.PlainWords(c.Name) {
			if slices.Contains(words, word) {
				named = append(named, word)
			}
		}
	}
	return named, nil
}

// Wording is what was learned from a question, as the owner reads it.
type Wording struct {
	Number int64
	Words  string
	Source string // the citation of the quote, with the lines as they are now
}

// Wordings lists the learned words, in the order in which they were learned.
func (b *Keeper) Wordings(ctx context.Context) ([]Wording, error) {
	learned, err := index.AllLearnedWords(ctx, b.Store.DB())
	if err != nil {
		return nil, err
	}
	db, err := b.Store.ContactReader(policy.PublicScope())
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(learned))
	for i, l := range learned {
		ids[i] = int64(l.ChunkID)
	}
	texts, err := index.ChunkTexts(ctx, db, policy.PublicScope(), ids)
	if err != nil {
		return nil, err
	}
	var list []Wording
	for _, l := range learned {
		at := slices.IndexFunc(texts, func(t index.ChunkText) bool { return t.ID == int64(l.ChunkID) })
		if at < 0 {
			continue // its document was removed since
		}
		quote := search.QuoteOf(texts[at], l.Quote)
		list = append(list, Wording{Number: l.ID, Words: strings.Join(l.Words, " "), Source: knowledge.CiteQuote(quote)})
	}
	return list, nil
}
