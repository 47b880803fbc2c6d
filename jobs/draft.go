package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
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
