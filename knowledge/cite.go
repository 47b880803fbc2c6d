package knowledge

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/text"
	"multis/knowledge/search"
)

// minQuote is the minimum length, in characters, of a quote that is not a whole line.
const minQuote = 12

// ContainsQuote reports whether a passage contains a quote word for word, apart from white space. The quote must begin and end with whole
// words, and have at least 12 characters or be a whole line, list item or table row.
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

// Cite returns the citation of a passage: [prices.md › Delivery, lines 12-14].
func Cite(h search.Hit) string { return citation(h, h.LineFrom, h.LineTo) }

// CiteQuote returns the citation of a quote, with its lines.
func CiteQuote(q search.Quote) string { return citation(q.Hit, q.LineFrom, q.LineTo) }

func citation(h search.Hit, lineFrom, lineTo int) string {
	if h.Source != "" {
		return "[" + citationText(h.Source) + "]"
	}
	source := citationText(h.Title)
	if heading := citationText(h.Heading()); heading != "" {
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

// citationText prepares a name or heading for a citation: it removes line ends, and brackets, which would end the citation or begin a link.
func citationText(s string) string { return PrintableLine(brackets.Replace(s)) }

var brackets = strings.NewReplacer("[", "", "]", "", "<", "", ">", "")

// PrintableLine returns a text on one line: line ends become spaces, and characters that cannot be printed are removed.
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
