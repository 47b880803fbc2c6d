package outbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store"
	"multis/text"
)

// File is a file to send. The text of its message is the caption, on networks that take captions.
type File struct {
	Name string
	MIME string
	Data []byte
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
	maxPartLength = 1500 // characters of a message that is still read on a phone
	maxParts      = 3
	maxTeaser     = 300 // characters of a text that goes as a file, said with it
	plainText     = "text/plain"
	textFileName  = "message.txt" // of that file
)

// row is one event of a message.
type row struct {
	out  store.OutboxMessage
	c    content
	data []byte
}

// rows returns the events of a message: one, or several parts of a long text, or a file when there would be too many parts.
func (b *Box) rows(chat store.Chat, l Message, name string) ([]row, error) {
	switch {
	case l.File != nil:
		return b.withFile(chat, l, name)
	case l.Purpose == policy.PurposeNotice, l.ReactTo != "":
		return b.single(l, name)
	}
	mark := b.disclosure(l, name)
	limit := maxPartLength
	if chat.Features.MaxText > 0 {
		limit = min(limit, chat.Features.MaxText)
	}
	whole := strings.TrimSpace(l.Text)
	parts := split(whole, limit-len([]rune(mark)))
	if len(parts) > maxParts {
		file := File{Name: textFileName, MIME: plainText, Data: []byte(whole + "\n")}
		short := l
		short.File, short.Text = &file, text.Clip(text.FirstLine(whole), min(maxTeaser, limit-len([]rune(mark))))
		if chat.Features.CheckFile(file.msgType(), policy.FileSpec{MIME: file.MIME, Size: int64(len(file.Data))}) == "" {
			return b.withFile(chat, short, name)
		}
		parts = []string{whole} // the gate says why not
	}
	var rows []row
	for _, part := range parts {
		one := l
		one.Text = part
		r, err := b.single(one, name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

func (b *Box) single(l Message, name string) ([]row, error) {
	o, c, err := b.build(l, name)
	return []row{{out: o, c: c}}, err
}

// withFile returns the event of a file with its caption. Where the network takes no captions, the text is an event before it.
func (b *Box) withFile(chat store.Chat, l Message, name string) ([]row, error) {
	o, c, err := b.build(l, name)
	if err != nil {
		return nil, err
	}
	spec := policy.FileSpec{MIME: l.File.MIME, Size: int64(len(l.File.Data)), Caption: c.Body}
	var rows []row
	caption := c.Body
	if caption != "" && chat.Features.CheckFile(l.File.msgType(), spec) == policy.CodeNoCaptions {
		rows, caption = []row{{out: o, c: c}}, ""
		if o.ID, err = uuid.NewV7(); err != nil {
			return nil, fmt.Errorf("make outbox id: %w", err)
		}
		c.Key = o.ID.String()
	}
	c.MsgType, c.Body, c.FileName = l.File.msgType(), caption, l.File.Name
	if caption == "" {
		c.Body = l.File.Name
	}
	c.Info = &fileInfo{MIME: l.File.MIME, Size: len(l.File.Data)}
	if o.Content, err = json.Marshal(c); err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return append(rows, row{out: o, c: c, data: l.File.Data}), nil
}

// spec returns the file of an event; nil when it has none.
func (c *content) spec() *policy.FileSpec {
	if c.FileName == "" || c.Info == nil {
		return nil
	}
	f := &policy.FileSpec{MIME: c.Info.MIME, Size: int64(c.Info.Size)}
	if c.Body != c.FileName {
		f.Caption = c.Body
	}
	return f
}

// split cuts a text into parts of at most limit characters: between paragraphs if possible, else between lines, sentences or words.
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
