package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/language/lexicon"
)

// Asked is what a contact asks, with what was said before it.
type Asked struct {
	Text   string
	Before []string // earlier messages of the contact, the oldest first
}

// askedWord is a word that a question is about.
type askedWord struct {
	text      string
	forms     []string // the word, and how it is spelled with its neighbours joined
	concepts  []string
	kinds     []string // what a number counts
	day       int      // from Sunday; -1 for none
	month     int      // from January; -1 for none
	isLight   bool     // of little weight
	isWithout bool     // "without" stands before it
	isImplied bool     // the question does not say it, but asks for it
	isJoined  bool     // "and" joins it to a word before it
}

// withImplied returns the words of a question. One that only asks where asks for the address, and one that only asks when
// asks for the opening hours: "when can I come by".
func withImplied(q parsedQuestion) []askedWord {
	implied := map[valueType]string{asksPlace: "address", asksTime: "open"}[askedValueType(q.typed)]
	isVisit := slices.ContainsFunc(q.typed, func(w string) bool { return slices.Contains(lexicon.Words("side", "visit"), w) })
	if implied == "open" && !isVisit {
		return q.words // "when are those?"
	}
	if implied == "" || slices.ContainsFunc(q.words, func(w askedWord) bool { return !w.isLight && w.day < 0 && w.month < 0 }) {
		return q.words
	}
	word := askedWord{
		text:      implied,
		forms:     []string{implied},
		concepts:  []string{implied},
		day:       -1,
		month:     -1,
		isImplied: true,
	}
	return append(q.words, word)
}

// minorConcepts are those that only describe what a question is about: documents that do not have them may answer it.
var minorConcepts = []string{ //nolint:gochecknoglobals // a constant
	"big", "small", "high", "low", "early", "late", "whole", "morning", "afternoon", "evening", "business",
}

// isMinor reports whether a word that no document has says little: it only describes something, or is an abbreviation of
// chats.
func (w askedWord) isMinor() bool {
	isShort := utf8.RuneCountInString(w.text) <= 2
	isMajor := slices.ContainsFunc(w.concepts, func(c string) bool { return !slices.Contains(minorConcepts, c) })
	return isShort || len(w.concepts) > 0 && !isMajor
}

// parsedQuestion is a question as far as it is compared with documents.
type parsedQuestion struct {
	words []askedWord // what an answer must have
	about []askedWord // what it should have: the rest of a long message, or the question before
	typed []string    // the words that ask for a type of value
}

// sentenceBreak matches the end of a sentence of a message. The full stop of "the 2. time" ends none.
var sentenceBreak = regexp.MustCompile(`(?:[^\d\s.]\.+|[!?؟]+)\s+|\n+`)

// clauseBreak matches the end of a part of a sentence.
var clauseBreak = regexp.MustCompile(`[.!?؟,;:]+\s+|\n+|\s[-–]+\s`)

// maxPlainWords is how many words a message has at most that is taken as a question as a whole.
const maxPlainWords = 14

// parseAsked reads a question.
// spoken are the languages of the documents, which decide where a question may be in several.
func parseAsked(text string, before []string, spoken []dictionary) parsedQuestion {
	r := newReader(dictionariesAmong(tokens(text), spoken))
	asking, rest := askingPart(r, text)
	p := parsedQuestion{words: contentWords(r, asking), typed: Words(asking)}
	p.about = contentWords(r, rest)
	for _, earlier := range before {
		p.about = append(p.about, contentWords(newReader(dictionariesAmong(tokens(earlier), spoken)), earlier)...)
	}
	p.about = slices.DeleteFunc(p.about, func(w askedWord) bool {
		return slices.ContainsFunc(p.words, w.isReplacedBy)
	})
	return p
}

// isReplacedBy reports whether a later word names another day, month or number: "on Tuesday" and then "and on Thursday".
func (w askedWord) isReplacedBy(later askedWord) bool {
	return w.day >= 0 && later.day >= 0 || w.month >= 0 && later.month >= 0 ||
		isNumber(w.text) && isNumber(later.text) && slices.Equal(w.kinds, later.kinds)
}

// askingPart splits a message into the part that asks, and the rest.
func askingPart(r *reader, text string) (asking, rest string) {
	parts := splitAfter(text, sentenceBreak)
	var marked, others []string
	for _, part := range parts {
		if strings.ContainsAny(part, "?؟") || askedValueType(Words(part)) != asksNoValue {
			marked = append(marked, part)
		} else {
			others = append(others, part)
		}
	}
	if len(marked) > 0 && len(others) > 0 {
		asking, rest = strings.Join(marked, " "), strings.Join(others, " ")
	} else {
		asking = text
	}
	if len(tokens(asking)) <= maxPlainWords {
		return asking, rest
	}
	clauses := splitAfter(asking, clauseBreak)
	for i, clause := range slices.Backward(clauses) {
		words := Words(clause)
		if len(contentWords(r, clause)) > 0 && (askedValueType(words) != asksNoValue || strings.ContainsAny(clause, "?؟")) {
			return clause, rest + " " + strings.Join(clauses[:i], " ") + " " + strings.Join(clauses[i+1:], " ")
		}
	}
	return asking, rest
}

