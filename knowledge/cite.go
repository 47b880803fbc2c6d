package knowledge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/search"
	"multis/text"
)

// minQuote is the length, in characters, from which a quote that is less than a whole line says enough to be checked.
const minQuote = 12

// ContainsQuote tells whether quote stands in text word for word, but for blanks and line ends. It must begin and end with
// whole words and have at least 12 characters or be a whole line, list item or table row.
func ContainsQuote(passage, quote string) bool {
	quote = text.CollapseSpaces(quote)
	if quote == "" {
		return false
	}
	if utf8.RuneCountInString(quote) < minQuote {
		for line := range strings.Lines(passage) {
			if text.CollapseSpaces(strings.Trim(strings.TrimSpace(line), "|-*+•")) == quote {
				return true
			}
		}
		return false
	}
	passage = text.CollapseSpaces(passage)
	for from := 0; ; {
		i := strings.Index(passage[from:], quote)
		if i < 0 {
			return false
		}
		if from += i; areWholeWords(passage, from, from+len(quote)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(passage[from:])
		from += size
	}
}

func areWholeWords(text string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	first, _ := utf8.DecodeRuneInString(text[from:])
	last, _ := utf8.DecodeLastRuneInString(text[:to])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return !(isWordRune(before) && isWordRune(first)) && !(isWordRune(last) && isWordRune(after))
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Cite names the source of a passage for people: [prices.md › Delivery, lines 12-14].
func Cite(h search.Hit) string { return citation(h, h.LineFrom, h.LineTo) }

// CiteQuote names the source of a quote for people, with the very lines.
func CiteQuote(q search.Quote) string { return citation(q.Hit, q.LineFrom, q.LineTo) }

func citation(h search.Hit, lineFrom, lineTo int) string {
	if h.Source != "" {
		return "[" + printable(h.Source) + "]"
	}
	source := printable(h.Title)
	if heading := printable(h.Heading()); heading != "" {
		source += search.SectionSeparator + heading
	}
	switch {
	case h.PageFrom > 0:
		source += ", " + rangeText("page", h.PageFrom, h.PageTo)
	case lineFrom > 0:
		source += ", " + rangeText("line", lineFrom, lineTo)
	}
	return "[" + source + "]"
}

func rangeText(what string, from, to int) string {
	if to <= from {
		return fmt.Sprintf("%s %d", what, from)
	}
	return fmt.Sprintf("%ss %d-%d", what, from, to)
}

// printable keeps a file's name or heading from looking like anything but that: no line ends, no brackets that would end
// the citation or begin a link.
func printable(s string) string { return PrintableLine(brackets.Replace(s)) }

var brackets = strings.NewReplacer("[", "", "]", "", "<", "", ">", "")

// PrintableLine is a text as it can stand on a line, whatever a file is called: line ends are spaces, and what cannot be printed is left out.
func PrintableLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		default:
			return r
		}
	}, text)
}
