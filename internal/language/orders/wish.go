package orders

import (
	"maps"
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
	classClock   = "clock"   // has a digit
	classFiller  = "filler"  // changes nothing
	classUntil   = "until"   // a time follows
	classStop    = "stop"    // something ends
	classNot     = "not"     // denies
	classAll     = "all"     // everybody or everything
	classLet     = "let"     // somebody is left alone
	classMessage = "message" // a message, or several
	classSaid    = "wrote"   // somebody said or wrote something
	classIf      = "if"      // a condition follows
	classAsks    = "asks"    // begins a question
	classInstead = "instead" // what is replaced follows
)

// wish is an order in any words and in any order of words: the classes that its line has, and those that it may have. A
// line with any other word, such as "invoice" in "did Ana send the invoice", is none.
type wish struct {
	order string
	needs string // classes, separated by spaces
	also  string
	// forbids are classes that the line does not have: "I no longer answer Ana" stops nothing.
	forbids string
	// isOpen says that the line may have any other words: "translate" is enough.
	isOpen bool
}

// weakClasses are those of words that a line about anything may have.
var weakClasses = strings.Fields("i you who what can have show set lines period time clock weekday filler")

// vagueClasses are needed by wishes, and say nothing about a wish by themselves.
var vagueClasses = strings.Fields("chat chats all not last again we until time answer take message open noun.answer asks let off set wrote")

// wishes are tried from the first to the last.
var wishes = []wish{
	{order: "why.chat", needs: "why chat", also: "answered answer wrote message not owe pause talk wait last"},
	{order: "quiet", needs: "ping not", also: "stop you all until if answer"},
	{order: "quiet", needs: "ping stop", also: "not you all until if answer"},
	{order: "commitments.chat", needs: "promised chat", also: "last not"},
	{order: "commitments", needs: "promised", also: "all not"},
	{order: "commitments", needs: "owe i what", also: "all talk"},
	{order: "brief.chat", needs: "summary chat", also: "message chats wrote talk last all news"},
	{order: "brief.chat", needs: "news chat", also: "last"},
	{order: "pause.chat.until", needs: "stop chat until", also: "answer", forbids: "i asks not"},
	{order: "mode.silent", needs: "stop chat", also: "answer", forbids: "i asks not"},
	{order: "mode.silent", needs: "let chat pause", also: "answer", forbids: "i asks not"},
	{order: "pause.chat.until", needs: "let chat pause until", also: "answer", forbids: "i asks not"},
	{order: "mode.off", needs: "off chat", also: "all", forbids: "i asks"},
	{order: "mode.business", needs: "start answer chat", also: "all again", forbids: "i asks"},
	{order: "delivery.draft", needs: "drafts chat", also: "answer", forbids: "asks"},
	{order: "resume.chat", needs: "again chat take", also: "answer talk"},
	{order: "resume.chat", needs: "again chat answer", also: "talk take"},
	{order: "chats.chat", needs: "asks you answer chat", also: "talk all", forbids: "answered not stop"},
	{order: "messages.answered", needs: "chat answered", also: "not last message noun.answer wait"},
	{order: "messages", needs: "chat wrote", also: "not last message all"},
	{order: "messages", needs: "chat last", also: "message chats all"},
	{order: "messages", needs: "chat message", also: "last chats all"},
	{order: "memory.chat", needs: "know chat", also: "all not"},
	{order: "pause.all.until", needs: "pause all until", also: "stop answer", forbids: "i asks"},
	{order: "pause.all.until", needs: "stop all until", also: "answer", forbids: "i asks not"},
	{order: "pause.all", needs: "pause all", also: "stop answer", forbids: "i asks"},
	{order: "pause.all", needs: "stop all answer", forbids: "i asks not"},
	{order: "resume.all", needs: "again you can", also: "answer talk take all start audience", forbids: "not"},
	{order: "resume.all", needs: "start again answer", also: "you talk all", forbids: "not i"},
	{order: "resume.all", needs: "again answer all", also: "talk take start", forbids: "not i"},
	{order: "business.hours", needs: "we closed weekday", also: "open not until instead"},
	{order: "business.hours", needs: "we open weekday", also: "closed not until instead"},
	{order: "business.hours", needs: "we closed period", also: "open not until instead all"},
	{order: "business.hours", needs: "we open period", also: "closed not until instead all"},
	{order: "business.hours", needs: "we open clock", also: "closed not until instead all"},
	{order: "escalations", needs: "wait noun.answer", also: "not answer answered"},
	{order: "escalations", needs: "owe noun.answer", also: "not answer answered"},
	{order: "escalations", needs: "owe i who", also: "not"},
	{order: "escalations", needs: "wait i who", also: "not"},
	{order: "budget", needs: "cost you", also: "all"},
	{order: "budget", needs: "cost i", also: "all"},
	{order: "budget", needs: "cost period", also: "all"},
	{order: "drafts", needs: "drafts", also: "wait all"},
	{order: "docs", needs: "document have", also: "all"},
	{order: "docs", needs: "document you", also: "all know"},
	{order: "docs", needs: "document show", also: "all"},
	{order: "chats", needs: "chats you", also: "all talk know"},
	{order: "chats", needs: "talk you who", also: "all"},
	{order: "jobs", needs: "reminder show", also: "all message"},
	{order: "jobs", needs: "reminder what", also: "all wait"},
	{order: "jobs", needs: "reminder i have", also: "all"},
	{order: "forget.chat", needs: "delete chat know", also: "all message wrote"},
	{order: "forget.chat", needs: "delete chat all", also: "know message wrote"},
	{order: "index.how", needs: "add document", also: "audience", forbids: "have"},
	{order: "jobs", needs: "i have period"},
	{order: "brief", needs: "miss i", also: "all not"},
	{order: "brief", needs: "news what", also: "all last"},
	{order: "brief", needs: "news period", also: "all last what"},
	{order: "brief", needs: "summary", also: "chats all message news talk last"},
	{order: "undo", needs: "wrong", also: "last again all not delete"},
	{order: "help", needs: "what can you", also: "all"},
	{order: "cancel.about", needs: "delete reminder", isOpen: true},
	{order: "move", needs: "move time", isOpen: true},
	{order: "model", needs: "compute", isOpen: true},
}

