package outbox

import (
	"strings"

	"maunium.net/go/mautrix/format"

	"multis/policy"
	"multis/store"
)

// Notice is a letter to an admin room, written in Markdown. wake makes the owner's phone ring.
func Notice(admin store.Chat, markdown string, wake bool) Letter {
	rendered := format.RenderMarkdown(markdown, true, false) // raw HTML is escaped
	return Letter{Chat: admin, Purpose: policy.PurposeNotice, Text: rendered.Body, HTML: rendered.FormattedBody, Wake: wake}
}

// markdownSigns are the characters that mean something in Markdown.
const markdownSigns = "\\`*_{}[]()<>#+-.!|~&:@"

// Escape makes text that somebody else wrote stand in Markdown as what it is: no bold, links, lists, mentions or HTML come of
// it. Line ends stay in the text but cannot begin a block.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
			continue
		case r < 128 && strings.ContainsRune(markdownSigns, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
