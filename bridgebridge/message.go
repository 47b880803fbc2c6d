package bridgebridge

import (
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
	Poll      MessageKind = "poll"
	Contact   MessageKind = "contact"
	Call      MessageKind = "call"
	Reaction  MessageKind = "reaction"
	Encrypted MessageKind = "encrypted"
	Other     MessageKind = "other"
)

// Message is what multis reads from the content of an event.
type Message struct {
	Kind     MessageKind
	Text     string     // the line that is stored: the author's words, with a placeholder for a file or the like, as in "[photo] my cat"
	Notice   bool       // an m.notice, the message type of bots
	ReplyTo  id.EventID // the event that it replies or reacts to; empty for none
	Thread   id.EventID // the first event of its thread; empty if it is in no thread
	Replaces id.EventID // the event that it edits; empty for none. The caller checks that both have the same sender.
	File     *File      // the file in the message; nil for none

	words string
}

// Words returns what the author wrote; empty for a sticker, a call, a reaction, or a file without a caption.
func (m Message) Words() string { return m.words }

// withText returns the message with the text of a later edit.
func (m Message) withText(text string) Message {
	m.Text = text
	switch m.Kind {
	case Text, Notice:
		m.words = text
	case Image, Video, Audio, Voice, Document:
		m.words = CaptionOf(m.Kind, text, m.fileName())
	default:
	}
	return m
}

// fileName returns the name of the message's file; empty if it has none.
func (m Message) fileName() string {
	if m.File == nil {
		return ""
	}
	return m.File.Name
}

// messageContent is the part of an event's content that parseMessage reads.
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
	Action    actionContent       `json:"com.beeper.action_message"`
	Contact   json.RawMessage     `json:"fi.mau.telegram.contact"`
	RelatesTo *event.RelatesTo    `json:"m.relates_to"`
	New       *messageContent     `json:"m.new_content"`

	pollContent
}

// actionContent is what somebody did in the network's own app: called, or changed how long messages are kept.
type actionContent struct {
	Type string `json:"type"`
}

// current returns the content as it is after an edit.
func (c messageContent) current() messageContent {
	if c.RelatesTo.GetReplaceID() == "" {
		return c
	}
	if c.New != nil {
		return *c.New
	}
	c.Body = strings.TrimPrefix(c.Body, "* ")
	return c
}

// parseMessage reads a message, a sticker or a reaction. For an edit it reads the new text, for a reply the text without the quote that
// old clients prepend. The kind of an encrypted event is Encrypted, that of an unknown or invalid event is Other; both have no words.
func parseMessage(of event.Type, content messageContent) Message {
	switch of.Type {
	case event.EventEncrypted.Type:
		return Message{Kind: Encrypted, ReplyTo: content.RelatesTo.GetReplyTo(), Replaces: content.RelatesTo.GetReplaceID()}
	case event.EventReaction.Type:
		if content.RelatesTo == nil {
			return Message{Kind: Reaction}
		}
		return Message{Kind: Reaction, Text: content.RelatesTo.Key, ReplyTo: content.RelatesTo.EventID}
	case event.EventSticker.Type:
		return Message{Kind: Sticker, Text: placeholder("sticker", content.Body), ReplyTo: content.RelatesTo.GetReplyTo()}
	case event.EventMessage.Type:
		return readContent(content)
	case pollStart, event.EventUnstablePollStart.Type, pollResponse, event.EventUnstablePollResponse.Type:
		return readPoll(of, content)
	default:
		return Message{Kind: Other}
	}
}

