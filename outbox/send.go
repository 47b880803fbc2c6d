package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/internal/trace"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Send asks the gate again and sends one row. It may be repeated. last says that no other attempt follows: then a row
// that cannot be sent is marked as failed, because a queued row blocks all later rows of its chat.
func (b *Box) Send(ctx context.Context, outboxID uuid.UUID, last bool) error {
	err := b.send(ctx, outboxID)
	if err == nil || jobs.IsSnooze(err) || (!last && !jobs.IsPermanent(err)) {
		return err
	}
	return b.giveUp(ctx, outboxID, err)
}

// send sends a row that the gate allows, and enqueues the next one of its chat.
func (b *Box) send(ctx context.Context, outboxID uuid.UUID) error {
	o, room, err := b.recheck(ctx, outboxID)
	if err != nil {
		return err
	}
	if room == "" {
		return nil
	}
	stopped, asked, err := b.askHooks(ctx, o)
	if err != nil {
		return err
	}
	if stopped {
		return nil
	}
	if asked { // the hooks took a while, so everything may have changed
		o, room, err = b.recheck(ctx, outboxID)
		if err != nil {
			return err
		}
		if room == "" {
			return nil
		}
	}
	sending, span := trace.Start(ctx, "send", trace.Code("multis.purpose", o.Purpose), trace.Number("multis.chat.id", int64(o.ChatID)))
	event, err := b.sender.Send(sending, o, room)
	span.End(err)
	if err != nil {
		return err
	}
	return b.store.InTx(ctx, func(tx store.Tx) error {
		if err := jobs.MarkSent(ctx, tx, o.ID, event, room); err != nil {
			return err
		}
		return enqueueNext(ctx, tx, o)
	})
}

// recheck asks the gate immediately before a row is sent. It returns the room to send to; empty if there is nothing to
// send. A file is searched for secrets before the transaction, because that takes long, and the transaction locks the
// chat. The file of a row to a contact never changes.
func (b *Box) recheck(ctx context.Context, outboxID uuid.UUID) (o store.OutboxMessage, room id.RoomID, err error) {
	if o, err = store.OutboxMessageByID(ctx, b.store.DB(), outboxID); err != nil {
		return o, "", err
	}
	fileLeaks, err := fileLeaksSecret(ctx, b.store.DB(), o)
	if err != nil {
		return o, "", err
	}
	err = b.store.InTx(ctx, func(tx store.Tx) error {
		// Lock the chat before the row, as all code does that locks both.
		chat, err := store.LockChatShared(ctx, tx, o.ChatID)
		if err != nil {
			return err
		}
		if o, err = store.LockOutboxMessage(ctx, tx, outboxID); err != nil {
			return err
		}
		room = ""
		if o.State != store.OutboxQueued {
			return nil
		}
		if o.IsErased() {
			return b.drop(ctx, tx, o, policy.CodeQuoteDeleted, policy.CodeQuoteDeleted.Sentence())
		}
		if broken, err := store.HasBrokenPart(ctx, tx, o); err != nil {
			return err
		} else if broken {
			return b.drop(ctx, tx, o, policy.CodePartMissing, policy.CodePartMissing.Sentence())
		}
		if earlier, err := store.HasEarlierQueued(ctx, tx, o); err != nil {
			return err
		} else if earlier {
			return jobs.Snooze(orderWait(b.now().Sub(o.CreatedAt)))
		}
		var c content
		if o, c, err = readContent(ctx, tx, o); err != nil {
			return err
		}
		decision, err := b.check(ctx, tx, chat, o, c, fileLeaks)
		if err != nil {
			return err
		}
		if !decision.Allow {
			return b.refuse(ctx, tx, o, chat, decision)
		}
		withdrawn, err := b.withdrawApproved(ctx, tx, o)
		if err != nil {
			return err
		}
		if withdrawn {
			return nil
		}
		delivery := chat.DeliveryIn(b.settings.Defaults) // which may have been changed since the row was queued
		switch {
		case delivery.IsShadow(o.Purpose):
			return b.drop(ctx, tx, o, policy.CodeShadow, policy.CodeShadow.Sentence())
		case delivery.NeedsApproval(o.Purpose) && o.IsFirst():
			return b.makeDraft(ctx, tx, o)
		}
		room = *chat.RoomID
		return nil
	})
	return o, room, err
}

// giveUp marks a row as failed and notifies the owner. If that fails, it returns the error, so that the job is tried again.
func (b *Box) giveUp(ctx context.Context, outboxID uuid.UUID, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTimeout)
	defer cancel()
	zerolog.Ctx(ctx).Warn().Err(cause).Stringer("outbox_id", outboxID).Msg("Gave up on an event")
	return b.store.InTx(ctx, func(tx store.Tx) error {
		o, err := store.OutboxMessageByID(ctx, tx, outboxID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		failed, err := store.MarkFailed(ctx, tx, outboxID, jobs.Cause(cause).Error())
		if err != nil {
			return err
		}
		if !failed {
			return nil
		}
		if err := enqueueNext(ctx, tx, o); err != nil {
			return err
		}
		if !needsNotice(o) {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.UndeliveredArgs{OutboxID: outboxID})
	})
}

// enqueueNext enqueues the oldest queued row of a chat if it waited for o, which was sent, dropped or given up.
func enqueueNext(ctx context.Context, tx store.Tx, o store.OutboxMessage) error {
	nextID, err := store.NextQueued(ctx, tx, o)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: nextID})
}

// orderWait returns the delay of a row, by its age, while an older row of its chat is queued. Usually enqueueNext
// enqueues the row earlier; it does not if the older row's process died or did not see this row. Shorter delays would
// slow down a long backlog.
func orderWait(age time.Duration) time.Duration {
	const firstWait = 200 * time.Millisecond
	if age < firstWait {
		return firstWait
	}
	return 10 * time.Second
}

// roomWait returns the delay of a row whose chat has no room. It grows with the age of the row.
func roomWait(age time.Duration) time.Duration {
	return min(max(age/8, 200*time.Millisecond), 10*time.Second)
}
