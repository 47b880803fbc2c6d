package policy

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// injectionClass is a set of classes of words.
type injectionClass uint16

// maxInjectionGap is the largest distance, in words, between two words that belong together, such as "ignore" and "instructions".
const maxInjectionGap = 10

// injectionEntry is a word or phrase of the lexicon, folded.
type injectionEntry struct {
	words    []string // without the * at the end
	isPrefix []bool   // for each word: whether it had a * at the end, which matches any ending
	class    injectionClass
}

// injectionIndex holds the entries by the first keyLength characters of their first word, or by that whole word if it is shorter.
type injectionIndex map[string][]injectionEntry

const keyLength = 3

var lexiconIndex = sync.OnceValue(func() injectionIndex { //nolint:gochecknoglobals // built once, from a constant
	index := injectionIndex{}
	for class, languages := range injectionLexicon {
		for phrase := range strings.FieldsSeq(strings.Join(languages, " ")) {
			e := injectionEntry{class: class}
			for word := range strings.SplitSeq(phrase, "+") {
				stem, open := strings.CutSuffix(word, "*")
				parts := injectionWords(foldInjection(stem))
				for i, part := range parts {
					e.words, e.isPrefix = append(e.words, part), append(e.isPrefix, open && i == len(parts)-1)
				}
			}
			index[lexiconKey(e.words[0])] = append(index[lexiconKey(e.words[0])], e)
		}
	}
	return index
})

// lexiconKey returns the first keyLength characters of a word, the key of injectionIndex.
func lexiconKey(word string) string {
	n := 0
	for i := range word {
		if n++; n > keyLength {
			return word[:i]
		}
	}
	return word
}

// foldInjection returns a text in lower case, without accents and invisible characters.
func foldInjection(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r), isInvisible(r):
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// injectionWords splits a folded text into words. A character of a script without spaces is a word.
func injectionWords(folded string) []string {
	words := make([]string, 0, len(folded)/6+1)
	start := -1
	for i, r := range folded {
		joins := r == '_' || isWord(r)
		if r >= utf8.RuneSelf && joins && isSpaceless(r) {
			if start >= 0 {
				words = append(words, folded[start:i])
			}
			words, start = append(words, folded[i:i+utf8.RuneLen(r)]), -1
			continue
		}
		switch {
		case joins && start < 0:
			start = i
		case !joins && start >= 0:
			words, start = append(words, folded[start:i]), -1
		}
	}
	if start >= 0 {
		words = append(words, folded[start:])
	}
	return words
}

// injectionSigns is the result of scanning a text: the positions of the words of each class, and other signs of a prompt injection.
type injectionSigns struct {
	positions map[injectionClass][]int
	markup    int // number of distinct entries of injectionMarkup that the text contains
	speaker   bool
	hidden    bool // the text has characters that people cannot see
}

// scanInjection finds the entries of the lexicon in a text, in one pass over its words.
func scanInjection(s string) injectionSigns {
	found := injectionSigns{positions: map[injectionClass][]int{}, hidden: hasHiddenText(s)}
	compact := strings.ToLower(strings.Join(strings.Fields(s), ""))
	for _, marker := range injectionMarkup {
		if strings.Contains(compact, marker) {
			found.markup++
		}
	}
	found.speaker = hasSpeakerLine(s)
	index, words := lexiconIndex(), injectionWords(foldInjection(s))
	for i := range words {
		find := func(word string) {
			for _, e := range index[lexiconKey(word)] {
				if e.matches(word, words[i+1:]) {
					found.positions[e.class] = append(found.positions[e.class], i)
				}
			}
		}
		find(words[i])
		for _, form := range withoutArticles(words[i]) {
			find(form)
		}
	}
	return found
}

// withoutArticles returns an Arabic word without its prefixes for "and" and "the", which are written as one with the
// word. It returns nothing for other words.
func withoutArticles(word string) (forms []string) {
	first, _ := utf8.DecodeRuneInString(word)
	if !unicode.Is(unicode.Arabic, first) {
		return nil
	}
	for _, prefix := range []string{"ال", "وال", "بال", "فال", "لل", "و", "ف"} {
		if rest, cut := strings.CutPrefix(word, prefix); cut && utf8.RuneCountInString(rest) >= keyLength {
			forms = append(forms, rest)
		}
	}
	return forms
}

// matches reports whether the entry begins with a word and continues with the next words.
func (e injectionEntry) matches(word string, next []string) bool {
	if len(next) < len(e.words)-1 {
		return false
	}
	for i, want := range e.words {
		if i > 0 {
			word = next[i-1]
		}
		if word != want && (!e.isPrefix[i] || !strings.HasPrefix(word, want)) {
			return false
		}
	}
	return true
}

// near reports whether a word of class a and one of class b are at most maxInjectionGap apart, in any order.
func (f injectionSigns) near(a, b injectionClass) bool {
	first, second := f.positions[a], f.positions[b] // both ascend
	for len(first) > 0 && len(second) > 0 {
		distance := first[0] - second[0]
		if distance != 0 && max(distance, -distance) <= maxInjectionGap {
			return true
		}
		if distance < 0 {
			first = first[1:]
		} else {
			second = second[1:]
		}
	}
	return false
}

// has reports whether the text has a word of a class.
func (f injectionSigns) has(c injectionClass) bool { return len(f.positions[c]) > 0 }

// patternsScore returns the score of the layer Patterns.
func (f injectionSigns) patternsScore() int {
	score := 0
	if f.near(classOverride, classRule) {
		score += 40
		if f.near(classPrior, classRule) || f.near(classOverride, classPrior) {
			score += 20
		}
	}
	for _, c := range []struct {
		found bool
		score int
	}{
		{f.has(classRole), 50},
		{f.has(classAuthority), 50},
		{f.near(classShow, classPrompt), 60},
		{f.markup > 0, 50 + 10*f.markup},
		{f.speaker, 50},
		{f.hidden, 50},
	} {
		if c.found {
			score += c.score
		}
	}
	return min(score, maxScore)
}

// scopeScore returns the score of the layer Scope.
func (f injectionSigns) scopeScore() int {
	score := 0
	for _, c := range []struct {
		found bool
		score int
	}{
		{f.has(classTool), 50},
		{f.has(classPlace), 50},
		{f.has(classSecret), 20},
		{f.near(classShow, classSecret), 30},
		{f.has(classOthers), 30},
		{f.near(classShow, classOthers), 30},
	} {
		if c.found {
			score += c.score
		}
	}
	return min(score, maxScore)
}

// hasSpeakerLine reports whether a line begins like a turn in the transcript of a conversation with a model, such as "system:".
func hasSpeakerLine(s string) bool {
	for line := range strings.Lines(s) {
		line = strings.TrimLeft(line, " \t>#*-")
		for _, speaker := range []string{"system:", "assistant:", "developer:", "system prompt:", "tool_result:"} {
			if len(line) >= len(speaker) && strings.EqualFold(line[:len(speaker)], speaker) {
				return true
			}
		}
	}
	return false
}

// hasHiddenText reports whether a text has characters that a model reads but people do not see: tag characters outside of flag emoji, and
// direction overrides.
func hasHiddenText(s string) bool {
	const blackFlag, firstTag, lastTag = '\U0001F3F4', '\U000E0020', '\U000E007F'
	inFlag := false
	for _, r := range s {
		isTag := r >= firstTag && r <= lastTag
		switch {
		case isTag && !inFlag, r == '\u202d', r == '\u202e':
			return true
		case !isTag:
			inFlag = r == blackFlag
		}
	}
	return false
}
