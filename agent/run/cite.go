package run

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/rs/zerolog"

	"multis/knowledge"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/store/index"
	"multis/text"
)

// Cite returns the citation of a sentence. It is false if the sentence names no passage, or one that does not prove it, which is counted.
func (a *Attempt) Cite(s Sentence) (store.Span, bool) {
	span, ok := a.Check(s)
	if !ok && (s.Source != 0 || strings.TrimSpace(s.Quote) != "") {
		a.invented++
	}
	return span, ok
}

// Check is Cite without counting. What is said to a contact rests on public documents alone.
func (a *Attempt) Check(s Sentence) (store.Span, bool) {
	said := Plain(s.Text)
	if s.Source < 1 || s.Source > len(a.Passages) || said == "" {
		return store.Span{}, false
	}
	hit := a.Passages[s.Source-1]
	if !a.isCitable(hit) || !knowledge.ContainsQuote(hit.Text, s.Quote) || !a.isSupported(said, hit) {
		return store.Span{}, false
	}
	return store.Span{Ref: hit.Ref, Source: knowledge.Cite(hit), Quote: s.Quote}, true
}

// isCitable reports whether a passage may be the source of an answer: to the owner any that he may read, to a contact public documents only. The
// contact's own words and the notes about him tell what he means, and prove nothing.
func (a *Attempt) isCitable(hit search.Hit) bool {
	return a.Caller.Owner || (hit.Role == policy.Public && hit.Kind == index.KindKnowledge)
}

// maxSentence is the longest sentence that is cited, in bytes.
const maxSentence = 400

// isSupported reports whether a passage can prove a sentence, as far as that shows without understanding it: the passage or its headings have every
// number and every address of the sentence, which is no whole page and does not quote the instructions.
func (a *Attempt) isSupported(sentence string, by search.Hit) bool {
	return len(sentence) <= maxSentence && !quotesInstructions(sentence, a.Instructions+" "+FenceRule+" "+AnswerForm) &&
		policy.FindUnsupported(sentence, by.Title+"\n"+by.Section+"\n"+by.Text) == ""
}

// leakWords is how many words in a row make a sentence a quote of the instructions.
const leakWords = 6

// quotesInstructions reports whether a sentence gives away what the model was told.
func quotesInstructions(sentence, instructions string) bool {
	instructions = " " + strings.Join(search.Words(instructions), " ") + " "
	words := search.Words(sentence)
	for i := 0; i+leakWords <= len(words); i++ {
		if strings.Contains(instructions, " "+strings.Join(words[i:i+leakWords], " ")+" ") {
			return true
		}
	}
	return false
}

// BreakLinks breaks the addresses in what a model said that are in nothing it was given.
func (a *Attempt) BreakLinks(said string) string { return policy.BreakLinks(said, a.given...) }

// CountInvented stores how many citations did not hold.
func (a *Attempt) CountInvented(ctx context.Context) {
	if a.invented == 0 {
		return
	}
	if err := store.AddInventedCitations(context.WithoutCancel(ctx), a.engine.Store.Writer(), a.invented); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot count citations that do not hold")
	}
	a.invented = 0
}

// Cited returns the hits that spans quote.
func Cited(hits []search.Hit, spans []store.Span) []search.Hit {
	var used []search.Hit
	for _, h := range hits {
		if slices.ContainsFunc(spans, func(s store.Span) bool { return s.Ref == h.Ref }) {
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

// Plain removes from a text what does not belong in a network without markup: marks of emphasis and invisible characters.
func Plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, markup.Replace(text.Clean(s))))
}

var markup = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "")
