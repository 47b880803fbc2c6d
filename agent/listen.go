package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Recordings fetches what was sent, at most limit bytes. What was written is the file only when it returns nil.
type Recordings interface {
	Fetch(ctx context.Context, who policy.SendAs, file store.Attachment, limit int64, w io.Writer) error
}

// Inbox takes in what a voice note says, or why nobody knows.
type Inbox interface {
	Heard(ctx context.Context, tx store.Tx, message int64, text string) error
	Unheard(ctx context.Context, tx store.Tx, message int64, why string) error
}

// ListenerOptions are what a listener works with.
type ListenerOptions struct {
	Store    *store.Store
	Files    Recordings
	Ears     llm.Transcriber
	Inbox    Inbox
	Defaults policy.Defaults
	// Tell writes a notice to the admin room.
	Tell func(ctx context.Context, tx store.Tx, markdown string) error
}

// Listener turns voice notes into words.
type Listener struct{ ListenerOptions }

// Tell writes a notice to the admin room.
func (a *Agent) Tell(ctx context.Context, tx store.Tx, markdown string) error {
	return a.tell(ctx, tx, outbox.Quiet, markdown, nil, nil)
}

// NewListener makes a listener.
func NewListener(o ListenerOptions) *Listener { return &Listener{o} }

// Transcribe turns one voice note into words and has them taken in. last says that no other attempt follows: then the note
// stays what it is, with the reason.
func (l *Listener) Transcribe(ctx context.Context, message int64, last bool) error {
	m, err := store.MessageByID(ctx, l.Store.DB(), message)
	if errors.Is(err, store.ErrNotFound) || (err == nil && (m.Action != policy.ActionListen || m.Attachment == nil)) {
		return nil // done, or deleted
	}
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, l.Store.DB(), m.ChatID)
	if err != nil {
		return err
	}
	text, err := l.hear(ctx, chat, m)
	var over *llm.OverBudgetError
	refused := errors.As(err, &over)
	if err != nil && !last && !refused && !jobs.IsFinal(err) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.Store.InTx(ctx, func(tx store.Tx) error {
		if err == nil {
			return l.Inbox.Heard(ctx, tx, m.ID, text)
		}
		zerolog.Ctx(ctx).Warn().Err(err).Int64("message_id", m.ID).Msg("Could not listen to a voice note")
		if refused && over.First {
			if err := l.Tell(ctx, tx, "💶 Today's budget is used up, so I don't listen to voice notes until midnight."); err != nil {
				return err
			}
		}
		return l.Inbox.Unheard(ctx, tx, m.ID, strings.TrimSuffix(jobs.Cause(err).Error(), "."))
	})
}

// errSilence: there is a recording, and nobody speaks in it.
var errSilence = errors.New("nobody speaks in it")

// hear fetches a recording and has it written down. Of a chat that is off, nothing is.
func (l *Listener) hear(ctx context.Context, chat store.Chat, m store.Message) (string, error) {
	who := policy.AsOwner
	if chat.Kind == policy.KindAdmin {
		who = policy.AsBot
	} else if chat.ModeIn(l.Defaults) == policy.ModeOff {
		return "", jobs.Final(errors.New("the chat is off"))
	}
	var data bytes.Buffer
	data.Grow(min(m.Attachment.Size, llm.MaxAudio))
	if err := l.Files.Fetch(ctx, who, *m.Attachment, llm.MaxAudio, &data); err != nil {
		return "", err
	}
	text, err := l.Ears.Transcribe(ctx, llm.Audio{
		Data: data.Bytes(), MIME: m.Attachment.MIME, Length: m.Attachment.Length(), Purpose: "speech", Chat: m.ChatID,
	})
	if err == nil && strings.TrimSpace(text) == "" {
		return "", jobs.Final(errSilence)
	}
	return text, err
}

// listening tells whether a burst has a voice note whose words are still to come, and there is time left to wait for them.
func (a *Agent) listening(ctx context.Context, chat int64, waiting []store.Message) (bool, error) {
	for _, m := range waiting {
		if a.now().Sub(m.ReceivedAt) > a.BurstMax {
			return false, nil
		}
	}
	return store.Listening(ctx, a.Store.DB(), chat)
}