func readContent(content messageContent) Message {
	replaces := content.RelatesTo.GetReplaceID()
	content = content.current()
	kind, words := content.kind(), strings.TrimSpace(content.words())
	file, fileName := content.file()
	msg := Message{
		Kind:     kind,
		Notice:   content.MsgType == event.MsgNotice,
		ReplyTo:  content.RelatesTo.GetReplyTo(),
		Thread:   content.RelatesTo.GetThreadParent(),
		Replaces: replaces,
		File:     file,
		words:    words,
	}
	switch msg.Kind {
	case Text, Notice:
		msg.Text = msg.words
	case Image:
		msg.Text = placeholder(photoPlaceholder, msg.words)
	case Voice:
		msg.Text = placeholder("voice note", msg.words)
	case Document:
		msg.Text = placeholder("file "+fileName, msg.words)
	case Poll:
		msg.Text = placeholder(string(msg.Kind), content.pollLine())
	case Location, Contact, Call, Other:
		msg.Text = placeholder(string(msg.Kind), content.Body)
	default:
		msg.Text = placeholder(string(msg.Kind), msg.words)
	}
	return msg
}

// discordCall is what mautrix-discord writes for a call.
const discordCall = "started a call"

func (c messageContent) kind() MessageKind {
	switch {
	case c.Action.Type == string(event.BeeperActionMessageCall), c.MsgType == event.MsgEmote && c.Body == discordCall:
		return Call
	case c.isPoll():
		return Poll
	case len(c.Contact) > 0:
		return Contact
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

// words returns the text that the author typed. The body of a file is a caption only if the file has a separate name.
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

// placeholder returns "[what] words", the line of a message that is not only text.
func placeholder(what, words string) string {
	return strings.TrimSpace("[" + strings.TrimSpace(what) + "] " + strings.TrimSpace(words))
}

// photoPlaceholder is the beginning of the placeholder of a picture.
const photoPlaceholder = "photo"

// WithDescription adds the description of a stored picture to the placeholder in its line: "[photo: a red canoe] is it broken?". shows, the
// description, must not contain a closing bracket.
func WithDescription(line, shows string) string {
	return placeholder(photoPlaceholder+": "+shows, CaptionOf(Image, line, ""))
}

// AuthorsLine returns the line of a stored message with the author's own words only: without the description of a
// picture, and without the names that others may have given to a file, a sticker or a place.
func AuthorsLine(kind MessageKind, line, fileName string) string {
	switch kind {
	case Image:
		if DescriptionOf(line) == "" {
			return line
		}
		return placeholder(photoPlaceholder, CaptionOf(Image, line, ""))
	case Document:
		if !strings.HasPrefix(line, placeholder("file "+fileName, "")) {
			return line
		}
		return placeholder("file", CaptionOf(Document, line, fileName))
	case Sticker, Location, Poll, Contact, Call, Other:
		return placeholder(string(kind), "")
	default:
		return line
	}
}

// DescriptionOf returns the description of a stored picture; empty if it has none yet.
func DescriptionOf(line string) string {
	shows, _ := splitPhoto(line)
	return shows
}

// splitPhoto returns the description of a stored picture, and its caption. A line without a placeholder is only a caption.
func splitPhoto(line string) (shows, caption string) {
	placeholder, caption, found := strings.Cut(line, "]")
	rest, isPhoto := strings.CutPrefix(placeholder, "["+photoPlaceholder)
	if !found || !isPhoto {
		return "", line
	}
	return strings.TrimPrefix(rest, ": "), caption
}

// IsPicture reports whether the message has a picture that a model can look at.
func (m Message) IsPicture() bool { return m.Kind == Image && m.File != nil }

// HasUnreadFile reports whether a person must look at the message in the network's own app: a picture, a video, a recording, a file, a
// place, a contact card, a poll, or what multis does not know or its bridge can only describe. transcribes says whether voice notes are
// transcribed.
func (m Message) HasUnreadFile(transcribes bool) bool {
	switch m.Kind {
	case Image, Video, Audio, Document, Gallery, Location, Contact, Poll, Notice, Other:
		return true
	case Voice:
		return !transcribes && m.words == ""
	default:
		return false
	}
}

// CaptionOf returns the words of the author of a stored message: its line without the placeholder for a file. It returns
// other lines unchanged.
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
