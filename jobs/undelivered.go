package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// UndeliveredArgs asks to notify the owner that a message was not delivered.
type UndeliveredArgs struct {
	OutboxID uuid.UUID `json:"outbox"`
}

// Kind names the job.
func (UndeliveredArgs) Kind() string { return "undelivered" }

// InsertOpts sets the queue and the attempts.
func (UndeliveredArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20}
}

// UndeliveredNotifier notifies the owner that an outbox row was not delivered.
type UndeliveredNotifier interface {
	NotifyUndelivered(ctx context.Context, out uuid.UUID) error
}
