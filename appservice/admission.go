package appservice

import (
	"context"
	"errors"
	"slices"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// admitInput holds the facts about a message from which admit makes the input of policy.Admit.
type admitInput struct {
	author policy.Author
	sender id.UserID
	msg    bridgebridge.Message
	at     time.Time
	isEdit bool // msg is an edit of a message that no longer waits for an answer
	// wasFresh is true if an earlier decision found the message young enough. isCounted is true if the message was counted then.
	wasFresh  bool
	isCounted bool
}

// admit decides by policy.Admit what is done with a message of a chat.
func (b *batch) admit(ctx context.Context, chat store.Chat, j admitInput) (policy.Admission, error) {
	now := b.inbox.now()
	b.labelByWords(&chat, j)
	input := policy.AdmitInput{
		Mode:               b.inbox.mode(chat),
		Kind:               chat.Kind,
		Author:             j.author,
		Name:               b.state.Name,
		Text:               j.msg.Words(),
		Notice:             j.msg.Notice,
		HasAttachment:      j.msg.HasUnreadFile(b.inbox.settings.CanTranscribe),
		IsViewable:         b.inbox.settings.CanViewPictures && j.msg.IsPicture(),
		Voice:              b.inbox.settings.CanTranscribe && j.msg.Kind == bridgebridge.Voice && j.msg.File != nil,
		WasFresh:           j.wasFresh,
		SentAt:             j.at,
		Now:                now,
		Backfill:           b.history,
		Edited:             j.isEdit,
		MaxAge:             b.inbox.settings.ReplyMaxAge,
		EscalationKeywords: b.inbox.settings.EscalationKeywords,
		StoreCap:           b.inbox.settings.StoreCap,
		SendCap:            b.inbox.settings.SendCap,
		Restore:            b.state.Restore,
	}
	if chat.Kind == policy.KindAdmin {
		return policy.Admit(input), nil
	}
	var err error
	if input.AwaitsReply, err = b.isReplyToQuestion(ctx, chat, j); err != nil {
		return policy.Admission{}, err
	}
	input.Presence = chat.Presence(b.state.Paused, input.Mode, b.inbox.settings.OwnerPause, now)
	if j.author.IsCapped() {
		rates, err := b.rates.load(ctx, b.tx, contactKey{chat.ID, j.sender}, now)
		if err != nil {
			return policy.Admission{}, err
		}
		input.Sent = rates.sent
		if !j.isCounted {
			input.Stored = rates.stored
			rates.stored.Minute++
			rates.stored.Day++
		}
	}
	return policy.Admit(input), nil
}

// isReplyToQuestion reports whether a message such as "ok", which needs no answer otherwise, replies to a question of the assistant.
func (b *batch) isReplyToQuestion(ctx context.Context, chat store.Chat, j admitInput) (bool, error) {
	if j.author != policy.AuthorContact || b.history || !policy.IsAcknowledgement(j.msg.Words(), b.state.Name) {
		return false, nil
	}
	last, err := store.LastClarification(ctx, b.tx, chat.ID, b.inbox.now().Add(-policy.ConversationGap))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return last.Open, err
}

// labelByWords gives a chat the labels whose words occur in a contact's message. Labels may change how the message is
// handled, so it is called first.
func (b *batch) labelByWords(chat *store.Chat, j admitInput) {
	if j.author != policy.AuthorContact || b.history {
		return
	}
	labels := chat.LabelsByWords(b.inbox.settings.Defaults, j.msg.Words())
	if len(labels) == 0 {
		return
	}
	chat.Labels = append(slices.Clone(chat.Labels), labels...)
	for _, c := range b.chats {
		if c.ID == chat.ID {
			c.Labels = chat.Labels // later messages of the batch are decided with the new labels
		}
	}
	if b.labels == nil {
		b.labels = map[store.ChatID][]string{}
	}
	b.labels[chat.ID] = append(b.labels[chat.ID], labels...)
}

// storeFlood stores one empty message for all messages of a flood, with the reason.
func storeFlood(ctx context.Context, tx store.Tx, e incoming, d policy.Admission) error {
	noted, err := store.IsFlooding(ctx, tx, e.chat.ID, e.Sender)
	if err != nil {
		return err
	}
	if noted {
		return nil
	}
	_, err = store.InsertMessage(ctx, tx, store.Message{
		ChatID:  e.chat.ID,
		EventID: e.ID,
		Author:  e.author,
		Sender:  e.Sender,
		Kind:    string(bridgebridge.Other),
		At:      e.at,
		Action:  policy.ActionArchive,
		Code:    d.Code,
		Reason:  d.Why,
	})
	return err
}

// rates are the numbers of messages stored from a contact and of answers sent to the contact, in the last minute and day.
type rates struct{ stored, sent policy.Rate }

// contactKey identifies a contact in a batch.
type contactKey struct {
	chat   store.ChatID
	sender id.UserID
}

// contactRates caches the rates of the contacts of a batch.
type contactRates struct {
	limit    int          // more messages of a contact need not be counted
	expected []contactKey // those that may be asked for, so that all are read at once
	known    map[contactKey]*rates
}

// expect says that the rates of a contact may be asked for.
func (c *contactRates) expect(contact contactKey) {
	if !slices.Contains(c.expected, contact) {
		c.expected = append(c.expected, contact)
	}
}

// load counts a contact's stored messages and answers in the database, once per batch. The caller adds those of the batch itself.
func (c *contactRates) load(ctx context.Context, tx store.Tx, contact contactKey, now time.Time) (*rates, error) {
	if r, known := c.known[contact]; known {
		return r, nil
	}
	c.expect(contact)
	chats := make([]store.ChatID, len(c.expected))
	senders := make([]id.UserID, len(c.expected))
	for i, e := range c.expected {
		chats[i], senders[i] = e.chat, e.sender
	}
	counted, err := store.ContactRates(ctx, tx, chats, senders, now.Add(-time.Minute), now.Add(-24*time.Hour), c.limit)
	if err != nil {
		return nil, err
	}
	if c.known == nil {
		c.known = map[contactKey]*rates{}
	}
	for _, r := range counted {
		c.known[contactKey{r.ChatID, r.Sender}] = &rates{
			stored: policy.Rate{Minute: r.StoredMinute, Day: r.StoredDay},
			sent:   policy.Rate{Minute: r.SentMinute, Day: r.SentDay},
		}
	}
	c.expected = nil
	return c.known[contact], nil
}
