package text

import "strings"

// markdownSigns are the characters that have a meaning in Markdown.
const markdownSigns = "\\`*_{}[]()<>#+-.!|~&:@"

// Escape escapes a text for Markdown, so that it is shown literally, without bold, links, lists, mentions or HTML. Line
// ends become spaces, so that no line can begin a block.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case isLineEnd(r):
			b.WriteByte(' ')
			continue
		case r < 128 && strings.ContainsRune(markdownSigns, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// IsFence reports whether a line of Markdown begins or ends a fenced code block.
func IsFence(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}
