package orders

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
	"multis/internal/language/lexicon"
	"multis/internal/language/phrase"
)

// wishTopic is the topic of the lexicon with the words of wishes, in classes.
const wishTopic = "wishes"

// The classes of words that are no row of the lexicon, or that mean nothing of themselves.
const (
	classChat    = "chat"    // the name of a chat
	classWeekday = "weekday" // a day of the week
	classTime    = "time"    // a word of a time, or a number
	classFiller  = "filler"  // changes nothing
	classUntil   = "until"   // a time follows
	classStop    = "stop"    // something ends
	classNot     = "not"     // denies
)

// wish is an order in any words and in any order of words: the classes that its line has, and those that it may have. A
// line with any other word, such as "invoice" in "did Ana send the invoice", is none.
type wish struct {
	order string
	needs string // classes, separated by spaces
	also  string
	// forbids are classes that the line does not have: "I no longer answer Ana" stops nothing.
	forbids string
}

// weakClasses are those of words that a line about anything may have.
var weakClasses = strings.Fields("i you who what can have show lines period time weekday filler")

// wishes are tried from the first to the last.
var wishes = []wish{
	{"why.chat", "why chat", "answered answer wrote message not owe pause talk", ""},
	{"commitments.chat", "promised chat", "last not", ""},
	{"commitments", "promised", "all not", ""},
	{"brief.chat", "summary chat", "message chats wrote talk last all news", ""},
	{"brief.chat", "news chat", "last", ""},
	{"mode.silent", "stop chat", "answer", "i asks"},
	{"resume.chat", "again chat take", "answer talk", ""},
	{"resume.chat", "again chat answer", "talk take", ""},
	{"messages", "chat answered", "not last message noun.answer wait", ""},
	{"messages", "chat wrote", "not last message all", ""},
	{"messages", "chat last", "message chats all", ""},
	{"messages", "chat message", "last chats all", ""},
	{"memory.chat", "know chat", "all not", ""},
	{"pause.all.until", "pause all until", "stop answer", "i asks"},
	{"pause.all.until", "stop all until", "answer", "i asks"},
	{"pause.all", "pause all", "stop answer", "i asks"},
	{"pause.all", "stop all answer", "", "i asks"},
	{"business.hours", "we closed weekday", "open not until", ""},
	{"business.hours", "we open weekday", "closed not until", ""},
	{"escalations", "wait noun.answer", "not answer answered", ""},
	{"escalations", "owe noun.answer", "not answer answered", ""},
	{"escalations", "owe i who", "not", ""},
	{"escalations", "wait i who", "not", ""},
	{"budget", "cost you", "all", ""},
	{"budget", "cost i", "all", ""},
	{"budget", "cost period", "all", ""},
	{"drafts", "drafts", "wait all", ""},
	{"docs", "document have", "all", ""},
	{"docs", "document you", "all know", ""},
	{"docs", "document show", "all", ""},
	{"chats", "chats you", "all talk know", ""},
	{"chats", "talk you who", "all", ""},
	{"jobs", "reminder show", "all", ""},
	{"jobs", "reminder what", "all wait", ""},
	{"jobs", "reminder i have", "all", ""},
	{"forget.chat", "delete chat know", "all message wrote", ""},
	{"forget.chat", "delete chat all", "know message wrote", ""},
	{"index.how", "add document", "audience", "have"},
	{"jobs", "i have period", "", ""},
	{"brief", "miss i", "all not", ""},
	{"brief", "news what", "all last", ""},
	{"undo", "wrong", "last again all not", ""},
	{"help", "what can you", "all", ""},
}

// wishWord is a word or several of a class.
type wishWord struct {
	words  []string
	isStem bool // the last word may have any ending
	class  string
}

// wishWords are the words of all classes in all languages, by the first letter of their first word.
var wishWords = sync.OnceValue(func() map[byte][]wishWord {
	all := map[byte][]wishWord{}
	add := func(class, text string) {
		plain, isStem := strings.CutSuffix(text, "*")
		words := phrase.Words(plain)
		all[words[0][0]] = append(all[words[0][0]], wishWord{words, isStem, class})
	}
	for _, code := range lexicon.Languages(wishTopic) {
		for _, row := range lexicon.Rows(code, wishTopic) {
			for _, word := range row.Words() {
				add(row.Concept, word)
			}
		}
		for _, row := range lexicon.Rows(code, "days") {
			for _, word := range row.Words() {
				add(classWeekday, word+"*")
			}
		}
	}
	return all
})

