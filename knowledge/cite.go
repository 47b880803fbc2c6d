package knowledge

import (
	"fmt"
	"strings"
	"unicode"

	"multis/knowledge/search"
)

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
