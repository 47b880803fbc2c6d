package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"multis/store"
)

// PresentDraftArgs asks to show a draft to the owner, and later to drop it when nobody approved it in time.
type PresentDraftArgs struct {
	OutboxID uuid.UUID `json:"outbox"`
	At       time.Time `json:"at,omitzero"` // not before this time; zero means now
}

// Kind names the job.
func (PresentDraftArgs) Kind() string { return "present_draft" }

// InsertOpts sets the queue, the attempts and the time.
func (a PresentDraftArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20, ScheduledAt: a.At}
}

// DraftPresenter shows a draft to the owner, or drops it when it has expired.
type DraftPresenter interface {
	PresentDraft(ctx context.Context, draft uuid.UUID) error
}

// WithdrawDraftsArgs asks to withdraw the open drafts that cite a document which has changed. It is a periodic job.
type WithdrawDraftsArgs struct{}

// Kind names the job.
func (WithdrawDraftsArgs) Kind() string { return "withdraw_drafts" }

// InsertOpts allows one such job at a time.
func (WithdrawDraftsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// DraftWithdrawer withdraws drafts that cite a document which has changed.
type DraftWithdrawer interface {
	// HasOutdatedDrafts reports whether WithdrawOutdatedDrafts may find any.
	HasOutdatedDrafts(ctx context.Context) (bool, error)
	WithdrawOutdatedDrafts(ctx context.Context) error
}

// AfterChanges returns the jobs for chats in which a message was added, changed or deleted: a turn where messages wait
// for an answer, and a job for each open card of a withdrawn draft and for each message that the contact has forestalled.
func AfterChanges(ctx context.Context, tx store.Tx, chats ...store.ChatID) ([]Args, error) {
	left, err := store.PendingWorkOf(ctx, tx, chats)
	needed := make([]Args, len(left))
	for i, l := range left {
		switch {
		case l.DraftID != nil:
			needed[i] = PresentDraftArgs{OutboxID: *l.DraftID}
		case l.ScheduleID != nil:
			needed[i] = WithdrawScheduleArgs{ScheduleID: *l.ScheduleID}
		default:
			needed[i] = TurnArgs{ChatID: l.ChatID}
		}
	}
	return needed, err
}

// EnqueueForChanges enqueues the jobs of AfterChanges.
func EnqueueForChanges(ctx context.Context, tx store.Tx, chats ...store.ChatID) error {
	needed, err := AfterChanges(ctx, tx, chats...)
	if err != nil {
		return err
	}
	return Enqueue(ctx, tx, needed...)
}
