package bridgebridge

import (
	"bytes"
	"encoding/json"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// MessageKind says what sort of message an event is.
type MessageKind string

// The kinds of messages.
const (
	Text      MessageKind = "text"
	Notice    MessageKind = "notice"
	Image     MessageKind = "image"
	Video     MessageKind = "video"
	Audio     MessageKind = "audio"
	Voice     MessageKind = "voice"
	Document  MessageKind = "file"
	Gallery   MessageKind = "gallery"
	Sticker   MessageKind = "sticker"
	Location  MessageKind = "location"
	Call      MessageKind = "call"
	Reaction  MessageKind = "reaction"
	Encrypted MessageKind = "encrypted"
	Other     MessageKind = "other"
)

// Message is the content of an event.
type Message struct {
	Kind     MessageKind
	Text     string     // the stored line: the words, with a placeholder for a file or the like, as in "[photo] my cat"
	Notice   bool       // an m.notice, the message type of bots
	ReplyTo  id.EventID // the message that it replies or reacts to; empty for none
	Thread   id.EventID // the message that its thread began with; empty if it is in no thread
	Replaces id.EventID // the message it is an edit of; the caller checks that both have the same sender; empty for none
	File     *File      // the file it carries; nil for none

	words string
}

// Words returns what the author wrote; empty for a sticker, a call, a reaction, or a file without a caption.
func (m Message) Words() string { return m.words }

// WithText returns the message with the text of a later edit.
func (m Message) WithText(text string) Message {
	m.Text = text
	if m.Kind == Text || m.Kind == Notice {
		m.words = text
	}
	return m
}

// messageContent is the part of a message's content that is read.
type messageContent struct {
	MsgType   event.MessageType   `json:"msgtype"`
	Body      string              `json:"body"`
	FileName  string              `json:"filename"`
	URL       id.ContentURIString `json:"url"`
	Encrypted *encryptedFile      `json:"file"`
	Info      fileInfo            `json:"info"`
	Voice     json.RawMessage     `json:"org.matrix.msc3245.voice"`
	Audio     audioInfo           `json:"org.matrix.msc1767.audio"`
	Caption   string              `json:"com.beeper.gallery.caption"`
	Action    json.RawMessage     `json:"com.beeper.action_message"`
	RelatesTo *event.RelatesTo    `json:"m.relates_to"`
	New       *messageContent     `json:"m.new_content"`
}

// ParseMessage reads a message, a sticker or a reaction. For an edit it reads the new text, for a reply the text without the quote that
// old clients prepend. An encrypted event gives the kind Encrypted, an unknown or invalid one the kind Other; both have no words.
func ParseMessage(evt *event.Event) Message {
	content := decode[messageContent](evt)
	switch evt.Type.Type {
	case event.EventEncrypted.Type:
		return Message{Kind: Encrypted, ReplyTo: content.RelatesTo.GetReplyTo(), Replaces: content.RelatesTo.GetReplaceID()}
	case event.EventReaction.Type:
		return Message{Kind: Reaction, Text: content.RelatesTo.GetAnnotationKey(), ReplyTo: content.RelatesTo.GetAnnotationID()}
	case event.EventSticker.Type:
		return Message{Kind: Sticker, Text: placeholder("sticker", content.Body), ReplyTo: content.RelatesTo.GetReplyTo()}
	case event.EventMessage.Type:
		return readContent(content)
	default:
		return Message{Kind: Other}
	}
}

func readContent(content messageContent) Message {
	replaces := content.RelatesTo.GetReplaceID()
	if replaces != "" && content.New != nil {
		content = *content.New
	} else if replaces != "" {
		content.Body = strings.TrimPrefix(content.Body, "* ")
	}
	msg := Message{
		Kind: content.kind(), Notice: content.MsgType == event.MsgNotice, ReplyTo: content.RelatesTo.GetReplyTo(), Thread: content.RelatesTo.GetThreadParent(), Replaces: replaces,
		words: strings.TrimSpace(content.words()), File: content.file(),
	}
	switch msg.Kind {
	case Text, Notice:
		msg.Text = msg.words
	case Image:
		msg.Text = placeholder(photo, msg.words)
	case Voice:
		msg.Text = placeholder("voice note", msg.words)
	case Document:
		msg.Text = placeholder("file "+content.fileName(), msg.words)
	case Location, Call, Other:
		msg.Text = placeholder(string(msg.Kind), content.Body)
	default:
		msg.Text = placeholder(string(msg.Kind), msg.words)
	}
	return msg
}

func (c messageContent) kind() MessageKind {
	if len(c.Action) > 0 && string(c.Action) != "null" {
		return Call // the only action so far: a bridge reports a call
	}
	switch c.MsgType {
	case event.MsgText, event.MsgEmote:
		return Text
	case event.MsgNotice:
		return Notice
	case event.MsgImage:
		return Image
	case event.MsgVideo:
		return Video
	case event.MsgAudio:
		if len(c.Voice) > 0 {
			return Voice
		}
		return Audio
	case event.MsgFile:
		return Document
	case event.MsgBeeperGallery:
		return Gallery
	case event.MsgLocation:
		return Location
	default:
		return Other
	}
}

// words returns what the author typed. The body of a file is a caption only if it has a separate file name.
func (c messageContent) words() string {
	switch c.kind() {
	case Text, Notice:
		if c.RelatesTo.GetReplyTo() != "" {
			return event.TrimReplyFallbackText(c.Body)
		}
		return c.Body
	case Image, Video, Audio, Voice, Document:
		if c.FileName != "" && c.FileName != c.Body {
			return c.Body
		}
		return ""
	case Gallery:
		return c.Caption
	default:
		return ""
	}
}

// placeholder returns "[what] words" for a message that is not only text.
func placeholder(what, words string) string {
	return strings.TrimSpace("[" + strings.TrimSpace(what) + "] " + strings.TrimSpace(words))
}

// photo begins the placeholder of a picture.
const photo = "photo"

// WithDescription returns the line of a stored picture with what it shows in its placeholder: "[photo: a red canoe] is it broken?". shows must not have a
// closing bracket.
func WithDescription(line, shows string) string {
	return placeholder(photo+": "+shows, CaptionOf(Image, line, ""))
}

// WithoutDescription returns the line of a stored message without what its picture shows.
func WithoutDescription(kind MessageKind, line string) string {
	if kind != Image || DescriptionOf(line) == "" {
		return line
	}
	return placeholder(photo, CaptionOf(Image, line, ""))
}

// DescriptionOf returns what a stored picture shows; empty if it has no description yet.
func DescriptionOf(line string) string {
	shows, _ := splitPhoto(line)
	return shows
}

// splitPhoto returns what a stored picture shows, and its caption. A line without a placeholder is the caption.
func splitPhoto(line string) (shows, caption string) {
	placeholder, caption, found := strings.Cut(line, "]")
	rest, isPhoto := strings.CutPrefix(placeholder, "["+photo)
	if !found || !isPhoto {
		return "", line
	}
	return strings.TrimPrefix(rest, ": "), caption
}

// IsPicture reports whether the message has a picture that can be looked at.
func (m Message) IsPicture() bool { return m.Kind == Image && m.File != nil }

// HasUnreadFile reports whether the message has a picture, a video, a recording or a file, whose content multis does not read. transcribes says that voice notes
// are transcribed.
func (m Message) HasUnreadFile(transcribes bool) bool {
	switch m.Kind {
	case Image, Video, Audio, Document, Gallery:
		return true
	case Voice:
		return !transcribes && m.words == ""
	default:
		return false
	}
}

// ThreadOf returns the event that the thread of an event began with; empty if it is in no thread. An encrypted event says it in plain text.
func ThreadOf(evt *event.Event) id.EventID {
	if raw := evt.Content.VeryRaw; len(raw) > 0 && !bytes.Contains(raw, []byte(event.RelThread)) {
		return "" // most events: they need not be read for this
	}
	return decode[messageContent](evt).RelatesTo.GetThreadParent()
}

// CaptionOf returns what the author of a stored message wrote: its line without the placeholder for a file. A line without one is returned as it is.
func CaptionOf(kind MessageKind, line, fileName string) string {
	what := string(kind)
	switch kind {
	case Image:
		_, caption := splitPhoto(line)
		return strings.TrimSpace(caption)
	case Voice:
		what = "voice note"
	case Document:
		what = "file " + fileName
	default:
	}
	caption, _ := strings.CutPrefix(line, placeholder(what, ""))
	return strings.TrimSpace(caption)
}
