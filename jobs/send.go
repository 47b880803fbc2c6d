package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// SendArgs asks to send a row of outbox.
type SendArgs struct {
	OutboxID uuid.UUID `json:"outbox"`
}

// Kind names the job.
func (SendArgs) Kind() string { return "send" }

// InsertOpts sets the queue, and attempts for about an hour, for which the homeserver may be away.
func (SendArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 60, Priority: 1}
}

// Sender sends an outbox row. Sending it again does not repeat the event. last says that no other attempt follows.
type Sender interface {
	Send(ctx context.Context, out uuid.UUID, last bool) error
}
