package appservice

import (
	"context"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// judged is a message as policy.Admit judges it.
type judged struct {
	author policy.Author
	sender id.UserID
	msg    bridgebridge.Message
	at     time.Time
	edits  bool // it changes an earlier message
	again  bool // it was judged and counted before: a voice note that was transcribed, a message that was edited while it waits
}

// judge asks the policy what is done with a message of a chat.
func (b *batch) judge(ctx context.Context, chat store.Chat, j judged) (policy.Admission, error) {
	now := b.in.now()
	input := policy.AdmitInput{
		Mode: b.in.mode(chat), Kind: chat.Kind, Author: j.author, Name: b.name, Text: j.msg.Words(), Notice: j.msg.Notice,
		Voice: b.in.rules.Listens && j.msg.Kind == bridgebridge.Voice && j.msg.File != nil, WasFresh: j.again,
		SentAt: j.at, Now: now, Backfill: b.history, Edited: j.edits, MaxAge: b.in.rules.MaxAge, Keywords: b.in.rules.Keywords,
		StoreCap: b.in.rules.StoreCap, SendCap: b.in.rules.SendCap,
	}
	if chat.Kind == policy.KindAdmin {
		return policy.Admit(input), nil
	}
	input.Presence = chat.Presence(b.paused, input.Mode, b.in.rules.OwnerPause, now)
	if j.author.Capped() {
		rates, err := b.rates(ctx, contactKey{chat.ID, j.sender}, now)
		if err != nil {
			return policy.Admission{}, err
		}
		input.Sent = rates.sent
		if !j.again {
			input.Stored = rates.stored
			rates.stored.Minute++
			rates.stored.Day++
		}
	}
	return policy.Admit(input), nil
}

// rates is how many messages of a contact were stored, and how many answers were sent to the contact, in the last minute and day.
type rates struct{ stored, sent policy.Rate }

// contactKey identifies a contact in a batch.
type contactKey struct {
	chat   store.ChatID
	sender id.UserID
}

// rates counts a contact's messages once in a batch. The caller adds those of the batch itself.
func (b *batch) rates(ctx context.Context, contact contactKey, now time.Time) (*rates, error) {
	if r, known := b.counted[contact]; known {
		return r, nil
	}
	var r rates
	var err error
	minute, day := now.Add(-time.Minute), now.Add(-24*time.Hour)
	if r.stored.Minute, r.stored.Day, err = store.CountFromSender(ctx, b.tx, contact.chat, contact.sender, minute, day); err != nil {
		return nil, err
	}
	if r.sent.Minute, r.sent.Day, err = store.CountSent(ctx, b.tx, contact.chat, minute, day, uuid.Nil); err != nil {
		return nil, err
	}
	b.counted[contact] = &r
	return &r, nil
}
