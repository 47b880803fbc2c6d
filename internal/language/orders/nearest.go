package orders

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"multis/internal/language/lexicon"
	"multis/internal/language/phrase"
	"multis/internal/text"
)

const (
	// maxBeside is how many words beside an order a line may have that is still near to all of it.
	maxBeside = 4
	// minCorrected is the minimum length of a word that is corrected, in characters.
	minCorrected = 5
	// maxCorrected is how many words of a line are corrected, one at a time.
	maxCorrected = 3
)

// Nearest returns the order that is nearest to a line in which Find finds none. isWhole is true if the line has all that the order
// needs, beside words that do not belong to it or with a word misspelled.
func Nearest(typed string, isChat func(name string) bool) (found Order, isWhole, ok bool) {
	s := newSlots(typed, isChat)
	if len(s.line.Tokens) == 0 || len(s.line.Tokens) > maxLine {
		return Order{}, false, false
	}
	l := s.readWish()
	if len(l.chats) > 1 {
		l.chats = nil
	}
	if found, ok := s.findCorrected(l); ok {
		return found, true, true
	}
	best := fit{}
	for _, w := range parsedWishes() {
		f := w.fit(l)
		if strings.HasPrefix(w.order, "messages") && len(l.chats) == 0 {
			continue // nobody's messages
		}
		if f.isDenied || f.telling == 0 || (w.isOpen && f.missing > 0) || ok && !f.isNearer(best) {
			continue
		}
		found = l.order(w)
		best = f
		ok = true
	}
	found.IsAsked = isAsked(typed, s.line)
	return found, ok && best.isWhole(maxBeside) && best.beside <= best.explains, ok
}

// isNearer reports whether a line is nearer to one wish than to another.
func (f fit) isNearer(than fit) bool {
	if f.missing != than.missing {
		return f.missing < than.missing
	}
	return f.beside < than.beside
}

// findCorrected finds the order of a line in which one word is misspelled.
func (s slots) findCorrected(l wishLine) (Order, bool) {
	tokens := s.line.Tokens
	tried := 0
	for i, t := range tokens {
		if len(l.classes[i]) > 0 || t.IsPolite || utf8.RuneCountInString(t.Word) < minCorrected || tried == maxCorrected {
			continue
		}
		word := correct(t.Word)
		if word == "" {
			continue
		}
		tried++
		corrected := word
		if i > 0 {
			corrected = s.line.Text(0, i) + " " + word
		}
		if i+1 < len(tokens) {
			corrected += " " + s.line.Text(i+1, len(tokens))
		}
		if found, ok := find(corrected, s.isChat); ok {
			found.Slots[SlotLine] = corrected
			return found, true
		}
	}
	return Order{}, false
}

// correct returns the word of the orders that another one may be a misspelling of; empty if it is one itself or there is none.
func correct(word string) string {
	first, _ := utf8.DecodeRuneInString(word)
	found := ""
	for _, known := range vocabulary()[first] {
		if known == word {
			return ""
		}
		isNear := max(len(word), len(known))-min(len(word), len(known)) <= utf8.UTFMax
		if found == "" && isNear && text.EditDistance(word, known) == 1 {
			found = known
		}
	}
	return found
}

// vocabulary are the words with which phrases begin, and those of wishes, by their first letter.
var vocabulary = sync.OnceValue(func() map[rune][]string {
	all := map[rune][]string{}
	add := func(word string) {
		if utf8.RuneCountInString(word) >= minCorrected {
			first, _ := utf8.DecodeRuneInString(word)
			all[first] = append(all[first], word)
		}
	}
	for word := range read().byWord {
		add(word)
	}
	for _, words := range wishWords() {
		for _, w := range words {
			if len(w.words) == 1 {
				add(w.words[0])
			}
		}
	}
	for first, words := range all {
		slices.Sort(words)
		all[first] = slices.Compact(words)
	}
	return all
})

// clauses splits a line where a sentence or a part of one ends.
func clauses(typed string) []string {
	var parts []string
	from := 0
	for i, r := range typed {
		end := i + utf8.RuneLen(r)
		isEnd := strings.ContainsRune(",;!?.:", r) && (end == len(typed) || typed[end] == ' ') || r == '\n' || r == '–' || r == '—'
		if isEnd && strings.TrimSpace(typed[from:i]) != "" {
			parts = append(parts, strings.TrimSpace(typed[from:i]))
			from = end
		}
	}
	if rest := strings.TrimSpace(typed[from:]); rest != "" {
		parts = append(parts, rest)
	}
	return parts
}

// findInClause finds an order in one clause of a line, such as "stop answering, I am at a funeral". The order takes no text, and the
// other clauses tell of no words of others, name no condition, and take nothing back.
func findInClause(typed string, isChat func(name string) bool) (Order, bool) {
	parts := clauses(typed)
	if len(parts) < 2 {
		return Order{}, false
	}
	for i, part := range parts {
		found, ok := find(part, isChat)
		if !ok || slices.ContainsFunc([]string{SlotText, SlotRest, SlotLast, SlotTimed, SlotFile, SlotLine}, found.has) {
			continue
		}
		isAlone := true
		for j, other := range parts {
			if i == j {
				continue
			}
			l := newSlots(other, isChat).readWish()
			isDenial := j > i && indexOf(l.classes, classNot) >= 0 && indexOf(l.classes, classMessage) < 0 // "no more messages" is none
			isAlone = isAlone && !isDenial && indexOf(l.classes, classSaid) < 0 && indexOf(l.classes, classIf) < 0
		}
		if isAlone {
			found.IsClause = true
			return found, true
		}
	}
	return Order{}, false
}

// withoutRepeatedWords returns a line in which a word that stands several times in a row stands once: "para para todo".
func withoutRepeatedWords(typed string) string {
	return strings.Join(slices.CompactFunc(strings.Fields(typed), func(a, b string) bool {
		return slices.Equal(phrase.Words(a), phrase.Words(b))
	}), " ")
}

// NamedChat returns the name of the one chat that a line names; empty if it names none, or several.
func NamedChat(typed string, isChat func(name string) bool) string {
	chats := newSlots(typed, isChat).readWish().chats
	if len(chats) != 1 {
		return ""
	}
	return chats[0]
}

// WithoutOldTime returns a line without the time that another one replaces: "at 4 instead of 3" without "instead of 3".
func WithoutOldTime(typed string) string {
	s := newSlots(typed, func(string) bool { return false })
	l := s.readWish()
	if at := indexOf(l.classes, classInstead); at > 0 {
		return s.line.Text(0, at)
	}
	return typed
}

// Concepts returns the names of all orders.
func Concepts() []string {
	var all []string
	for _, row := range lexicon.Rows("en", topic) {
		if !slices.Contains([]string{politeRow, timeRow, nameRow}, row.Concept) {
			all = append(all, row.Concept)
		}
	}
	for _, w := range wishes {
		all = append(all, w.order)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
