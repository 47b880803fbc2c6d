package search

import (
	"math"
	"slices"
	"strings"

	"multis/language"
)

// A question's words do not all tell what it is about. Whether a passage answers a question is judged by the words that
// do; the ranking itself uses all of them, those that only ask a little less.
type weight int

const (
	specific weight = iota // what the question is about
	general                // counts as much, but is not enough alone: "house", "town", "name"
	light                  // adds a little: "today", "small", "come"
	filler                 // how people ask: "please", "could", "sell", "price"
)

const (
	lightShare  = 0.5 // what a light word supports an answer, beside a specific one
	fillerShare = 0.8 // what a filler counts in the ranking, beside any other word
)

// unknownFactor makes a word that stands nowhere heavier than any that does: a question about bicycles is not answered
// by a line that says "sell".
const unknownFactor = 2

// smallCorpus is the least number of passages that a word's rarity is judged against when a question's support is
// weightedCell. In a corpus of one or two passages every word would look common.
const smallCorpus = 50

// support is what the term counts when it is asked whether a passage answers the question. chunks is the size of the
// corpus.
func (t Term) support(chunks int64) float64 {
	rarity := idf(t.Chunks, max(chunks, smallCorpus))
	switch {
	case t.weight == filler:
		return 0
	case t.weight == light:
		return lightShare * rarity
	case t.Chunks == 0:
		return unknownFactor * rarity
	default:
		return rarity
	}
}

// idf is how much a word tells that stands in df of n passages. A word that stands in none counts as if in one.
func idf(df, n int64) float64 {
	n = max(n, 1)
	df = min(max(df, 1), n)
	return math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
}

// weightIn sorts a word of a question. "Can I buy" asks whether there is something; "do you buy" asks for something else.
func weightIn(question []string, word string) weight {
	if i := slices.Index(question, word); word == "buy" && i > 0 && question[i-1] == "you" {
		return specific
	}
	return weightOf(word)
}

// IsCommonWord reports whether a word hardly tells what a question is about, in any language.
func IsCommonWord(word string) bool { return weightOf(word) != specific || language.IsCommon(word) }

// weightOf sorts a word as Words gives it, in singular or plural.
func weightOf(word string) weight {
	if w := listedWeight(word); w != specific {
		return w
	}
	if isTransposed(word) {
		return filler
	}
	if singular, ok := strings.CutSuffix(word, "ies"); ok {
		return listedWeight(singular + "y")
	}
	return listedWeight(strings.TrimSuffix(word, "s"))
}

// isTransposed tells whether a word is one that questions are made of, with two letters that changed places: "hwo far".
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

// listed is the list of words that are not specific.
func listedWeight(word string) weight {
	switch word {
	case "would", "could", "should", "may", "might", "must", "shall", "cannot", "gonna", "wanna", "let", // modal
		"isn", "aren", "wasn", "weren", "doesn", "didn", "won", "wouldn", "couldn", "shouldn", "hasn", "haven", "hadn", "ain",
		"ll", "re", "ve", "im", "ive", "dont", "cant", "whats", "wheres", "whens", "hows", "whos", "thats", "theres",
		"please", "pls", "plz", "thank", "thx", "ty", "hello", "hi", "hey", "hiya", "dear", "sorry", "excuse", "pardon", // polite
		"welcome", "cheer", "regard", "ok", "okay", "yes", "yeah", "yep", "nope", "sure",
		"tell", "say", "know", "wonder", "wondering", "ask", "asking", "question", "answer", "give", "show", "explain", // asking
		"inform", "information", "info", "detail", "curious", "interested", "interesting", "look", "looking", "find", "see", "hear",
		"possible", "possibly", "able", "help", "allow", "allowed", "permit", "permitted",
		"want", "wanted", "need", "needed", "wish", "like", "hope", "try", "trying", "get", "getting", "take", "taking", // any verb
		"make", "making", "go", "goes", "going", "put", "work", "exist", "happen",
		"sell", "selling", "offer", "offered", "offering", "provide", "provided", "carry", "stock", "stocked", // trade
		"available", "availability", "buy", "buying", "purchase", "serve", "served",
		"price", "priced", "pricing", "cost", "charge", "charged", "fee", // answered by an amount
		"much", "many", "far", "often", "soon", "else", "exactly", "actually", "really", "currently", "still", "already", "also", // adverbs
		"maybe", "perhaps", "usually", "generally", "normally", "approximately", "roughly", "anyway", "even", "ever", "yet", "instead",
		"policy", "rule", "condition", // what is said about it
		"kind", "sort", "thing", "something", "anything", "everything", "nothing", "someone", "anyone", "everyone", // any noun
		"somebody", "anybody", "nobody", "stuff", "whether", "per", "etc", "us":
		return filler
	case "time", "day", "today", "tomorrow", "yesterday", "tonight", "week", "month", "year", "hour", "minute", "moment", "second", // time
		"date", "morning", "afternoon", "evening", "night", "now", "early", "late",
		"old", "young", "new", "good", "bad", "great", "nice", "fine", "big", "large", "small", "little", "long", "short", "high", // quality
		"low", "fast", "quick", "quickly", "slow", "easy", "easily", "cheap", "cheaper", "expensive", "free", "full", "extra",
		"first", "last", "next", "least", "different", "special", "certain", "right", "wrong", "true",
		"person", "guy", "team", "staff", "shop", "store", "company", "business", "place", "way", "part", "bit", "lot", "type", // vague nouns
		"come", "coming", "use", "used", "using", "include", "included", "including", "bring", "keep", "start", // vague verbs
		"around", "near", "nearby", "away", "back", "without", "within", // relations
		"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "half", "couple":
		return light
	case "house", "home", "building", "town", "city", "street", "country", "area", "world", "life", "name", "number", "man", "woman", "friend":
		return general
	default:
		return specific
	}
}
