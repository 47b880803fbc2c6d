// Package orders finds what a line in plain words orders, such as "stop answering Ana" or "was habe ich verpasst?". The
// phrases are in the topic "orders" of the lexicon, a row for each order.
package orders

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"multis/internal/language/lexicon"
	"multis/internal/language/phrase"
)

// The slots of the phrases. Every other slot takes any text.
const (
	SlotChat   = "chat"   // the name of a chat
	SlotNumber = "n"      // a number, also as a word
	SlotFile   = "file"   // the name of a file or a page
	SlotTimed  = "timed"  // a text that says when
	SlotWhen   = "when"   // a time
	SlotText   = "text"   // any text
	SlotRest   = "rest"   // the text after another one
	SlotLast   = "last"   // the text of a phrase that is tried after all others
	SlotLine   = "line"   // the whole line
	topic      = "orders" // of the lexicon
	politeRow  = "polite" // words that change nothing
	timeRow    = "time"   // words that say when
	nameRow    = "name"   // words that may stand before a name, such as "Mrs"
	maxLine    = 60       // words; a longer line is no order
	// orderForget takes a text, which may be the name of a chat.
	orderForget = "forget"
)

// Order is what a line orders.
type Order struct {
	Concept string            // the row of the lexicon, such as "pause.chat"
	Slots   map[string]string // as typed; numbers in digits
	IsAsked bool              // it ends with a question mark and is not politely asked for
	// IsClause says that only a clause of the line orders it.
	IsClause bool
}

// has reports whether an order has a slot.
func (o Order) has(slot string) bool {
	_, has := o.Slots[slot]
	return has
}

// entry is a phrase of a concept.
type entry struct {
	concept string
	phrase  phrase.Phrase
	rank    int
	needed  map[string]bool // words of which a line has one at least; empty for none
}

// index finds the phrases by the word that a line begins with.
type index struct {
	byWord map[string][]entry
	open   []entry // those that can begin with any word
	polite [][]string
	times  map[string]bool
	names  map[string]bool
}

// read reads the lexicon on the first call. An error is a mistake in the program; a test reads it, too.
var read = sync.OnceValue(func() *index {
	all, err := load()
	if err != nil {
		panic(err)
	}
	return &all
})

// load compiles the phrases of all languages.
func load() (index, error) {
	all := index{byWord: map[string][]entry{}, times: map[string]bool{}, names: map[string]bool{}}
	for _, language := range lexicon.Languages(topic) {
		for _, row := range lexicon.Rows(language, topic) {
			if err := all.add(row); err != nil {
				return index{}, fmt.Errorf("language %s: %w", language, err)
			}
		}
	}
	for word := range all.byWord {
		slices.SortStableFunc(all.byWord[word], byRank)
	}
	slices.SortStableFunc(all.open, byRank)
	return all, nil
}

func byRank(a, b entry) int { return cmp.Compare(a.rank, b.rank) }

// add adds a row of the lexicon.
func (x *index) add(row lexicon.Row) error {
	for _, words := range row.Words() {
		switch row.Concept {
		case politeRow:
			x.polite = append(x.polite, phrase.Words(words))
			continue
		case timeRow:
			for _, word := range phrase.Words(words) {
				x.times[word] = true
			}
			continue
		case nameRow:
			for _, word := range phrase.Words(words) {
				x.names[word] = true
			}
			continue
		}
		p, err := phrase.Parse(words)
		if err != nil {
			return fmt.Errorf("%s: %w", row.Concept, err)
		}
		e := entry{
			concept: row.Concept,
			phrase:  p,
			rank:    rankOf(words),
			needed:  map[string]bool{},
		}
		for _, word := range p.NeededWords() {
			e.needed[word] = true
		}
		first := p.FirstWords()
		if first == nil {
			x.open = append(x.open, e)
		}
		for _, word := range slices.Compact(slices.Sorted(slices.Values(first))) {
			x.byWord[word] = append(x.byWord[word], e)
		}
	}
	return nil
}

// rankOf ranks a phrase: those with less open text are tried first.
func rankOf(words string) int {
	rank := strings.Count(words, "...") + 2*strings.Count(words, "{"+SlotTimed+"}")
	for _, slot := range []string{SlotText, SlotRest} {
		rank += 10 * strings.Count(words, "{"+slot+"}")
	}
	if strings.Contains(words, "{"+SlotLast+"}") {
		rank += 100
	}
	return rank
}

// Find returns what a line orders. isChat reports whether a text is the name of a chat.
func Find(typed string, isChat func(name string) bool) (Order, bool) {
	line := phrase.Read(typed, read().polite)
	if len(line.Tokens) > maxLine {
		return Order{}, false // and none of its clauses is one
	}
	found, ok := find(typed, isChat)
	if once := withoutRepeatedWords(typed); !ok && once != typed {
		found, ok = find(once, isChat)
	}
	if !ok {
		found, ok = findInClause(typed, isChat)
	}
	if ok {
		found.IsAsked = isAsked(typed, line)
	}
	return found, ok
}

// quoteMarks may stand around a text that is sent. The one before it is no part of the first word.
const quoteMarks = `"“”„«» `

// isAsked reports whether a line ends with a question mark, and does not begin with words such as "can you".
func isAsked(typed string, line phrase.Line) bool {
	return strings.HasSuffix(strings.TrimSpace(typed), "?") && (len(line.Tokens) == 0 || !line.Tokens[0].IsPolite)
}

