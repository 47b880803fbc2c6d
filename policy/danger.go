package policy

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"multis/internal/language/lexicon"
)

// dangerWords are the phrases of one language by which somebody says that there is danger or pain now.
type dangerWords struct {
	danger []phrase // that mean danger by themselves
	signs  []sign   // that mean danger together
	pain   []phrase // that mean pain if somebody has it
	own    []phrase // who has pain
	asks   []phrase // that begin a question
	calm   []phrase // of what is over or not so
	wants  []phrase // of wishes, which tell of pain only why
}

// sign is something and what happens to it, in any order: a body part and a harm, the brakes and how they fail.
type sign struct{ of, what []phrase }

// signConcepts are the concepts of signs in the topic danger.
var signConcepts = [][2]string{ //nolint:gochecknoglobals // a constant
	{"body", "harm"}, {"air", "hard"}, {"ate", "toxin"}, {"machine", "fails"},
}

// phrase is a list of words that stand in a sentence in their order. A word that ends in * has any ending.
type phrase []string

// maxBetween is how many other words may stand between two words of a phrase.
const maxBetween = 2

var readDanger = sync.OnceValue(func() (all []dangerWords) { //nolint:gochecknoglobals // read once, from the lexicon
	for _, language := range lexicon.Languages("danger") {
		var signs []sign
		for _, concepts := range signConcepts {
			signs = append(signs, sign{dangerPhrases(language, concepts[0]), dangerPhrases(language, concepts[1])})
		}
		all = append(all, dangerWords{
			danger: dangerPhrases(language, "danger"),
			signs:  signs,
			pain:   dangerPhrases(language, "pain"),
			own:    dangerPhrases(language, "own"),
			asks:   dangerPhrases(language, "asks"),
			calm:   dangerPhrases(language, "calm"),
			wants:  dangerPhrases(language, "wants"),
		})
	}
	return all
})

// dangerPhrases reads a concept of the topic danger.
func dangerPhrases(language, concept string) (list []phrase) {
	for _, words := range lexicon.In(language, "danger", concept) {
		var p phrase
		for word := range strings.FieldsSeq(words) {
			folded := strings.Join(foldedWords(word), "")
			if strings.HasSuffix(word, "*") {
				folded += "*"
			}
			p = append(p, folded)
		}
		list = append(list, p)
	}
	return list
}

// IsDanger reports whether a message says that somebody is in danger or in pain now: "es riecht nach Gas", "my tooth
// hurts". A person must see it at once, and no document answers it. Questions about pain and danger that is over do not count.
func IsDanger(message string) bool {
	list := sentences(message)
	return slices.ContainsFunc(readDanger(), func(w dangerWords) bool { return slices.ContainsFunc(list, w.saidIn) })
}

// sentence is a part of a message between marks.
type sentence struct {
	words      []string
	isQuestion bool // a question mark ends it
}

// sentenceMarks end a sentence or a part of it; QuestionMarks do, too.
const sentenceMarks = ".,;:!\n…–—。！،؛"

// sentences splits a message at the marks that end a sentence or a part of it. It looks at no more than maxIntentRunes.
func sentences(message string) (list []sentence) {
	if runes := []rune(message); len(runes) > maxIntentRunes {
		message = string(runes[:maxIntentRunes])
	}
	for message != "" {
		end := strings.IndexAny(message, sentenceMarks+QuestionMarks)
		if end < 0 {
			end = len(message)
		}
		_, size := utf8.DecodeRuneInString(message[end:])
		isQuestion := strings.ContainsAny(message[end:end+size], QuestionMarks)
		if words := foldedWords(message[:end]); len(words) > 0 {
			list = append(list, sentence{words, isQuestion})
		}
		message = message[end+size:]
	}
	return list
}

// saidIn reports whether a sentence says that there is danger or pain now.
func (w dangerWords) saidIn(s sentence) bool {
	has := func(p phrase) bool { return p.in(s.words) }
	begins := func(p phrase) bool { return p.in(s.words[:1]) }
	if slices.ContainsFunc(w.asks, begins) || slices.ContainsFunc(w.calm, has) {
		return false
	}
	isSaid := func(x sign) bool { return slices.ContainsFunc(x.of, has) && slices.ContainsFunc(x.what, has) }
	if slices.ContainsFunc(w.danger, has) || slices.ContainsFunc(w.signs, isSaid) {
		return true
	}
	hasPain := slices.ContainsFunc(w.pain, has) && slices.ContainsFunc(w.own, has)
	return hasPain && !s.isQuestion && !slices.ContainsFunc(w.wants, has)
}

// in reports whether words have the phrase.
func (p phrase) in(words []string) bool {
	for i := range words {
		if p.at(words[i:]) {
			return true
		}
	}
	return false
}

// at reports whether words begin with the phrase.
func (p phrase) at(words []string) bool {
	for i, want := range p {
		stem, isStem := strings.CutSuffix(want, "*")
		matches := func(word string) bool { return word == stem || isStem && strings.HasPrefix(word, stem) }
		reach := 1
		if i > 0 {
			reach += maxBetween
		}
		at := slices.IndexFunc(words[:min(reach, len(words))], matches)
		if at < 0 {
			return false
		}
		words = words[at+1:]
	}
	return true
}
