package outbox

import (
	"cmp"
	"strings"

	"maunium.net/go/mautrix/format"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/text"
)

// NoticeKind says how a letter to an admin room reaches the owner.
type NoticeKind int

const (
	// Quiet is what multis says by itself and needs nobody for: an m.notice, which no client pushes.
	Quiet NoticeKind = iota
	// Answer is what the owner asked for: an m.text.
	Answer
	// Alert is what needs the owner: an m.text that mentions them, so that it is pushed in a room with operators as well.
	Alert
)

// address sets what makes a notice of a kind ring or not. owner is mentioned unless somebody else is.
func (c *content) address(l Message, owner id.UserID) {
	c.MsgType, c.Mentions = "m.text", &mentions{}
	switch mentioned := cmp.Or(l.Mention, owner); {
	case l.Kind == Quiet:
		c.MsgType = "m.notice"
	case l.Kind == Alert && mentioned != "":
		c.Mentions.Users = []id.UserID{mentioned}
	}
}

// MaxNotice is the length of the longest notice, in characters. With its HTML it stays well below what one event may hold.
const MaxNotice = 8000

// maxRendered is how many bytes a notice may have with its HTML. Matrix allows 65,536 for the whole event.
const maxRendered = 50_000

// Notice is a letter to an admin room, written in Markdown. One of which the markup leaves nothing, or makes too much, goes as it was written.
func Notice(admin store.Chat, markdown string, kind NoticeKind) Message {
	written := text.Clip(text.Clean(markdown), MaxNotice)
	rendered := format.RenderMarkdown(written, true, false) // raw HTML is escaped
	l := Message{Chat: admin, Purpose: policy.PurposeNotice, Text: rendered.Body, HTML: rendered.FormattedBody, Kind: kind}
	if strings.TrimSpace(l.Text) == "" || len(l.Text)+len(l.HTML) > maxRendered {
		l.Text, l.HTML = written, ""
	}
	return l
}

// PlainText is Markdown as it reads without markup, however long it is.
func PlainText(markdown string) string {
	return format.RenderMarkdown(text.Clean(markdown), true, false).Body
}

// cleaned is a letter without the characters that the gate refuses and the secrets of the configuration. It is done once, before anything looks at the text: what is
// checked is what is sent.
func (l Message) cleaned() Message {
	l.Text, l.HTML = policy.Hide(text.Clean(l.Text)), policy.Hide(text.Clean(l.HTML))
	if l.File != nil {
		file := *l.File
		file.Name = text.OneLine(file.Name)
		if file.MIME == plainText {
			file.Data = []byte(policy.Hide(text.Clean(string(file.Data))))
		}
		l.File = &file
	}
	return l
}

// markdownSigns are the characters that mean something in Markdown.
const markdownSigns = "\\`*_{}[]()<>#+-.!|~&:@"
