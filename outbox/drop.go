package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// refuse handles a row that the gate refuses, depending on the reason: the row waits, is moved to another room if it is a
// notice, or is dropped.
func (b *Box) refuse(ctx context.Context, tx store.Tx, o store.OutboxMessage, chat store.Chat, d policy.Decision) error {
	switch {
	case o.Purpose == policy.PurposeNotice:
		return b.moveNotice(ctx, tx, o, d)
	case d.Code.LacksRoom():
		return waitForRoom(b.now().Sub(o.CreatedAt), d)
	case d.Code == policy.CodeRestored, d.Code == policy.CodeSafeMode:
		return jobs.Snooze(pausedWait)
	case d.Code == policy.CodeSecret: // the configuration has changed since the row was queued
		return b.dropLeak(ctx, tx, o, chat, d)
	default:
		return b.drop(ctx, tx, o, d.Code, d.Why)
	}
}

// drop drops a row and enqueues the next one of its chat. The owner is notified if it is one that he released after a restore.
func (b *Box) drop(ctx context.Context, tx store.Tx, o store.OutboxMessage, code policy.Code, why string) error {
	isTold := o.IsErased() || code == policy.CodeSecret || code == policy.CodePartMissing
	if o.Code == policy.CodeRestored && !isTold {
		chat, err := store.ChatByID(ctx, tx, o.ChatID)
		if err != nil {
			return err
		}
		if err := b.NotifyOwner(ctx, tx, Alert,
			fmt.Sprintf("⚠️ **Not sent to %s**, although you released it after the restore: %s `/why` shows when.", text.Escape(chat.Label()),
				why)); err != nil {
			return err
		}
	}
	if err := store.MarkDropped(ctx, tx, o.ID, code, why); err != nil {
		return err
	}
	return enqueueNext(ctx, tx, o)
}

// waitForRoom returns jobs.Snooze while the room of a chat is being replaced, and a final error once a row is too old for that.
func waitForRoom(age time.Duration, d policy.Decision) error {
	if age < policy.RoomReplacementTimeout {
		return jobs.Snooze(roomWait(age))
	}
	return jobs.Permanent(errors.New(d.Why))
}