// parsedWish is a wish with its classes as lists.
type parsedWish struct {
	wish

	needed, allowed, forbidden []string
}

// parsedWishes are the wishes with their classes.
var parsedWishes = sync.OnceValue(func() []parsedWish {
	var all []parsedWish
	for _, w := range wishes {
		needed := strings.Fields(w.needs)
		all = append(all, parsedWish{
			wish:      w,
			needed:    needed,
			allowed:   slices.Concat(needed, strings.Fields(w.also), weakClasses),
			forbidden: strings.Fields(w.forbids),
		})
	}
	return all
})

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
		for i, word := range words {
			words[i] = withoutRepeats(word)
		}
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

// wishOfChat returns the wish of a line that names a chat, instead of an order without it that a gap of a phrase or a text let in.
func (s slots) wishOfChat(found Order) Order {
	if _, has := found.Slots[SlotChat]; has {
		return found
	}
	wish, is := s.findWish()
	if !is || wish.Slots[SlotChat] == "" || found.Concept == orderForget && !strings.HasPrefix(wish.Concept, orderForget) {
		return found
	}
	return wish
}

// wishLine is a line as the classes of its words.
type wishLine struct {
	classes [][]string
	chats   []string // the names of chats
	until   int      // the index of a word such as "until" that a time follows; -1 if there is none
	when    string   // the text after it
}

// readWish reads the classes of a line.
func (s slots) readWish() wishLine {
	tokens := s.line.Tokens
	s.words = make([]string, len(tokens))
	for i, t := range tokens {
		s.words[i] = withoutRepeats(t.Word)
	}
	l := wishLine{classes: make([][]string, len(tokens)), until: -1}
	for i := range tokens {
		l.classes[i] = append(l.classes[i], s.classesAt(i, l.classes)...)
		if l.until < 0 && slices.Contains(l.classes[i], classUntil) && i+1 < len(tokens) && s.index.saysWhen(tokens[i+1].Word) {
			l.until = i
			l.when = clauses(s.line.Text(i+1, len(tokens)))[0]
		}
	}
	if from := s.lengthAtEnd(); l.until < 0 && from > 0 {
		l.until = from - 1
		l.when = s.line.Text(from, len(tokens))
	}
	l.chats = slices.Sorted(maps.Keys(s.chatNames(l.classes)))
	return l
}

