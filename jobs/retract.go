package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// RetractArgs asks to redact an event that multis sent, because a message that it quoted or answered was deleted.
type RetractArgs struct {
	OutboxID uuid.UUID `json:"out"`
}

// Kind names the job.
func (RetractArgs) Kind() string { return "retract" }

// InsertOpts sets the queue and the attempts.
func (RetractArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 60}
}

// Retracter redacts the event of an outbox row.
type Retracter interface {
	Retract(ctx context.Context, out uuid.UUID) error
}
