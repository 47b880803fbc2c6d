package answers

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/text"
)

// personalPatterns match personal data: e-mail addresses, account numbers (IBAN), long numbers such as those of
// telephones, and streets with a house number. Longer gaps between digits occur only in a number that begins as those of
// telephones do, because opening hours have them as well.
var personalPatterns = []*regexp.Regexp{ //nolint:gochecknoglobals // compiled once
	regexp.MustCompile(`[\p{L}\p{N}._%+-]+[@＠][\p{L}\p{N}.-]+\.\p{L}{2,}`),
	regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b`),
	regexp.MustCompile(`\+?\(?\p{Nd}(?:[\s\x{a0} ()/.\x{2010}-\x{2015}-]?\p{Nd}){6,}`),
	regexp.MustCompile(`[+(0]\p{Nd}*(?:[\s\x{a0}()/.\x{2010}-\x{2015}-]{0,4}\p{Nd}){8,}`),
	regexp.MustCompile(`(?i)\b[\p{L}.-]*(?:straße|strasse|str\.|gasse|weg|allee|platz)\s+\d+\s?[a-z]?\b`),
	regexp.MustCompile(`(?i)\b\d+\s+(?:\p{L}+\s){1,3}(?:street|road|avenue|lane|drive|square)\b`),
	regexp.MustCompile(`(?i)\b(?:rue|calle|via|rua|avenue|plaza)\s+(?:\p{L}+\s){1,4}?\d+\b`),
	regexp.MustCompile(`\b(?:Calle|Via|Rua|Plaza|Avenida|Corso|Piazza)\s+(?:\p{L}+\s){0,3}\p{Lu}\p{L}+,?\s+\d+\b`),
	regexp.MustCompile(`(?i:\b\d+(?:\s?bis)?,?\s+(?:rue|avenue|boulevard|place|chemin|quai|allée)\s+(?:(?:de|du|des|la|le|les)\s)*)(?:[Ll]['’])?\p{Lu}[\p{L}'’-]*`),
	regexp.MustCompile(`(?i)\b[\p{L}.'-]*(?:straat|gracht|laan|plein|kade|dijk|steeg|singel)\s+\d+\s?[a-z]?\b`),
	regexp.MustCompile(`(?i:\b(?:ul\.|ulica|ulicy|al\.|aleja|alei|aleje|os\.|osiedle|pl\.|plac|placu))\s*\p{Lu}[\p{L}.-]+(?:\s\p{Lu}[\p{L}-]+){0,2}\s+\d+[a-zA-Z]?(?:/\d+)?`),
	regexp.MustCompile(`(?i:улица|ул\.|проспект)\s*\p{Lu}\p{L}+,?\s+(?:д\.\s?)?\d+`),
}

// date matches a date of digits, which is no telephone number.
var date = regexp.MustCompile(`^(?:\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}-\d{2}-\d{2})$`)

// ownNames match how people say what they are called. The name is the last group. Scripts without capital letters need a
// phrase that says nothing else. In Chinese, where nothing separates the name from what follows, it ends before
// characters that begin a question and that names do not have.
var ownNames = []*regexp.Regexp{ //nolint:gochecknoglobals // compiled once
	regexp.MustCompile(`(?:(?i:my name is|this is|i am|i'm|ich bin|ich heiße|mein name ist|je m'appelle|me llamo|mi chiamo|meu nome é|mijn naam is|меня зовут|adım|ismim|nazywam się|mam na imię|jestem|jag heter|jmenuji se|мене звати))\s+((?:\p{Lu}[\p{L}'-]+\s?){1,3})`),
	regexp.MustCompile(`(?:اسمي|إسمي|أدعى)\s+(?:هو\s+)?((?:\p{Arabic}+\s?){1,2})`),
	regexp.MustCompile(`(?:我叫|我的名字是|我的名字叫|我姓)\s*(\p{Han}(?:[^\P{Han}请问我你您他她的是吗呢了没什怎哪想要订买]|·){0,3})`),
	regexp.MustCompile(`([\p{Han}\p{Katakana}ー]{2,8})(?:と申します|といいます|と言います)`),
	regexp.MustCompile(`(?:名前は|私は)\s*([\p{Han}\p{Katakana}ー]{2,8})です`),
	regexp.MustCompile(`(?:이름은|저는)\s*(\p{Hangul}{2,4}?)(?:입니다|이에요|예요|이라고|라고)`),
}

// Span is a part of a text, between two byte offsets.
type Span struct{ From, To int }

// FindPersonalData returns the parts of a text that look like personal data, in order and without overlaps. Each word of
// names, which are names of people, is personal data as well, with or without accents.
func FindPersonalData(s string, names []string) []Span {
	var spans []Span
	for _, p := range personalPatterns {
		for _, m := range p.FindAllStringIndex(s, -1) {
			if !date.MatchString(s[m[0]:m[1]]) {
				spans = append(spans, Span{m[0], m[1]})
			}
		}
	}
	for _, p := range ownNames {
		for _, m := range p.FindAllStringSubmatchIndex(s, -1) {
			spans = append(spans, Span{m[2], m[2] + len(strings.TrimRight(s[m[2]:m[3]], " "))})
		}
	}
	for _, name := range unspacedNames(names) {
		for at := 0; ; at += len(name) {
			i := strings.Index(s[at:], name)
			if i < 0 {
				break
			}
			at += i
			spans = append(spans, Span{at, at + len(name)})
		}
	}
	if words := nameWords(names); len(words) > 0 {
		for _, m := range word.FindAllStringIndex(s, -1) {
			if words[foldWord(s[m[0]:m[1]])] {
				spans = append(spans, Span{m[0], m[1]})
			}
		}
	}
	return mergeSpans(spans)
}

// word matches a word. Its accents may be characters of their own.
var word = regexp.MustCompile(`\p{L}[\p{L}\p{M}]*`)

// nameWords returns the words of names, folded, without those of one or two letters.
func nameWords(names []string) map[string]bool {
	words := map[string]bool{}
	for _, name := range names {
		for _, w := range word.FindAllString(name, -1) {
			if utf8.RuneCountInString(w) >= 3 {
				words[foldWord(w)] = true
			}
		}
	}
	return words
}

// unspacedName matches a name in a script that sets no spaces between words, so that it is found inside of others.
var unspacedName = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Hangul}]{2,}`)

// unspacedNames returns the parts of names in such scripts, and the whole names without their spaces.
func unspacedNames(names []string) (list []string) {
	for _, name := range names {
		list = append(list, unspacedName.FindAllString(name, -1)...)
		list = append(list, unspacedName.FindAllString(strings.ReplaceAll(name, " ", ""), -1)...)
	}
	return list
}

// foldWord returns a word in lower case, without accents, and with one form of the apostrophe.
func foldWord(w string) string {
	return strings.ToLower(strings.ReplaceAll(text.Fold(w), "’", "'"))
}

// mergeSpans sorts spans and joins those that overlap.
func mergeSpans(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return a.From - b.From })
	var list []Span
	for _, s := range spans {
		if n := len(list); n > 0 && s.From <= list[n-1].To {
			list[n-1].To = max(list[n-1].To, s.To)
			continue
		}
		list = append(list, s)
	}
	return list
}

// MaskPersonalData returns a text in which personal data is replaced by an ellipsis.
func MaskPersonalData(s string, names []string) string {
	return replace(s, FindPersonalData(s, names), func(string) string { return "…" }, func(s string) string { return s })
}

// StrikePersonalData returns a text as Markdown in which personal data is struck out.
func StrikePersonalData(s string, names []string) string {
	return replace(s, FindPersonalData(s, names), func(s string) string { return "~~" + text.Escape(s) + "~~" }, text.Escape)
}

// replace changes the spans of a text in one way and the rest in another.
func replace(s string, spans []Span, inside, outside func(string) string) string {
	var b strings.Builder
	at := 0
	for _, p := range spans {
		b.WriteString(outside(s[at:p.From]))
		b.WriteString(inside(s[p.From:p.To]))
		at = p.To
	}
	b.WriteString(outside(s[at:]))
	return b.String()
}
