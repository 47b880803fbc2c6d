package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// UndeliveredArgs asks to tell the owner that something did not arrive.
type UndeliveredArgs struct {
	OutboxID uuid.UUID `json:"out"`
}

// Kind names the job.
func (UndeliveredArgs) Kind() string { return "undelivered" }

// InsertOpts puts it on its queue.
func (UndeliveredArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20}
}

// UndeliveredNotifier tells the owner that an outbox row did not arrive.
type UndeliveredNotifier interface {
	NotifyUndelivered(ctx context.Context, out uuid.UUID) error
}
