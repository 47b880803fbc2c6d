package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"multis/store"
)

// DraftArgs asks to show a draft to the owner, and later to drop it when nobody approved it in time.
type DraftArgs struct {
	OutboxID uuid.UUID `json:"out"`
	At       time.Time `json:"at,omitzero"` // not before this time; zero means now
}

// Kind names the job.
func (DraftArgs) Kind() string { return "draft" }

// InsertOpts sets the queue, the attempts and the time.
func (a DraftArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20, ScheduledAt: a.At}
}

// DraftPresenter shows a draft to the owner, or drops it when its time is over.
type DraftPresenter interface {
	PresentDraft(ctx context.Context, draft uuid.UUID) error
}

// MovedOn returns the jobs that chats need which may have gone on: a turn where messages wait, and one for each card of a withdrawn draft.
func MovedOn(ctx context.Context, tx store.Tx, chats ...store.ChatID) ([]Args, error) {
	left, err := store.ChatsMovedOn(ctx, tx, chats)
	needed := make([]Args, len(left))
	for i, l := range left {
		needed[i] = TurnArgs{ChatID: l.ChatID}
		if l.DraftID != nil {
			needed[i] = DraftArgs{OutboxID: *l.DraftID}
		}
	}
	return needed, err
}

// EnqueueMovedOn enqueues the jobs of MovedOn.
func EnqueueMovedOn(ctx context.Context, tx store.Tx, chats ...store.ChatID) error {
	needed, err := MovedOn(ctx, tx, chats...)
	if err != nil {
		return err
	}
	return Enqueue(ctx, tx, needed...)
}
