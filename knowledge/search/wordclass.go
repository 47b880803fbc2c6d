package search

import (
	"math"
	"slices"
	"strings"
	"sync"

	"multis/internal/language"
	"multis/internal/language/lexicon"
)

// wordClass is a class of words in a question, by how much a word says about the topic. Whether a passage answers the question
// depends on the topical words only. The ranking uses all words, with a lower weight for fillers.
type wordClass int

const (
	specific wordClass = iota // what the question is about
	general                   // supports an answer like a specific word, but is not enough alone: "house", "town", "name"
	light                     // supports an answer a little: "today", "small", "come"
	filler                    // part of the phrasing: "please", "could", "sell", "price"
)

const (
	lightShare  = 0.5 // support of a light word, relative to a specific one
	fillerShare = 0.8 // weight of a filler in the ranking, relative to any other word
)

// unknownFactor raises the support of a word that occurs in no passage above that of all others. Without it, a question about
// bicycles would be answered by a line that only says "sell".
const unknownFactor = 2

// smallCorpus is the smallest corpus size that support assumes. In a corpus of one or two passages every word would look
// common.
const smallCorpus = 50

// support returns how much the term counts towards the coverage of a passage (see MinCoverage). chunks is the size of the corpus.
func (t Term) support(chunks int64) float64 {
	rarity := idf(t.Chunks, max(chunks, smallCorpus))
	switch {
	case t.class == filler:
		return 0
	case t.class == light:
		return lightShare * rarity
	case t.Chunks == 0:
		return unknownFactor * rarity
	default:
		return rarity
	}
}

// idf returns the inverse document frequency of a word that occurs in df of n passages. A df or n of 0 counts as 1.
func idf(df, n int64) float64 {
	n = max(n, 1)
	df = min(max(df, 1), n)
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// classifyInQuestion classifies a word of a question. "buy" is a filler in "can I buy", but specific in "do you buy".
func classifyInQuestion(question []string, word string) wordClass {
	if i := slices.Index(question, word); word == "buy" && i > 0 && question[i-1] == "you" {
		return specific
	}
	return classifyWord(word)
}

// IsCommonWord reports whether a word says little about the topic of a question, in any language.
func IsCommonWord(word string) bool { return classifyWord(word) != specific || language.IsCommon(word) }

// classifyWord classifies a word as returned by Words, in singular or plural.
func classifyWord(word string) wordClass {
	if w := classifyEnglish(word); w != specific {
		return w
	}
	if isTransposed(word) {
		return filler
	}
	if w := askingClass(word); w != specific {
		return w
	}
	if singular, ok := strings.CutSuffix(word, "ies"); ok {
		return classifyEnglish(singular + "y")
	}
	return classifyEnglish(strings.TrimSuffix(word, "s"))
}

// isTransposed reports whether a word is a question word with two letters transposed, as in "hwo far".
func isTransposed(word string) bool {
	for _, w := range []string{"how", "what", "when", "where", "which", "does", "much", "many", "with", "have", "your", "the"} {
		if len(w) == len(word) && w != word && isOneEdit(word, w) && sameLetters(word, w) {
			return true
		}
	}
	return false
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// readQuestionWords reads the words of questions on the first call: the class of each word, in English and in all other
// languages. All words are without accents. A word that means something specific in another language, such as "fin" or
// "art", is not among them.
var readQuestionWords = sync.OnceValue(func() (classes struct{ english, others map[string]wordClass }) {
	classes.english, classes.others = map[string]wordClass{}, map[string]wordClass{}
	byConcept := map[string]wordClass{"filler": filler, "light": light, "general": general}
	for _, code := range lexicon.Languages("questions") {
		words := classes.others
		if code == "en" {
			words = classes.english
		}
		for _, row := range lexicon.Rows(code, "questions") {
			for _, word := range row.Words() {
				words[word] = byConcept[row.Concept]
			}
		}
	}
	return classes
})

// classifyEnglish returns the class of an English word that says little about the topic of a question. All other words are specific.
func classifyEnglish(word string) wordClass { return readQuestionWords().english[word] }

// askingClass returns the class of a word in languages other than English, as classifyEnglish does for English.
func askingClass(word string) wordClass { return readQuestionWords().others[word] }
