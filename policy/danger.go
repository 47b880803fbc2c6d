package policy

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"multis/internal/language/lexicon"
)

// dangerWords are the words of one language by which somebody says that there is danger or pain now.
type dangerWords struct {
	danger []wordBag // that mean danger by themselves
	pain   []wordBag // that mean pain if somebody has it
	own    []wordBag // who has pain
	asks   []wordBag // that begin a question
	calm   []wordBag // of what is not now, or only asked
}

// wordBag is a list of words that stand together in a clause, in any order. A word that ends in * has any ending.
type wordBag []string

var readDanger = sync.OnceValue(func() (all []dangerWords) { //nolint:gochecknoglobals // read once, from the lexicon
	for _, language := range lexicon.Languages("danger") {
		all = append(all, dangerWords{
			danger: wordBags(language, "danger"),
			pain:   wordBags(language, "pain"),
			own:    wordBags(language, "own"),
			asks:   wordBags(language, "asks"),
			calm:   wordBags(language, "calm"),
		})
	}
	return all
})

// wordBags reads a concept of the topic danger.
func wordBags(language, concept string) (bags []wordBag) {
	for _, phrase := range lexicon.In(language, "danger", concept) {
		var bag wordBag
		for word := range strings.FieldsSeq(phrase) {
			folded := strings.Join(foldedWords(word), "")
			if strings.HasSuffix(word, "*") {
				folded += "*"
			}
			bag = append(bag, folded)
		}
		bags = append(bags, bag)
	}
	return bags
}

// IsDanger reports whether a message says that somebody is in danger or in pain now: "es riecht nach Gas", "my tooth
// hurts". A person must see it at once, and no document answers it. Questions about pain and danger that is over do not count.
func IsDanger(message string) bool {
	clauses := sentences(message)
	return slices.ContainsFunc(readDanger(), func(w dangerWords) bool { return slices.ContainsFunc(clauses, w.saidIn) })
}

// sentences splits a message into the words of its sentences, without the questions.
func sentences(message string) (list [][]string) {
	for message != "" {
		end := strings.IndexAny(message, ".,;!\n…。！"+QuestionMarks)
		if end < 0 {
			end = len(message)
		}
		_, size := utf8.DecodeRuneInString(message[end:])
		isQuestion := strings.ContainsAny(message[end:end+size], QuestionMarks)
		if words := foldedWords(message[:end]); len(words) > 0 && !isQuestion {
			list = append(list, words)
		}
		message = message[end+size:]
	}
	return list
}

// saidIn reports whether a sentence says that there is danger or pain now.
func (w dangerWords) saidIn(words []string) bool {
	has := func(bag wordBag) bool { return bag.in(words) }
	first := func(bag wordBag) bool { return bag.in(words[:1]) }
	if slices.ContainsFunc(w.asks, first) || slices.ContainsFunc(w.calm, has) {
		return false
	}
	return slices.ContainsFunc(w.danger, has) || slices.ContainsFunc(w.pain, has) && slices.ContainsFunc(w.own, has)
}

// in reports whether all words of the bag are among words.
func (b wordBag) in(words []string) bool {
	for _, want := range b {
		stem, isStem := strings.CutSuffix(want, "*")
		if !slices.ContainsFunc(words, func(word string) bool { return word == stem || isStem && strings.HasPrefix(word, stem) }) {
			return false
		}
	}
	return true
}
