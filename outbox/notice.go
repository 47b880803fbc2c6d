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

// NoticeKind says whether clients push a notice.
type NoticeKind int

const (
	// Quiet is for news that needs no action: an m.notice, which clients do not push.
	Quiet NoticeKind = iota
	// Answer is for what the owner asked: an m.text.
	Answer
	// Alert is for what needs the owner: an m.text that mentions them, so that it is pushed in a room with operators as well.
	Alert
)

// address sets the message type and the mention for the notice's kind.
func (c *content) address(l Message, owner id.UserID) {
	c.MsgType, c.Mentions = "m.text", &mentions{}
	switch mentioned := cmp.Or(l.Mention, owner); {
	case l.Kind == Quiet:
		c.MsgType = "m.notice"
	case l.Kind == Alert && mentioned != "":
		c.Mentions.Users = []id.UserID{mentioned}
	}
}

// MaxNotice is the maximum length of a notice in characters. With its HTML it stays well below the maximum size of an event.
const MaxNotice = 8000

// maxRendered is the maximum size of a notice with its HTML, in bytes. Matrix allows 65,536 for the whole event.
const maxRendered = 50_000

// Notice returns a message to an admin room, written in Markdown. When rendering leaves no text, or makes too much HTML, the Markdown is sent
// as it is.
func Notice(admin store.Chat, markdown string, kind NoticeKind) Message {
	written := text.Clip(text.Clean(markdown), MaxNotice)
	rendered := format.RenderMarkdown(written, true, false) // raw HTML is escaped
	l := Message{Chat: admin, Purpose: policy.PurposeNotice, Text: rendered.Body, HTML: rendered.FormattedBody, Kind: kind}
	if strings.TrimSpace(l.Text) == "" || len(l.Text)+len(l.HTML) > maxRendered {
		l.Text, l.HTML = written, ""
	}
	return l
}

// PlainText returns Markdown without its markup. It is not shortened.
func PlainText(markdown string) string {
	return format.RenderMarkdown(text.Clean(markdown), true, false).Body
}

// cleaned returns the message without invisible characters and secrets of the configuration. Queue does it first, so that what is checked is
// what is sent.
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
