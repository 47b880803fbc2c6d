package outbox

import (
	"cmp"
	"strings"

	"maunium.net/go/mautrix/format"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// NoticeKind says how a letter to an admin room reaches the owner.
type NoticeKind int

const (
	// Quiet is what multis says by itself and needs nobody for: an m.notice, which no client pushes.
	Quiet NoticeKind = iota
	// Answer is what the owner asked for: an m.text.
	Answer
	// Ring is what needs the owner: an m.text that mentions them, so that it is pushed in a room with operators as well.
	Ring
)

// address sets what makes a notice of a kind ring or not. owner is mentioned unless somebody else is.
func (c *content) address(l Letter, owner id.UserID) {
	c.MsgType, c.Mentions = "m.text", &mentions{}
	switch mentioned := cmp.Or(l.Mention, owner); {
	case l.Kind == Quiet:
		c.MsgType = "m.notice"
	case l.Kind == Ring && mentioned != "":
		c.Mentions.Users = []id.UserID{mentioned}
	}
}

// Notice is a letter to an admin room, written in Markdown.
func Notice(admin store.Chat, markdown string, kind NoticeKind) Letter {
	rendered := format.RenderMarkdown(markdown, true, false) // raw HTML is escaped
	return Letter{Chat: admin, Purpose: policy.PurposeNotice, Text: rendered.Body, HTML: rendered.FormattedBody, Kind: kind}
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
