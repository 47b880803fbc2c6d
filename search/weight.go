package search

import "math"

// A question's words do not all tell what it is about. Whether a passage answers a question is judged by the words that
// do; the ranking itself uses all of them.
type weight int

const (
	specific weight = iota // what the question is about
	light                  // adds something, but never supports an answer alone: "today", "small", "person"
	filler                 // how people ask: "please", "could", "sell", "price"
)

// lightShare is what a light word counts beside a specific one.
const lightShare = 0.5

// unknownFactor makes a specific word that stands nowhere heavier than any that does: a question about bicycles is not
// answered by a line that says "sell".
const unknownFactor = 2

// smallCorpus is the least number of passages that a word's rarity is judged against when a question's support is
// weighed. In a corpus of one or two passages every word would look common.
const smallCorpus = 50

// support is what the term counts when it is asked whether a passage answers the question. chunks is the size of the
// corpus.
func (t Term) support(chunks int64) float64 {
	rarity := idf(max(t.Chunks, 1), max(chunks, smallCorpus))
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

// idf is how much a word tells that stands in df of n passages.
func idf(df, n int64) float64 {
	df = min(max(df, 1), max(n, 1))
	return math.Log(1 + (float64(max(n, 1))-float64(df)+0.5)/(float64(df)+0.5))
}

// weightOf sorts a word as Words gives it.
func weightOf(word string) weight { //nolint:gocyclo // a table
	switch word {
	case "would", "could", "should", "may", "might", "must", "shall", "cannot", "gonna", "wanna", "let", "lets", // modal
		"isn", "aren", "wasn", "weren", "doesn", "didn", "won", "wouldn", "couldn", "shouldn", "hasn", "haven", "hadn", "ain",
		"ll", "re", "ve", "im", "ive", "dont", "cant",
		"please", "pls", "plz", "thank", "thanks", "thx", "ty", "hello", "hi", "hey", "hiya", "dear", "sorry", "excuse", "pardon", // polite
		"welcome", "cheers", "regards", "ok", "okay", "yes", "yeah", "yep", "nope", "sure",
		"tell", "say", "know", "wonder", "wondering", "ask", "asking", "question", "questions", "answer", "give", "show", "explain", // asking
		"inform", "information", "info", "detail", "details", "curious", "interested", "interesting", "look", "looking", "find",
		"see", "hear", "possible", "possibly", "able", "help",
		"want", "wanted", "need", "needed", "wish", "like", "hope", "try", "trying", "get", "getting", "take", "takes", "taking", // any verb
		"make", "makes", "making", "go", "goes", "going", "put", "work", "works", "exist", "happen", "happens",
		"sell", "sells", "selling", "offer", "offers", "offered", "offering", "provide", "provides", "provided", "carry", "stock", // trade
		"stocked", "available", "availability", "buy", "buying", "purchase", "serve", "serves", "served",
		"price", "prices", "priced", "pricing", "cost", "costs", "charge", "charges", "charged", "fee", "fees", // answered by an amount
		"much", "many", "often", "soon", "else", "exactly", "actually", "really", "currently", "still", "already", "also", "maybe", // adverbs
		"perhaps", "usually", "generally", "normally", "approximately", "roughly", "anyway", "even", "ever", "yet", "instead",
		"kind", "kinds", "sort", "sorts", "thing", "things", "something", "anything", "everything", "nothing", "someone", "anyone", // any noun
		"everyone", "somebody", "anybody", "nobody", "stuff", "whether", "per", "etc", "us":
		return filler
	case "time", "times", "day", "days", "today", "tomorrow", "yesterday", "tonight", "week", "weeks", "month", "months", "year", "years", // time
		"hour", "hours", "minute", "minutes", "moment", "second", "seconds", "date", "morning", "afternoon", "evening", "night", "now",
		"old", "young", "new", "good", "bad", "great", "nice", "fine", "big", "large", "small", "little", "long", "short", "high", "low", // quality
		"early", "late", "fast", "quick", "quickly", "slow", "easy", "easily", "cheap", "cheaper", "expensive", "free", "full", "extra",
		"first", "last", "next", "least", "different", "special", "certain", "right", "wrong", "true",
		"person", "persons", "man", "woman", "guy", "guys", "friend", "friends", "team", "staff", // people
		"shop", "store", "company", "business", "place", "places", "name", "number", "way", "ways", "part", "bit", "lot", "type", "types", // things
		"come", "comes", "coming", "use", "uses", "used", "using", "include", "includes", "included", "including", "bring", "keep", "start",
		"around", "near", "nearby", "away", "back", "without", "within", "one", "two", "three", "four", "five", "six", "seven", "eight",
		"nine", "ten", "half", "couple":
		return light
	default:
		return specific
	}
}
