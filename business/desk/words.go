package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"strings"

	"multis/bridgebridge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Answers are the owner's answers, which people send by their numbers.
type Answers interface {
	// ByNumber returns an answer for a contact with its variables replaced, or store.ErrNotFound. An empty name leaves the name out.
	ByNumber(ctx context.Context, number int64, name string) (string, error)
	// LearnWords keeps the words of a contact's message as words of the passage that the owner picked for it.
	LearnWords(ctx context.Context, tx store.Tx, asked store.MessageID, picked store.Citation) error
}

// typedText returns what the author of a message wrote: its text, or the caption of its file. For a voice note with a
// transcript it is the transcript.
func typedText(m store.Message) string {
	if m.Attachment == nil {
		return m.Body
	}
	return bridgebridge.CaptionOf(bridgebridge.MessageKind(m.Kind), m.Body, m.Attachment.Name)
}

// voiceNote stands before the transcript of a voice note, and in place of a missing one.
const voiceNote = "[voice note]"

// shownText returns a message of a chat as people in the room read it. A transcript may be wrong, so it is marked as one.
func shownText(m store.Message) string {
	if m.Kind != string(bridgebridge.Voice) || strings.HasPrefix(m.Body, voiceNote) {
		return m.Body
	}
	return voiceNote + " " + m.Body
}

// TakesFile reports whether the file of a message in a thread goes to the contact: the message is no note, and its author may answer.
func (d *Desk) TakesFile(m store.Message) bool {
	return m.Attachment != nil && m.Code != policy.CodeNote && !policy.IsNote(typedText(m)) && d.MayAnswer(m)
}

// unknownType is the media type of a file whose type is not known.
const unknownType = "application/octet-stream"

// typeOf returns the type of a file as its sender named it, or unknownType if that is not of the form type/subtype.
func typeOf(named string) string {
	kind, _, err := mime.ParseMediaType(named)
	if err != nil {
		return unknownType
	}
	if !strings.Contains(kind, "/") {
		return unknownType
	}
	return named
}

// FileOf returns the file of a message as it is sent to a contact.
func FileOf(m store.Message, data []byte) *outbox.File {
	return &outbox.File{
		Name: cmp.Or(m.Attachment.Name, "file"), MIME: typeOf(m.Attachment.MIME), Data: data,
		Voice: m.Kind == string(bridgebridge.Voice), Millis: m.Attachment.Millis,
	}
}

// replyText returns what a message in a thread says to the contact: its text, its caption, or the answer with its number.
// problem says why it cannot be sent, as Markdown; empty if it can. A voice note has no words beside it.
func (d *Desk) replyText(ctx context.Context, chat store.Chat, m store.Message) (words, problem string, err error) {
	if m.Kind == string(bridgebridge.Voice) {
		return "", "", nil
	}
	words = typedText(m)
	number, isNumber := policy.CannedNumber(words)
	if !isNumber || d.Answers == nil {
		return words, "", nil
	}
	name := ""
	if chat.Kind == policy.KindDM {
		name = bridgebridge.DisplayName(chat.Name)
	}
	words, err = d.Answers.ByNumber(ctx, number, name)
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Sprintf("there is no answer %d (`/answers` in the admin room lists them)", number), nil
	}
	return words, "", err
}
