package run

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// Cite returns the citation of a sentence, or false if the sentence has no valid one. It counts invalid citations.
func (a *Attempt) Cite(s Sentence) (store.Citation, bool) {
	span, ok := a.FindCitation(s)
	if !ok && (s.Source != 0 || strings.TrimSpace(s.Quote) != "") {
		a.inventedCitations++
	}
	return span, ok
}

// FindCitation is Cite without the count.
func (a *Attempt) FindCitation(s Sentence) (store.Citation, bool) {
	said := WithoutMarkup(s.Text)
	if s.Source < 1 || s.Source > len(a.Passages) || said == "" {
		return store.Citation{}, false
	}
	hit := a.Passages[s.Source-1]
	if !a.Caller.Owner && policy.GivesOrders(s.Quote) {
		return store.Citation{}, false
	}
	if !a.isCitable(hit) || !knowledge.ContainsQuote(hit.Text, s.Quote) || !a.isSupported(said, hit) {
		return store.Citation{}, false
	}
	return store.Citation{Ref: hit.Ref, Source: knowledge.Cite(hit), Quote: s.Quote}, true
}

// isCitable reports whether an answer may cite a passage. An answer to the owner may cite any passage that he may read.
// One to a contact may cite only public documents, because the contact's messages and the notes about him prove nothing.
func (a *Attempt) isCitable(hit search.Hit) bool {
	return a.Caller.Owner || (hit.Role == policy.RolePublic && hit.Kind == index.KindKnowledge)
}

// maxSentence is the maximum length of a sentence that is cited, in bytes.
const maxSentence = 400

// isSupported reports whether a passage can prove a sentence: the passage or its headings contain every number and
// address of the sentence, and the sentence is at most maxSentence long and does not quote the instructions.
//
// For the owner a number may also be computed from those of the passage, because he sees the quote.
func (a *Attempt) isSupported(sentence string, by search.Hit) bool {
	if a.Caller.Owner {
		sentence = withoutComputed(sentence, by.Title+"\n"+by.Section+"\n"+by.Text)
	}
	return len(sentence) <= maxSentence && !quotesInstructions(sentence, a.Instructions+" "+FenceRule+" "+AnswerForm) &&
		policy.FindUnsupported(sentence, by.Title+"\n"+by.Section+"\n"+by.Text) == ""
}

// minLeakWords is the number of consecutive words of the instructions that count as a quote of them.
const minLeakWords = 6

// quotesInstructions reports whether a sentence contains minLeakWords consecutive words of the instructions.
func quotesInstructions(sentence, instructions string) bool {
	instructions = " " + strings.Join(search.Words(instructions), " ") + " "
	words := search.Words(sentence)
	for i := 0; i+minLeakWords <= len(words); i++ {
		if strings.Contains(instructions, " "+strings.Join(words[i:i+minLeakWords], " ")+" ") {
			return true
		}
	}
	return false
}

// BreakLinks makes an address in a model's text unusable as a link if it occurs in no text that the model was given.
func (a *Attempt) BreakLinks(text string) string { return policy.BreakLinks(text, a.modelInput...) }

// StoreInventedCount stores the number of invalid citations.
func (a *Attempt) StoreInventedCount(ctx context.Context) {
	if a.inventedCitations == 0 {
		return
	}
	if err := store.AddInventedCitations(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.inventedCitations); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot count invalid citations")
	}
	a.inventedCitations = 0
}

// CitedHits returns the hits that citations quote.
func CitedHits(hits []search.Hit, spans []store.Citation) []search.Hit {
	var used []search.Hit
	for _, h := range hits {
		if slices.ContainsFunc(spans, func(s store.Citation) bool { return s.Ref == h.Ref }) {
			used = append(used, h)
		}
	}
	return used
}

// SourceMessages returns the messages among hits, and those that notes among them were learned from.
func SourceMessages(hits []search.Hit) []store.MessageID {
	var ids []store.MessageID
	for _, h := range hits {
		ids = append(ids, h.Messages...)
		if message, ok := h.Ref.Message(); ok {
			ids = append(ids, message)
		}
	}
	return ids
}

// WithoutMarkup removes emphasis marks and invisible characters, for networks without markup.
func WithoutMarkup(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, markupRemover.Replace(text.Clean(s))))
}

var markupRemover = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "")
