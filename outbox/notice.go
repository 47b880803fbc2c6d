package outbox

import (
	"strings"
	"unicode/utf8"

	"maunium.net/go/mautrix/format"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// NoticeKind says how urgent a notice is, and so whether clients push it.
type NoticeKind int

const (
	// Quiet is a notice that needs no action: an m.notice, which clients do not push.
	Quiet NoticeKind = iota
	// Answer is an answer to the owner: an m.text without a mention.
	Answer
	// Alert is a notice that needs the owner: an m.text that mentions the owner, so that it is pushed in a room with operators, too.
	Alert
)

// setMentions sets the message type and the mention by the notice's kind.
func (c *content) setMentions(m Message, owner id.UserID) {
	c.MsgType, c.Mentions = "m.text", &mentions{}
	mentioned := m.Mention
	if len(mentioned) == 0 && owner != "" {
		mentioned = []id.UserID{owner}
	}
	switch m.Kind {
	case Quiet:
		c.MsgType = "m.notice"
	case Alert:
		c.Mentions.Users = mentioned
	case Answer:
	}
}

// MaxNotice is the maximum length of a notice in characters.
const MaxNotice = 8000

// maxContent is the maximum size of a notice's content, in bytes. Matrix allows 65,536 for the whole event, and
// encryption makes the content a third larger.
const maxContent = 46_000

// NewNotice returns a message to an admin room from Markdown, of which it uses the first MaxNotice characters. If the
// rendered text is empty, the message has the Markdown as plain text.
func NewNotice(admin store.Chat, markdown string, kind NoticeKind) Message {
	written := text.Clip(text.Clean(markdown), MaxNotice)
	rendered := format.RenderMarkdown(written, true, false) // raw HTML is escaped
	m := Message{
		Chat:    admin,
		Purpose: policy.PurposeNotice,
		Text:    rendered.Body,
		HTML:    rendered.FormattedBody,
		Kind:    kind,
	}
	if strings.TrimSpace(m.Text) == "" {
		m.Text, m.HTML = written, ""
	}
	return m
}

// PlainText returns Markdown as plain text, in full length.
func PlainText(markdown string) string {
	return format.RenderMarkdown(text.Clean(markdown), true, false).Body
}

// cleaned returns the message without invisible characters and without secrets of the configuration. Queue calls it
// first, so that the gate checks the text that is sent.
func (m Message) cleaned() Message {
	m.Text, m.HTML = policy.Hide(text.Clean(m.Text)), policy.Hide(text.Clean(m.HTML))
	if m.File != nil {
		file := m.File.cleaned()
		m.File = &file
	}
	return m
}

func (f File) cleaned() File {
	f.Name = policy.Hide(text.OneLine(f.Name))
	switch {
	case f.MIME == plainText:
		f.Data = []byte(policy.Hide(text.Clean(string(f.Data))))
	case utf8.Valid(f.Data):
		f.Data = []byte(policy.Hide(string(f.Data)))
	}
	return f
}
