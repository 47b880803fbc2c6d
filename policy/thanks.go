package policy

import (
	"slices"
	"strings"
	"sync"

	"multis/internal/language/lexicon"
	"multis/internal/text"
)

// thanksWords are the words of one language of which a message consists that only thanks or approves.
type thanksWords struct {
	thanks   []string // of all languages: "super, merci" is German as well
	approval []string
	beside   []string
}

var readThanks = sync.OnceValue(func() (all []thanksWords) { //nolint:gochecknoglobals // read once, from the lexicon
	for _, language := range lexicon.Languages("thanks") {
		all = append(all, thanksWords{
			thanks:   foldedPhrases(lexicon.Words("thanks", "thanks")),
			approval: foldedPhrases(lexicon.In(language, "thanks", "approval")),
			beside:   foldedPhrases(lexicon.In(language, "thanks", "beside")),
		})
	}
	return all
})

// foldedPhrases returns phrases as foldedWords returns their words.
func foldedPhrases(list []string) []string {
	folded := make([]string, len(list))
	for i, phrase := range list {
		folded[i] = strings.Join(foldedWords(phrase), " ")
	}
	return folded
}

// foldedWords splits a text into words as intentWords does, without accents.
func foldedWords(s string) []string { return intentWords(strokes.Replace(text.Fold(s))) }

// strokes replaces letters whose mark is not an accent, and which people often type without it.
var strokes = strings.NewReplacer("ł", "l", "Ł", "L", "ı", "i", "ø", "o", "Ø", "O", "ß", "ss") //nolint:gochecknoglobals // a constant

// maxThanksWords is the number of words up to which a message may only thank.
const maxThanksWords = 16

// onlyThanks reports whether a message thanks or approves and says nothing else: it asks nothing, wants nothing and
// complains of nothing, because each of its words is one of thanks or may stand beside them. A message without thanks
// begins with a word that approves.
func onlyThanks(message string, names []string) bool {
	if len(message) > maxIntentBytes || strings.ContainsAny(message, QuestionMarks) {
		return false
	}
	clauses := thanksClauses(message)
	return slices.ContainsFunc(readThanks(), func(w thanksWords) bool { return w.consist(clauses, foldedPhrases(names)) })
}

// thanksClauses splits a message into clauses, each a list of words; none if it is empty or too long.
func thanksClauses(message string) (clauses [][]string) {
	count := 0
	for _, s := range sentences(message) {
		clauses = append(clauses, s.words)
		count += len(s.words)
	}
	if count > maxThanksWords {
		return nil
	}
	return clauses
}

// consist reports whether the clauses of a message have nothing but thanks, approval and what stands beside them. Thanks
// may be followed by a word for the one who is thanked: "gracias guapa".
func (w thanksWords) consist(clauses [][]string, names []string) bool {
	hasThanks := false
	beginsWithApproval := false
	for at, words := range clauses {
		for first := true; len(words) > 0; first = false {
			if n := longestPhrase(words, w.thanks); n > 0 {
				hasThanks = true
				if words = words[n:]; len(words) == 1 {
					break
				}
				continue
			}
			n := longestPhrase(words, w.approval)
			beginsWithApproval = beginsWithApproval || n > 0 && at == 0 && first
			n = max(n, longestPhrase(words, w.beside), longestPhrase(words, names))
			if n == 0 {
				return false
			}
			words = words[n:]
		}
	}
	return hasThanks || beginsWithApproval
}
