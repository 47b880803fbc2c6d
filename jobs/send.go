package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// SendArgs asks to send one outbox row.
type SendArgs struct {
	OutboxID uuid.UUID `json:"out"`
}

// Kind names the job.
func (SendArgs) Kind() string { return "send" }

// InsertOpts puts it on its queue. A homeserver may be away for about an hour before a send is given up.
func (SendArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 60, Priority: 1}
}

// Sender sends an outbox row, once. last says that no other attempt follows.
type Sender interface {
	Send(ctx context.Context, out uuid.UUID, last bool) error
}
