package appservice

import (
	"context"
	"errors"
	"slices"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// threadRooms returns the rooms of the contacts whose escalations the events are about: messages in their threads, or
// signs on their cards. The chats of these rooms are locked together with those of the events, because both kinds of
// events keep the assistant quiet there.
func threadRooms(ctx context.Context, tx store.Tx, events []bridgebridge.Event) ([]id.RoomID, error) {
	var threads []id.EventID
	for _, evt := range events {
		if evt.Thread != "" && !slices.Contains(threads, evt.Thread) {
			threads = append(threads, evt.Thread)
		}
	}
	if len(threads) == 0 {
		return nil, nil
	}
	return store.ThreadRooms(ctx, tx, threads)
}

// storeThreadPresence keeps the assistant quiet in the chat of a contact as soon as a person replies in the thread of the chat's
// escalation.
func (b *batch) storeThreadPresence(ctx context.Context, e incoming) error {
	if !e.IsTakeover || e.Message.Replaces != "" {
		return nil
	}
	return b.keepQuiet(ctx, e, e.Message.Thread, e.Sign != "")
}

// keepQuiet keeps the assistant quiet in the chat of a contact, because a person who may answer wrote in its thread or
// set a sign on its card. card is the event that begins the thread; any other event is ignored. A reply has an effect in
// a thread whose escalation is over, a sign has none.
func (b *batch) keepQuiet(ctx context.Context, e incoming, card id.EventID, isSign bool) error {
	if e.chat.Kind != policy.KindAdmin || !b.inbox.settings.mayAnswer(e.author, e.Sender) {
		return nil
	}
	escalation, err := store.EscalationByEvent(ctx, b.tx, e.chat.ID, card)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	isCard := escalation.CardEvent != nil && *escalation.CardEvent == card
	if !isCard || escalation.ClosedBy != "" || (isSign && !escalation.IsOpen()) {
		return nil
	}
	return b.markWrote(ctx, escalation.ChatID, e.Sender, e.at)
}

// mayAnswer reports whether a person may write to contacts from a thread.
func (s Settings) mayAnswer(author policy.Author, sender id.UserID) bool {
	return author.MayAnswer(s.OperatorsAnswer && slices.Contains(s.Operators, sender))
}

// markThread records that a chat's escalation threads must be updated. enqueue finds the open escalations, if there are any.
// The admin room and imported history are left out.
func (b *batch) markThread(chat store.Chat) {
	if chat.Kind != policy.KindAdmin && !b.history && !slices.Contains(b.threads, chat.ID) {
		b.threads = append(b.threads, chat.ID)
	}
}

// changeReply enqueues the job that changes, at the contact, what a message in a thread sent. It returns false for a
// message outside of threads.
func (f *sideEffects) changeReply(m store.Message) bool {
	if m.Thread == "" {
		return false
	}
	f.jobs = append(f.jobs, jobs.ChangeReplyArgs{MessageID: m.ID})
	return true
}
