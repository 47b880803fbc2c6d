package search

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"multis/internal/language/lexicon"
	"multis/internal/text"
)

// minWrappedLen is the length in characters from which a line is assumed to be wrapped.
const minWrappedLen = 60

var (
	itemStart = regexp.MustCompile(`^\s*(?:[-*+•–]|\d{1,3}[.)])\s+`)
	tableRule = regexp.MustCompile(`^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$`)
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}\s`)
)

// BreakOffsets lists the byte offsets at which text may be cut, in order: after sentences, list items, table rows, lines of
// code, lines that are not wrapped, and blank lines. The last one is the length of text; an empty text has none.
func BreakOffsets(body string) []int {
	var breaks []int
	fenced := false
	for from := 0; from < len(body); {
		line, rest, _ := strings.Cut(body[from:], "\n")
		next, _, _ := strings.Cut(rest, "\n")
		end := min(from+len(line)+1, len(body))
		wasFenced := fenced
		fenced = fenced != text.IsFence(line)
		if !wasFenced && !fenced && !isRow(line) {
			breaks = append(breaks, sentenceEnds(line, from)...)
		}
		if fenced || wasFenced || end == len(body) || endsAtLineEnd(line, next) {
			breaks = append(breaks, end)
		}
		from = end
	}
	return breaks
}

// endsAtLineEnd reports whether a sentence or item ends at the end of line.
func endsAtLineEnd(line, next string) bool {
	if isBlank(line) || isBlank(next) || startsBlock(next) || isRow(line) || heading.MatchString(line) || endsSentence(line) {
		return true
	}
	if indent(next) > indent(line) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(next))
	return !unicode.IsLower(first) && utf8.RuneCountInString(line) < minWrappedLen
}

func startsBlock(line string) bool {
	return itemStart.MatchString(line) || isRow(line) || text.IsFence(line) || heading.MatchString(line)
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

func isRow(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "|") }

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

const (
	terminators = ".!?…。！？؟"
	closers     = `"')]»”’*_` + "`"
)

func endsSentence(line string) bool {
	line = strings.TrimRight(strings.TrimSpace(line), closers)
	last, _ := utf8.DecodeLastRuneInString(line)
	return strings.ContainsRune(terminators, last)
}

// sentenceEnds lists the offsets at which sentences end inside a line that starts at offset.
func sentenceEnds(line string, offset int) []int {
	var ends []int
	start := len(itemStart.FindString(line)) // the full stop of "1. " ends no sentence
	for i := start; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		i += size
		if !strings.ContainsRune(terminators, r) {
			continue
		}
		stop := i - size
		i = len(line) - len(strings.TrimLeft(line[i:], terminators+closers))
		next := strings.TrimLeft(line[i:], " \t")
		first, _ := utf8.DecodeRuneInString(next)
		spaced := len(next) < len(line)-i || strings.ContainsRune("。！？", r)
		if next == "" || !spaced || unicode.IsLower(first) || r == '.' && isAbbreviation(line[start:stop], next) {
			continue
		}
		i = len(line) - len(next)
		ends = append(ends, offset+i)
	}
	return ends
}

// abbreviations are the words whose full stop ends no sentence: always, or before a number.
var abbreviations = sync.OnceValue(func() (words struct{ always, beforeNumber map[string]bool }) {
	words.always, words.beforeNumber = map[string]bool{}, map[string]bool{}
	for _, word := range lexicon.Words("abbreviations", "abbreviations") {
		words.always[word] = true
	}
	for _, word := range lexicon.Words("abbreviations", "before_number") {
		words.beforeNumber[word] = true
	}
	return words
})

// isAbbreviation reports whether the full stop between text and next belongs to the last word of text.
func isAbbreviation(text, next string) bool {
	word := strings.ToLower(text[strings.LastIndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })+1:])
	if utf8.RuneCountInString(word) == 1 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(next)
	known := abbreviations()
	return known.always[word] || known.beforeNumber[word] && unicode.IsDigit(first) || dayNumber.MatchString(text) && startsWithMonth(next) ||
		ordinal.MatchString(text)
}

// ordinal matches the end of a text that is an ordinal number with a full stop, as German, Polish and Turkish write it: behind a comma or
// a German article, as in "im 1. Stock". Behind other words a number may end a sentence.
var ordinal = regexp.MustCompile(`(?i)(?:[,;(–]|\b(?:de[rmns]|die|das|[ai]m|zu[mr]|vo[mn]|beim|jede[rsmn]?))\s+\d{1,2}$`)

// dayNumber matches the end of a text that may be the number of a day, as in "bis 22. August".
var dayNumber = regexp.MustCompile(`(?:^|[\s(–-])\d{1,2}$`)

// startsWithMonth reports whether a text begins with the name of a month.
func startsWithMonth(text string) bool {
	word, _, _ := strings.Cut(text, " ")
	return months()[strings.ToLower(strings.TrimRight(word, ".,;:!?"))]
}

// months are the names of the months in all languages.
var months = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, language := range lexicon.Languages("months") {
		for _, row := range lexicon.Rows(language, "months") {
			for _, name := range row.Words() {
				names[strings.ToLower(name)] = true
			}
		}
	}
	return names
})

// unit is the smallest piece that is quoted: a sentence, a list item, a table row or a line.
type unit struct {
	from, to   int  // byte offsets, without list marker and surrounding blanks
	block      int  // the number of its paragraph or item
	lead       int  // index of the unit that introduces this one, such as a table header or "Opening hours:"; -1 if none
	isRow      bool // a table row
	isHeader   bool // a table header, which answers nothing
	introduces bool // introduces the next unit and answers nothing by itself: a question, a title, a line that ends with a colon
}

// maxTitleLen is the length in characters up to which a line can be a title.
const maxTitleLen = 60

// units splits text into the pieces that can be quoted.
func units(body string) []unit {
	var list []unit
	from := 0
	block := 0
	lead := -1
	table, blank := false, true
	for _, to := range BreakOffsets(body) {
		raw := body[from:to]
		u := trimUnit(body, from, to)
		from = to
		if u.from == u.to || text.IsFence(raw) || tableRule.MatchString(raw) {
			if table && tableRule.MatchString(raw) {
				lead = len(list) - 1 // the row above is the table's head
				list[lead].isHeader = true
			}
			blank = blank || isBlank(raw)
			continue
		}
		row, item := isRow(raw), itemStart.MatchString(raw)
		content := body[u.from:u.to]
		var previous unit
		if len(list) > 0 {
			previous = list[len(list)-1]
		}
		switch {
		case !row && previous.introduces:
			lead = len(list) - 1
		case row != table || blank && !row && !item:
			lead = -1
		}
		if row || item || blank || !endsSentence(body[previous.from:previous.to]) {
			block++
		}
		u.block = block
		u.lead = lead
		u.isRow = row
		u.introduces = !row && (strings.HasSuffix(content, ":") || IsQuestion(strings.TrimRight(content, closers)) ||
			blank && !item && isTitle(content))
		list = append(list, u)
		table, blank = row, false
	}
	return list
}

// isTitle reports whether the first line of a paragraph is a heading in plain text.
func isTitle(line string) bool {
	return !endsSentence(line) && !strings.ContainsFunc(line, unicode.IsDigit) && utf8.RuneCountInString(line) <= maxTitleLen
}

// trimUnit trims blanks and the markers of lists, tables and headings.
func trimUnit(text string, from, to int) unit {
	from += len(itemStart.FindString(text[from:to]))
	from += len(heading.FindString(text[from:to]))
	inner := strings.TrimLeft(text[from:to], " \t\n|>")
	from = to - len(inner)
	return unit{from: from, to: from + len(strings.TrimRight(inner, " \t\n|"))}
}