// isOpenQuestion reports whether a part of a message begins as a question that yes or no does not answer: "what", "how".
func isOpenQuestion(text string) bool {
	greetings := lexicon.Words("common", "greetings")
	return slices.ContainsFunc(splitAfter(text, clauseBreak), func(clause string) bool {
		words := tokens(clause)
		for len(words) > 1 && slices.Contains(greetings, words[0].text) {
			words = words[1:]
		}
		return len(words) > 0 && slices.Contains(lexicon.Words("asked", "open"), words[0].text)
	})
}

// splitAfter splits a text after each match.
func splitAfter(text string, at *regexp.Regexp) (parts []string) {
	from := 0
	for _, m := range at.FindAllStringIndex(text, -1) {
		parts, from = append(parts, text[from:m[1]]), m[1]
	}
	if strings.TrimSpace(text[from:]) != "" {
		parts = append(parts, text[from:])
	}
	return parts
}

// mayMonth is the month of May, which in English is also a verb.
const mayMonth = 4

// datePrepositions are the English words before the name of a month.
var datePrepositions = []string{"in", "of", "from", "to", "till", "until", "and", "early", "late", "mid", "or"} //nolint:gochecknoglobals // a constant

// lightConcepts are what a question asks for rather than what it is about.
var lightConcepts = []string{ //nolint:gochecknoglobals // a constant
	"price", "age", "weight", "pay", "possible", "help", "minimum", "maximum", "include", "free", "limit", "not", "name",
}

func isNoLightConcept(c string) bool { return !slices.Contains(lightConcepts, c) }

// contentWords returns the words of a text that are not side words.
func contentWords(r *reader, text string) (list []askedWord) {
	all := tokens(text)
	for i, t := range all {
		w := askedWord{text: t.text, forms: []string{t.text}, day: r.day(t.text), month: r.month(t.text)}
		if r.isSide(t.text) && w.day < 0 && w.month < 0 && !isNumber(t.text) {
			continue
		}
		if slices.ContainsFunc(list, func(o askedWord) bool { return o.text == w.text }) {
			continue
		}
		if w.day < 0 && w.month < 0 && !isNumber(t.text) && len(r.conceptsOf(t.text)) == 0 && classifyWord(t.text) == filler {
			continue
		}
		w.concepts = slices.DeleteFunc(slices.Clone(r.conceptsOf(t.text)), func(c string) bool { return strings.HasPrefix(c, "unit.") })
		if w.month == mayMonth && t.text == "may" && (i == 0 || !slices.Contains(datePrepositions, all[i-1].text)) {
			continue // a verb
		}
		if len(w.concepts) == 1 && (w.concepts[0] == "limit" || w.concepts[0] == "not") {
			continue
		}
		w.isWithout = isAfterWithout(r, all, i)
		w.isJoined = len(list) > 0 && isAfterAnd(r, all, i)
		isUnit := len(w.concepts) == 0 && len(r.conceptsOf(t.text)) > 0
		w.isLight = isUnit || len(w.concepts) > 0 && !slices.ContainsFunc(w.concepts, isNoLightConcept)
		if isNumber(t.text) {
			if w.kinds = unitOf(r, all, i); len(w.kinds) == 0 {
				w.kinds = []string{"unit.year"}
			}
		}
		if i > 0 {
			w.forms = append(w.forms, all[i-1].text+t.text)
		}
		if i+1 < len(all) {
			w.forms = append(w.forms, t.text+all[i+1].text)
		}
		list = append(list, w)
	}
	return list
}

// isAfterAnd reports whether "and" or "or" stands before a word, or before the article in front of it.
func isAfterAnd(r *reader, all []token, at int) bool {
	if at > 1 && r.isSide(all[at-1].text) && slices.Contains(listWords, all[at-2].text) {
		return true
	}
	return at > 0 && slices.Contains(listWords, all[at-1].text)
}

// Continues reports whether a message begins with words that continue the one before it.
func Continues(text string) bool {
	var words []string
	for _, t := range tokens(text) {
		words = append(words, t.text)
	}
	said := strings.Join(words, " ") + " "
	return slices.ContainsFunc(lexicon.Words("side", "continue"), func(start string) bool { return strings.HasPrefix(said, start+" ") })
}

// joiningWord matches a word that may join two questions, with what stands around it.
var joiningWord = regexp.MustCompile(`(?i),?\s+(?:and|und|et|y|e|en|och|oraz|ve|sowie|plus)\s+|,\s+`)

// SplitJoined splits a text where a word joins two questions: both parts have words that they are about, and the second
// one asks again.
func SplitJoined(text string) []string {
	r := newReader(dictionariesOf(tokens(text)))
	for _, m := range joiningWord.FindAllStringIndex(text, -1) {
		first, second := text[:m[0]], text[m[1]:]
		next := tokens(second)
		if len(next) < 2 || !r.isSide(next[0].text) || len(contentWords(r, first)) == 0 {
			continue
		}
		asksValue := askedValueType(Words(second)) != asksNoValue
		if !asksValue && len(contentWords(r, second)) == 0 {
			continue
		}
		if isVerbal := asksValue || len(next) > 2 && r.isSide(next[1].text); isVerbal {
			return append([]string{first}, SplitJoined(second)...)
		}
	}
	return []string{text}
}

// isFollowUp reports whether a question may need the one before it.
func (a Asked) isFollowUp() bool {
	return len(a.Before) > 0 && MayContinue(a.Text)
}

// MayContinue reports whether a question may need the one before it: it begins like a follow-up, or is short.
func MayContinue(text string) bool { return Continues(text) || len(tokens(text)) < minWhole }