// newSlots reads a line.
func newSlots(typed string, isChat func(name string) bool) slots {
	return slots{
		index:  read(),
		line:   phrase.Read(typed, read().polite),
		isChat: isChat,
		chats:  map[[2]int]bool{},
	}
}

// find returns what a line orders by a phrase or by the classes of its words.
func find(typed string, isChat func(name string) bool) (Order, bool) {
	s := newSlots(typed, isChat)
	all := s.index
	line := s.line
	if len(line.Tokens) == 0 || len(line.Tokens) > maxLine {
		return Order{}, false
	}
	m := phrase.Match{Line: line, Accept: s.accepts}
	var entries []entry
	for _, e := range all.open {
		if len(e.needed) == 0 || slices.ContainsFunc(line.Tokens, func(t phrase.Token) bool { return e.needed[t.Word] }) {
			entries = append(entries, e)
		}
	}
	for _, t := range line.Tokens {
		entries = append(entries, all.byWord[t.Word]...)
		if !t.IsPolite {
			break
		}
	}
	slices.SortStableFunc(entries, byRank)
	found := Order{}
	bestRank := 0
	open := 0
	for _, e := range entries {
		if found.Concept != "" && e.rank > bestRank {
			break
		}
		if !m.Phrase(e.phrase) {
			continue
		}
		if size := len(m.Slots[SlotText]) + len(m.Slots[SlotRest]); found.Concept == "" || size < open {
			found = Order{Concept: e.concept, Slots: m.Slots}
			bestRank = e.rank
			open = size
			if said, has := m.ToEnd[SlotText]; has && strings.HasPrefix(e.concept, "send") {
				found.Slots[SlotText] = strings.TrimRight(said, quoteMarks) // with the words at its end that an order does not need
			}
		}
	}
	switch {
	case found.Concept == "":
		found, _ = s.findWish()
	case bestRank > 0 && (len(found.Slots) == 0 || found.Concept == orderForget):
		found = s.wishOfChat(found)
	}
	if n, has := found.Slots[SlotNumber]; has {
		found.Slots[SlotNumber] = digits(n)
	}
	return found, found.Concept != ""
}

// BareName returns a name without the words that may stand before it, such as "Mrs" or "the group"; empty if it has no others.
func BareName(name string) string {
	fields := strings.Fields(name)
	for len(fields) > 0 {
		words := phrase.Words(fields[0])
		if slices.ContainsFunc(words, func(word string) bool { return !read().names[word] }) {
			break
		}
		fields = fields[1:]
	}
	return strings.Join(fields, " ")
}

// MaxName is the maximum number of words in the name of a chat.
const MaxName = 5

// slots decides what can fill the slots of the phrases in one line.
type slots struct {
	index  *index
	line   phrase.Line
	isChat func(name string) bool
	chats  map[[2]int]bool // the answers of isChat, by the tokens of the name
	words  []string        // of the line, without repeated letters, for readWish
}

// accepts reports whether tokens of the line can fill a slot.
func (s slots) accepts(slot string, from, to int) bool {
	words := s.line.Tokens[from:to]
	switch slot {
	case SlotChat:
		return to-from <= MaxName && s.isName(from, to) && (to == len(s.line.Tokens) || !s.isName(from, to+1))
	case SlotNumber:
		return to-from == 1 && digits(s.line.Text(from, to)) != ""
	case SlotFile:
		return to-from == 1 && strings.ContainsAny(strings.Trim(s.line.Text(from, to), ".,;:!? "), "./")
	case SlotTimed:
		return slices.ContainsFunc(words, func(t phrase.Token) bool { return s.index.saysWhen(t.Word) })
	case SlotWhen:
		return s.index.saysWhen(words[0].Word)
	default:
		return true
	}
}

// isName reports whether tokens are the name of a chat. A name is as long as it can be: "Ana" is none before "Ruiz" if there
// is an Ana Ruiz.
func (s slots) isName(from, to int) bool {
	key := [2]int{from, to}
	known, asked := s.chats[key]
	if !asked {
		known = s.isChat(strings.TrimRight(s.line.Text(from, to), ",;:!? "))
		s.chats[key] = known
	}
	return known
}

// saysWhen reports whether a word belongs to a time: it has a digit, or is a word such as "tomorrow".
func (x *index) saysWhen(word string) bool {
	return strings.ContainsAny(word, "0123456789") || x.times[word]
}

// numberWords are the words for the numbers that the phrases use, in all languages.
var numberWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for _, language := range lexicon.Languages(topic) {
		for _, row := range lexicon.Rows(language, "numbers") {
			for _, word := range row.Words() {
				if strings.HasSuffix(word, "?") {
					continue
				}
				for _, folded := range phrase.Words(word) {
					words[folded] = row.Concept
				}
			}
		}
	}
	return words
})

// digits returns a number in digits; empty for what is none.
func digits(text string) string {
	text = strings.TrimPrefix(strings.Trim(text, ".,;:!? "), "#")
	if text != "" && strings.Trim(text, "0123456789") == "" {
		return text
	}
	words := phrase.Words(text)
	if len(words) != 1 {
		return ""
	}
	return numberWords()[words[0]]
}