// wishOfChat returns the wish of a line that names a chat, instead of an order without it that a gap of a phrase let in.
func (s slots) wishOfChat(found Order) Order {
	if _, has := found.Slots[SlotChat]; has {
		return found
	}
	if wish, is := s.findWish(); is && wish.Slots[SlotChat] != "" {
		return wish
	}
	return found
}

// findWish returns the order of a line whose words are all of the classes of one wish.
func (s slots) findWish() (Order, bool) {
	tokens := s.line.Tokens
	classes := make([][]string, len(tokens))
	found := Order{Slots: map[string]string{}}
	for i := range tokens {
		classes[i] = append(classes[i], s.classesAt(i, classes)...)
		if slices.Contains(classes[i], classUntil) && i+1 < len(tokens) && s.index.saysWhen(tokens[i+1].Word) {
			found.Slots[SlotWhen] = s.line.Text(i+1, len(tokens))
			classes = classes[:i+1]
			break
		}
	}
	names := s.chatNames(classes)
	if len(names) > 1 {
		return Order{}, false
	}
	for name := range names {
		found.Slots[SlotChat] = name
	}
	for _, w := range wishes {
		if w.fits(classes) {
			found.Concept = w.order
			return found, true
		}
	}
	return Order{}, false
}

// classesAt returns the classes of a word. Those of several words are added to the classes of each.
func (s slots) classesAt(at int, classes [][]string) []string {
	t := s.line.Tokens[at]
	var found []string
	if t.IsPolite {
		found = append(found, classFiller)
	}
	word := withoutRepeats(t.Word)
	if s.index.saysWhen(word) {
		found = append(found, classTime)
	}
	if word == "" {
		return found
	}
	for _, w := range wishWords()[word[0]] {
		if !s.hasWords(at, w) {
			continue
		}
		found = append(found, w.class)
		for i := 1; i < len(w.words); i++ {
			classes[at+i] = append(classes[at+i], w.class)
		}
	}
	if !slices.Contains(found, classNot) && language.IsCommon(word) {
		found = append(found, classFiller)
	}
	return found
}

// hasWords reports whether the words of a class stand in the line from a token on.
func (s slots) hasWords(at int, w wishWord) bool {
	if at+len(w.words) > len(s.line.Tokens) {
		return false
	}
	for i, want := range w.words {
		word := withoutRepeats(s.line.Tokens[at+i].Word)
		isStem := w.isStem && i == len(w.words)-1
		if word != withoutRepeats(want) && (!isStem || !strings.HasPrefix(word, want)) {
			return false
		}
	}
	return true
}

// withoutRepeats returns a word with a letter that it has three times or more in a row once: "sooo" is "so".
func withoutRepeats(word string) string {
	letters := []rune(word)
	var kept []rune
	for i := 0; i < len(letters); {
		end := i
		for end < len(letters) && letters[end] == letters[i] {
			end++
		}
		if end-i > 2 {
			i = end - 1
		}
		kept = append(kept, letters[i:end]...)
		i = end
	}
	return string(kept)
}

// chatNames returns the names of chats in a line, and sets their class. A word that has a class is none, unless it is typed with a
// capital letter.
func (s slots) chatNames(classes [][]string) map[string]bool {
	names := map[string]bool{}
	for i := 0; i < len(classes); i++ {
		for end := min(len(classes), i+MaxName); end > i; end-- {
			text := s.line.Text(i, end)
			if len(classes[i]) > 0 && !startsCapital(text) || !s.isName(i, end) {
				continue
			}
			names[strings.TrimRight(text, ",.;:!? ")] = true
			for j := i; j < end; j++ {
				classes[j] = []string{classChat}
			}
			i = end - 1
			break
		}
	}
	return names
}

// startsCapital reports whether a text begins with a capital letter.
func startsCapital(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first)
}

// fits reports whether a line, as the classes of its words, is the wish.
func (w wish) fits(classes [][]string) bool {
	needs := strings.Fields(w.needs)
	allowed := slices.Concat(needs, strings.Fields(w.also), weakClasses)
	for class := range strings.FieldsSeq(w.forbids) {
		if indexOf(classes, class) >= 0 {
			return false
		}
	}
	if stop, chat := indexOf(classes, classStop), indexOf(classes, classChat); chat >= 0 && stop > chat {
		return false // "Ana stopped" tells of her
	}
	for _, need := range needs {
		if indexOf(classes, need) < 0 {
			return false
		}
	}
	return !slices.ContainsFunc(classes, func(has []string) bool {
		return !slices.ContainsFunc(has, func(class string) bool { return slices.Contains(allowed, class) })
	})
}

// indexOf returns the index of the first word with a class; -1 if there is none.
func indexOf(classes [][]string, class string) int {
	return slices.IndexFunc(classes, func(has []string) bool { return slices.Contains(has, class) })
}
