package admin

import (
	"strings"

	"multis/internal/text"
)

// argumentsText formats all arguments of a call, one a line, in their order. A name that occurs twice is shown twice.
func argumentsText(raw string) string {
	args, ok := text.Fields(raw)
	if !ok {
		return visibleText(raw)
	}
	var lines []string
	for _, arg := range args {
		lines = append(lines, visibleText(arg.Name)+": “"+visibleText(arg.Value)+"”")
	}
	return strings.Join(lines, "\n")
}

// visibleText returns a text in which nothing is hidden, as Markdown.
func visibleText(s string) string { return text.Escape(text.Unhidden(s)) }
