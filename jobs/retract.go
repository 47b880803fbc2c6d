package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// RetractArgs asks to delete an event of ours from its room, because what it quoted or answered was deleted.
type RetractArgs struct {
	OutboxID uuid.UUID `json:"out"`
}

// Kind names the job.
func (RetractArgs) Kind() string { return "retract" }

// InsertOpts puts it on its queue.
func (RetractArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 60}
}

// Retracter deletes an event of ours.
type Retracter interface {
	Retract(ctx context.Context, out uuid.UUID) error
}
