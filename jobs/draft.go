package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// DraftArgs asks to show a draft to the owner, and to end it when nobody says anything.
type DraftArgs struct {
	OutboxID uuid.UUID `json:"out"`
	At       time.Time `json:"at,omitzero"` // not before; zero: now
}

// Kind names the job.
func (DraftArgs) Kind() string { return "draft" }

// InsertOpts puts it on the queue of the commands.
func (a DraftArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20, ScheduledAt: a.At}
}

// DraftPresenter shows a draft, and ends it when its time is over.
type DraftPresenter interface {
	PresentDraft(ctx context.Context, out uuid.UUID) error
}