// lengthAtEnd returns the index of the number at which a length of time at the end of a line begins, such as "two weeks"; 0 for none.
func (s slots) lengthAtEnd() int {
	tokens := s.line.Tokens
	end := len(tokens)
	for end > 0 && tokens[end-1].IsPolite {
		end--
	}
	if end < 2 || !s.index.saysWhen(tokens[end-1].Word) || strings.ContainsAny(tokens[end-1].Word, "0123456789") {
		return 0
	}
	number := tokens[end-2].Word
	if digits(number) == "" && !slices.Contains(lexicon.Words("times", "an"), number) {
		return 0
	}
	return end - 2
}

// order returns the order of a wish with the slots of a line.
func (l wishLine) order(w parsedWish) Order {
	found := Order{Concept: w.order, Slots: map[string]string{}}
	if len(l.chats) > 0 {
		found.Slots[SlotChat] = l.chats[0]
	}
	if slices.Contains(w.needed, classUntil) {
		found.Slots[SlotWhen] = l.when
	}
	return found
}

// findWish returns the order of a line whose words are all of the classes of one wish.
func (s slots) findWish() (Order, bool) {
	l := s.readWish()
	if len(l.chats) > 1 {
		return Order{}, false
	}
	for _, w := range parsedWishes() {
		if w.fit(l).isWhole(0) {
			return l.order(w), true
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
	word := s.words[at]
	if s.index.saysWhen(word) {
		found = append(found, classTime)
	}
	if strings.ContainsAny(word, "0123456789") {
		found = append(found, classClock)
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
		word := s.words[at+i]
		isStem := w.isStem && i == len(w.words)-1
		if word != want && (!isStem || !strings.HasPrefix(word, want)) {
			return false
		}
	}
	return true
}

// withoutRepeats returns a word with a letter that it has three times or more in a row once: "sooo" is "so".
func withoutRepeats(word string) string {
	if !hasRepeats(word) {
		return word
	}
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

// hasRepeats reports whether a word has a letter three times in a row.
func hasRepeats(word string) bool {
	run := 0
	for i := 1; i < len(word); i++ {
		run++
		if word[i] != word[i-1] {
			run = 0
		}
		if run == 2 {
			return true
		}
	}
	return false
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

// fit is how far a line is a wish.
type fit struct {
	missing  int  // classes that the wish needs and the line does not have
	telling  int  // classes that the wish needs, that the line has, and that a line about anything seldom has
	beside   int  // words that do not belong to the wish
	explains int  // words that do
	isDenied bool // the line has what the wish forbids
}

// isWhole reports whether all of a wish is in a line, with at most some words beside it.
func (f fit) isWhole(beside int) bool { return !f.isDenied && f.missing == 0 && f.beside <= beside }

// fit compares a line with a wish.
func (w parsedWish) fit(l wishLine) fit {
	var f fit
	classes := l.classes
	needs := w.needed
	if slices.Contains(needs, classUntil) && l.until >= 0 {
		classes = classes[:l.until+1] // the time after it is read by others
	}
	f.isDenied = w.isOpen && len(classes) > 0 && slices.Contains(classes[0], classAsks)
	for _, class := range w.forbidden {
		f.isDenied = f.isDenied || slices.ContainsFunc(classes, func(has []string) bool {
			return slices.Contains(has, class) && !(class == classNot && slices.Contains(has, classStop)) // as "no more" stops
		})
	}
	for _, class := range []string{classStop, classLet} {
		isMeant := class == classStop || slices.Contains(needs, class)
		at := indexOf(classes, class)
		for _, who := range []string{classChat, classAll} {
			whose := indexOf(classes, who)
			if isMeant && whose >= 0 && at > whose && (who == classChat || slices.Contains(needs, who)) {
				f.isDenied = true // "Ana stopped" tells of her
			}
		}
	}
	for _, need := range needs {
		switch {
		case need == classUntil && l.until >= 0:
		case indexOf(classes, need) < 0:
			f.missing++
		case !slices.Contains(weakClasses, need) && !slices.Contains(vagueClasses, need):
			f.telling++
		}
	}
	for _, has := range classes {
		isExplained := slices.ContainsFunc(has, func(class string) bool { return slices.Contains(w.allowed, class) })
		switch {
		case !isExplained && !w.isOpen:
			f.beside++
		case isExplained && !slices.Contains(has, classFiller):
			f.explains++
		}
	}
	return f
}

// indexOf returns the index of the first word with a class; -1 if there is none.
func indexOf(classes [][]string, class string) int {
	return slices.IndexFunc(classes, func(has []string) bool { return slices.Contains(has, class) })
}
