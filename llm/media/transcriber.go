package media

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// Inbox receives the result of a transcription.
type Inbox interface {
	// StoreTranscript stores the transcript and decides what is done with the message, as for a text message.
	StoreTranscript(ctx context.Context, tx store.Tx, message store.MessageID, transcript string) error
	// FailTranscription stores the reason why there is no transcript.
	FailTranscription(ctx context.Context, tx store.Tx, message store.MessageID, why string) error
}

// TranscriberOptions configures a Transcriber.
type TranscriberOptions struct {
	Store *store.Store
	Files Files
	// Model is the speech-to-text model.
	Model    llm.Transcriber
	Inbox    Inbox
	Defaults policy.Defaults
	// Notify queues a notice for the admin room.
	Notify func(ctx context.Context, tx store.Tx, markdown string) error
}

// Transcriber turns voice notes into text.
type Transcriber struct{ o TranscriberOptions }

// NewTranscriber returns a Transcriber.
func NewTranscriber(o TranscriberOptions) *Transcriber { return &Transcriber{o} }

// Transcribe transcribes one voice note and passes the text to the inbox. If that fails and is not tried again, the inbox gets the reason.
// Transcribe skips a message that was deleted or is transcribed already.
func (t *Transcriber) Transcribe(ctx context.Context, message store.MessageID, last bool) error {
	m, err := store.MessageByID(ctx, t.o.Store.DB(), message)
	if errors.Is(err, store.ErrNotFound) || (err == nil && (m.Action != policy.ActionTranscribe || m.Attachment == nil)) {
		return nil
	}
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, t.o.Store.DB(), m.ChatID)
	if err != nil {
		return err
	}
	said, err := t.transcript(ctx, chat, m)
	var overBudget *llm.OverBudgetError
	refused := errors.As(err, &overBudget)
	if err != nil && !last && !refused && !jobs.IsPermanent(err) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return t.o.Store.InTx(ctx, func(tx store.Tx) error {
		if err == nil {
			return t.o.Inbox.StoreTranscript(ctx, tx, m.ID, said)
		}
		zerolog.Ctx(ctx).Warn().Err(err).Int64("message_id", int64(m.ID)).Msg("Could not transcribe a voice note")
		if refused && overBudget.FirstToday {
			if err := t.o.Notify(ctx, tx, overBudgetText(overBudget, chat)); err != nil {
				return err
			}
		}
		return t.o.Inbox.FailTranscription(ctx, tx, m.ID, strings.TrimSuffix(jobs.Cause(err).Error(), "."))
	})
}

// overBudgetText tells the owner which cap was reached, that of a chat or that of the day.
func overBudgetText(over *llm.OverBudgetError, chat store.Chat) string {
	if over.Cap == policy.CapChat {
		return "💶 Today's budget of the chat **" + text.Escape(chat.Label()) +
			"** is used up, so I don't transcribe its voice notes until midnight."
	}
	return "💶 Today's budget is used up, so I don't transcribe voice notes until midnight."
}

// errSilence is returned if a recording has no speech.
var errSilence = errors.New("nobody speaks in it")

// transcript downloads a recording and returns its transcript, unless its chat is off.
func (t *Transcriber) transcript(ctx context.Context, chat store.Chat, m store.Message) (string, error) {
	as := policy.AsOwner
	if chat.Kind == policy.KindAdmin {
		as = policy.AsBot
	} else if chat.IsOff(t.o.Defaults) {
		return "", jobs.Permanent(errors.New("the chat is off"))
	}
	var data bytes.Buffer
	data.Grow(min(m.Attachment.Size, llm.MaxAudioBytes))
	if err := t.o.Files.Fetch(ctx, as, *m.Attachment, llm.MaxAudioBytes, &data); err != nil {
		return "", err
	}
	said, err := t.o.Model.Transcribe(ctx, llm.Audio{
		Data:    data.Bytes(),
		MIME:    m.Attachment.MIME,
		Length:  m.Attachment.Duration(),
		Purpose: "speech",
		Chat:    m.ChatID,
	})
	if err == nil && isSilence(said, m.Attachment.Duration()) {
		return "", jobs.Permanent(errSilence)
	}
	return said, err
}
