package search

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"multis/internal/language/lexicon"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// maxLearned is how many words a question that is learned has at most: a longer one tells a story.
const maxLearned = 8

// Wording is what is kept of a question for which a person picked a quote.
type Wording struct {
	Words []string // what the question is about, a set, without numbers
	Asks  string   // the type of value that it asks for, such as "price"; empty for none
}

// askedTypes are the names of the types of values.
var askedTypes = map[valueType]string{ //nolint:gochecknoglobals // a constant
	asksPrice: "price", asksDuration: "duration", asksTime: "time", asksQuantity: "quantity",
	asksWeight: "weight", asksAge: "age", asksPlace: "place",
}

// WordingOf returns the wording of a question. It has no words for several questions, for a long one, for one that
// continues another, and for one that says nothing of what it is about. hasNumbers says that the question has numbers,
// which the wording has not.
func WordingOf(question string) (w Wording, hasNumbers bool) {
	asking := slices.DeleteFunc(splitAfter(question, sentenceBreak), func(s string) bool {
		return !strings.ContainsAny(s, policy.QuestionMarks)
	})
	if len(asking) > 1 || continuesInItsLanguage(question) {
		return Wording{}, false
	}
	parsed := parseAsked(question, nil, nil)
	isAboutSomething := false
	for _, word := range parsed.words {
		if strings.ContainsFunc(word.text, unicode.IsDigit) {
			hasNumbers = true
			continue
		}
		w.Words = append(w.Words, word.text)
		isAboutSomething = isAboutSomething || !word.isLight && word.day < 0 && word.month < 0
	}
	if !isAboutSomething || len(w.Words) > maxLearned {
		return Wording{}, hasNumbers
	}
	slices.Sort(w.Words)
	w.Words = slices.Compact(w.Words)
	w.Asks = askedTypes[askedValueType(parsed.typed)]
	return w, hasNumbers
}

// continuesInItsLanguage is Continues for the words of the question's own language: the Polish "i" is no English one.
func continuesInItsLanguage(question string) bool {
	said := strings.Join(PlainWords(question), " ") + " "
	return slices.ContainsFunc(dictionariesOf(tokens(question)), func(d dictionary) bool {
		return slices.ContainsFunc(lexicon.In(d.code, "side", "continue"), func(start string) bool {
			return strings.HasPrefix(said, plain(start)+" ")
		})
	})
}

// pickedQuote returns the quote that was picked last for a question in the same words, in any form. Numbers are not kept,
// so a question that has some is answered by the rules for all questions.
func pickedQuote(hits []Hit, asked Asked) (Quote, bool) {
	w, hasNumbers := WordingOf(asked.Text)
	if len(w.Words) == 0 || hasNumbers || asked.isFollowUp() {
		return Quote{}, false
	}
	var found Quote
	newest := int64(0)
	for _, h := range hits {
		for _, l := range h.learned {
			isSame := l.Asks == w.Asks && shareOf(l.Words, w.Words) == 1 && shareOf(w.Words, l.Words) == 1
			if isSame && l.ID > newest {
				found, newest = quoteIn(h, l.Quote), l.ID
				found.Coverage = 1
			}
		}
	}
	return found, newest > 0
}

// shareOf returns the share of words of which others have a form.
func shareOf(words, others []string) float64 {
	n := 0
	for _, word := range words {
		if slices.ContainsFunc(others, func(other string) bool { return isForm(word, other) }) {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

// PlainWords returns the words of a text as questions and passages are compared: in lower case and without accents.
func PlainWords(text string) (words []string) {
	for _, t := range tokens(text) {
		words = append(words, t.text)
	}
	return words
}

// IsVocabulary reports whether the lexicon has a word, in any language.
func IsVocabulary(word string) bool {
	return newReader(readDictionaries()).hasWord(word)
}

// hasWord reports whether a word, or another form of it, is in the dictionaries.
func (r *reader) hasWord(word string) bool {
	return r.isSide(word) || len(r.conceptsOf(word)) > 0 || r.day(word) >= 0 || r.month(word) >= 0
}

// minSameWords is the share of the words of a wording that a question has for which they count.
const minSameWords = 0.6

// withLearned gives the passages the words that were learned for them, and adds the passages that only such words find.
func (r Result) withLearned(ctx context.Context, db store.Reader, scope policy.Scope, q Query) (Result, error) {
	if q.Source != index.Documents {
		return r, nil
	}
	words := PlainWords(q.Text)
	found, err := index.LearnedWordsLike(ctx, db, words)
	if err != nil {
		return r, err
	}
	found = slices.DeleteFunc(found, func(l index.LearnedWords) bool { return shareOf(l.Words, words) < minSameWords })
	if len(found) == 0 {
		return r, nil
	}
	learned := map[store.Ref][]index.LearnedWords{}
	missing := map[store.Ref]int64{}
	for _, w := range found {
		ref := store.ChunkRef(w.ChunkID)
		learned[ref] = append(learned[ref], w)
		missing[ref] = int64(w.ChunkID)
	}
	for _, hits := range [][]Hit{r.Hits, r.Others} {
		for i := range hits {
			hits[i].learned = learned[hits[i].Ref]
			delete(missing, hits[i].Ref)
		}
	}
	var ids []int64
	for _, id := range missing {
		ids = append(ids, id)
	}
	texts, err := index.ChunkTexts(ctx, db, scope, ids)
	if err != nil {
		return r, err
	}
	for _, t := range texts {
		if slices.Contains(q.Kinds, t.Kind) {
			hit := newHit(q.Source, t, &scored{})
			hit.learned = learned[hit.Ref]
			r.Others = append(r.Others, hit)
		}
	}
	return r, nil
}

// learnedWords returns the words that were learned for a part of the passage, which have a quote in common with it.
func (h Hit) learnedWords(part string) string {
	var words []string
	for _, l := range h.learned {
		if strings.Contains(l.Quote, part) || strings.Contains(part, l.Quote) {
			words = append(words, l.Words...)
		}
	}
	return strings.Join(words, " ")
}

// QuoteOf returns a part of a stored passage as a quote.
func QuoteOf(passage index.ChunkText, part string) Quote {
	return quoteIn(newHit(index.Documents, passage, &scored{}), part)
}

func quoteIn(h Hit, part string) Quote {
	before, _, found := strings.Cut(h.Text, part)
	q := Quote{Hit: h, Text: part}
	if found {
		q.From = len(before)
	}
	if q.Hit.LineFrom > 0 {
		q.LineFrom = q.Hit.LineFrom + strings.Count(before, "\n")
		q.LineTo = q.LineFrom + strings.Count(part, "\n")
	}
	return q
}
