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
	target := e.Redacted
	if target == "" {
		return nil
	}
	var keepsReplies bool
	if e.chat.Kind == policy.KindAdmin {
		keepsReplies = e.refusal(b.inbox.settings.Bot) != "" || !b.inbox.settings.mayAnswer(e.author, e.Sender)
	}
	return b.redact(ctx, deletion{
		chat:         *e.chat,
		target:       target,
		at:           e.at,
		actor:        e.author.Actor(),
		keepsReplies: keepsReplies,
	})
}

// deletion is the deletion of a message.
type deletion struct {
	chat   store.Chat
	target id.EventID
	at     time.Time
	// actor is who deleted it, for the audit log; empty for nobody in particular.
	actor string
	// keepsReplies is true in an admin room if the person may not write to contacts: what the message sent to a contact
	// stays, and the owner gets a notice.
	keepsReplies bool
}

// redact empties a deleted message and the stored messages that quote it. It also deletes, from their rooms, the messages
// of multis that quote it and, with Settings.DeleteAnswers, the answer to it.
func (b *batch) redact(ctx context.Context, d deletion) error {
	b.recordChange(d.chat)
	b.markThread(d.chat) // its card may be gone, and nobody waits if nothing is left
	if err := store.SetActor(ctx, b.tx, d.actor); err != nil {
		return err
	}
	if d.keepsReplies {
		kept, err := store.KeepReplies(ctx, b.tx, d.chat.ID, d.target)
		if err != nil {
			return err
		}
		for _, contact := range kept {
			b.jobs = append(b.jobs, jobs.NoticeArgs{Topic: jobs.TopicReplyKept, SubjectID: int64(contact)})
		}
	}
	off := b.inbox.isOff(d.chat)
	if !off { // push or sync may bring the message after its redaction; marked as processed, it is not stored then
		if _, err := store.MarkProcessed(ctx, b.tx, []id.EventID{d.target}); err != nil {
			return err
		}
		if b.newEvents[d.target] {
			b.newEvents[d.target] = false
		}
	}
	var retracted []uuid.UUID
	var err error
	if b.inbox.settings.DeleteAnswers && d.chat.Kind != policy.KindAdmin && !off {
		if retracted, err = store.EraseAnswers(ctx, b.tx, d.chat.ID, d.target); err != nil {
			return err
		}
	}
	if err := store.DeleteRating(ctx, b.tx, d.chat.ID, d.target); err != nil {
		return err
	}
	if err := b.noticeSchedules(ctx, d); err != nil {
		return err
	}
	quotes, err := store.RedactMessage(ctx, b.tx, d.chat.ID, d.target, d.at)
	if err != nil {
		return err
	}
	retracted = append(retracted, quotes...)
	for _, out := range retracted {
		b.jobs = append(b.jobs, jobs.RetractArgs{OutboxID: out})
	}
	if err := store.AuditRetractions(ctx, b.tx, retracted); err != nil {
		return err
	}
	return store.SetActor(ctx, b.tx, "") // later changes in the batch are not this author's
}

// noticeSchedules notifies the owner of the schedules that go with a deleted message.
func (b *batch) noticeSchedules(ctx context.Context, d deletion) error {
	if d.chat.Kind != policy.KindAdmin {
		return nil
	}
	gone, err := store.SchedulesOfMessage(ctx, b.tx, d.chat.ID, d.target)
	for _, schedule := range gone {
		b.jobs = append(b.jobs, jobs.NoticeArgs{Topic: jobs.TopicScheduleDeleted, SubjectID: int64(schedule)})
	}
	return err
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
