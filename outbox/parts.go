package outbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// File is a file to send. The text of the message is its caption, on networks that support captions.
type File struct {
	Name string
	MIME string
	Data []byte
	// Voice marks a recording as a voice note, and Millis is how long it is; 0 if unknown.
	Voice  bool
	Millis int
	// Width and Height are those of a picture, so that clients leave room for it; 0 if unknown.
	Width, Height int
	// leaks is what Scanned found; nil before.
	leaks *bool
}

// Scanned returns the file with the result of the search for secrets, which takes about a second for a large file. So a
// caller of Queue searches it before its transaction, which locks the chat. The file must not change afterwards. Send
// searches it again, for the secrets of then.
func (f File) Scanned() *File {
	leaks := f.leaksSecret()
	f.leaks = &leaks
	return &f
}

// msgType returns the Matrix message type of the file.
func (f File) msgType() string {
	kind, _, _ := strings.Cut(f.MIME, "/")
	switch kind {
	case "image", "audio", "video":
		return "m." + kind
	default:
		return "m.file"
	}
}

const (
	maxPartLength = 1500 // characters of one part: more is hard to read on a phone
	maxParts      = 3    // a longer text is sent as a file
	maxCaption    = 300  // characters of the text that are the file's caption
	plainText     = "text/plain"
	textFileName  = "message.txt" // the name of that file
)

// row is one event of a message.
type row struct {
	message store.OutboxMessage
	content content
	data    []byte
}

// rows returns the events of a message: one, several for a long text, or a file for a text that would need more than maxParts.
func (b *Box) rows(chat store.Chat, m Message, name string) ([]row, error) {
	switch {
	case m.File != nil:
		return b.fileEvents(chat, m, name)
	case m.Purpose == policy.PurposeNotice, m.ReactTo != "":
		return b.singleEvent(m, name)
	}
	mark := b.disclosure(m, name)
	limit := maxPartLength
	if chat.Features.MaxText > 0 {
		limit = min(limit, chat.Features.MaxText)
	}
	whole := strings.TrimSpace(m.Text)
	parts := split(whole, limit-len([]rune(mark)))
	if len(parts) > maxParts {
		file := File{Name: textFileName, MIME: plainText, Data: []byte(whole + "\n")}
		short := m
		short.File, short.Text = &file, text.Clip(text.FirstLine(whole), min(maxCaption, limit-len([]rune(mark))))
		if chat.Features.CheckFile(file.msgType(), policy.FileSpec{MIME: file.MIME, Size: int64(len(file.Data))}) == "" {
			return b.fileEvents(chat, short, name)
		}
		parts = []string{whole} // the gate refuses it and says why
	}
	var rows []row
	for _, part := range parts {
		partial := m
		partial.Text = part
		r, err := b.singleEvent(partial, name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// singleEvent returns the event of a notice or a reaction. What would be too large, as an edit that has the text twice,
// loses its HTML, and then its end.
func (b *Box) singleEvent(m Message, name string) ([]row, error) {
	o, c, err := b.build(m, name)
	for err == nil && len(o.Content) > maxContent && m.Text != "" {
		if m.HTML == "" {
			m.Text = text.Clip(m.Text, len([]rune(m.Text))/2)
		}
		m.HTML = ""
		o, c, err = b.build(m, name)
	}
	return []row{{message: o, content: c}}, err
}

// fileEvents returns the event of a file with its caption. On networks without captions the text is an event of its own before the file.
func (b *Box) fileEvents(chat store.Chat, m Message, name string) ([]row, error) {
	o, c, err := b.build(m, name)
	if err != nil {
		return nil, err
	}
	spec := policy.FileSpec{MIME: m.File.MIME, Size: int64(len(m.File.Data)), Caption: c.Body}
	var rows []row
	caption := c.Body
	if caption != "" && chat.Features.CheckFile(m.File.msgType(), spec) == policy.CodeNoCaptions {
		rows, caption = []row{{message: o, content: c}}, ""
		if o.ID, err = uuid.NewV7(); err != nil {
			return nil, fmt.Errorf("make outbox id: %w", err)
		}
		c.Key = o.ID.String()
	}
	c.MsgType = m.File.msgType()
	c.Body = caption
	c.FileName = m.File.Name
	if caption == "" {
		c.Body = m.File.Name
	}
	c.Info = &fileInfo{
		MIME:   m.File.MIME,
		Size:   len(m.File.Data),
		Millis: m.File.Millis,
		Width:  m.File.Width,
		Height: m.File.Height,
	}
	if m.File.Voice && c.MsgType == "m.audio" {
		c.Voice, c.Audio = &struct{}{}, &audioInfo{Millis: m.File.Millis}
	}
	if o.Content, err = json.Marshal(c); err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return append(rows, row{message: o, content: c, data: m.File.Data}), nil
}

// fileSpec returns the file of an event; nil when it has none.
func (c *content) fileSpec() *policy.FileSpec {
	if c.FileName == "" || c.Info == nil {
		return nil
	}
	f := &policy.FileSpec{MIME: c.Info.MIME, Size: int64(c.Info.Size)}
	if c.Body != c.FileName {
		f.Caption = c.Body
	}
	return f
}

// split splits a text into parts of at most limit characters: between paragraphs if possible, else between lines, sentences or words.
func split(text string, limit int) []string {
	var parts []string
	for limit > 0 && len([]rune(text)) > limit {
		head := string([]rune(text)[:limit])
		cut := 0
		for _, mark := range []string{"\n\n", "\n", ". ", " "} {
			if at := strings.LastIndex(head, mark); at > 0 {
				cut = at + len(strings.TrimRight(mark, " \n"))
				break
			}
		}
		if cut == 0 {
			cut = len(head)
		}
		if part := strings.TrimSpace(text[:cut]); part != "" {
			parts = append(parts, part)
		}
		text = strings.TrimSpace(text[cut:])
	}
	return append(parts, text)
}
