package appservice

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeRedaction deletes the message that an event redacts. It does nothing if the event names no message.
func (b *batch) storeRedaction(ctx context.Context, e incoming) error {
	target := e.Redacts
	if target == "" {
		if c, ok := parseContent[event.RedactionEventContent](ctx, e.Event); ok {
			target = c.Redacts
		}
	}
	if target == "" {
		return nil
	}
	if err := store.SetActor(ctx, b.tx, e.author.Actor()); err != nil {
		return err
	}
	if e.chat.Kind == policy.KindAdmin && (e.refusal(b.inbox.settings.Bot) != "" || !b.inbox.settings.mayAnswer(e.author, e.Sender)) {
		if err := b.keepReplies(ctx, b.tx, e.chat.ID, target); err != nil {
			return err
		}
	}
	if err := b.redact(ctx, *e.chat, target, e.at); err != nil {
		return err
	}
	return store.SetActor(ctx, b.tx, "") // later changes in the batch are not this author's
}

// keepReplies handles the deletion of a message in a thread by somebody who may not write to contacts: the reply that the message sent stays in the
// contact's chat. The owner gets a notice.
func (f *sideEffects) keepReplies(ctx context.Context, tx store.Tx, room store.ChatID, target id.EventID) error {
	kept, err := store.KeepReplies(ctx, tx, room, target)
	for _, contact := range kept {
		f.jobs = append(f.jobs, jobs.NoticeArgs{Topic: jobs.TopicReplyKept, SubjectID: int64(contact)})
	}
	return err
}

// redact empties a deleted message and the stored messages that quote it. It also deletes, from their rooms, the messages of multis that quote it and, with
// Settings.DeleteAnswers, the answer to it.
func (b *batch) redact(ctx context.Context, chat store.Chat, target id.EventID, at time.Time) error {
	off := b.inbox.isOff(chat)
	if !off { // push or sync may bring the message after its redaction; marked as processed, it is not stored then
		if _, err := store.MarkProcessed(ctx, b.tx, []id.EventID{target}); err != nil {
			return err
		}
		if b.newEvents[target] {
			b.newEvents[target] = false
		}
	}
	var retracted []uuid.UUID
	var err error
	if b.inbox.settings.DeleteAnswers && chat.Kind != policy.KindAdmin && !off {
		if retracted, err = store.EraseAnswers(ctx, b.tx, chat.ID, target); err != nil {
			return err
		}
	}
	if err := store.DeleteRating(ctx, b.tx, chat.ID, target); err != nil {
		return err
	}
	b.recordChange(chat)
	quotes, err := store.RedactMessage(ctx, b.tx, chat.ID, target, at)
	if err != nil {
		return err
	}
	retracted = append(retracted, quotes...)
	if err := b.updateThread(ctx, chat); err != nil { // its card may be gone, and nobody waits if nothing is left
		return err
	}
	for _, out := range retracted {
		b.jobs = append(b.jobs, jobs.RetractArgs{OutboxID: out})
	}
	return store.AuditRetractions(ctx, b.tx, retracted)
}

// parseContent returns an event's content as a T; false if the content is not a valid T.
func parseContent[T any](ctx context.Context, evt *event.Event) (*T, bool) {
	if evt.Content.Parsed == nil {
		if err := evt.Content.ParseRaw(evt.Type); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Stringer("event_id", evt.ID).Msg("Cannot read the content of an event")
			return nil, false
		}
	}
	c, ok := evt.Content.Parsed.(*T)
	return c, ok
}
