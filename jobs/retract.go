package jobs

import (
	"context"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
	"maunium.net/go/mautrix/id"

	"multis/store"
)

// RetractArgs asks to redact an event that multis sent, because a message that it quoted or answered was deleted.
type RetractArgs struct {
	OutboxID uuid.UUID `json:"outbox"`
}

// Kind names the job.
func (RetractArgs) Kind() string { return "retract" }

// InsertOpts sets the queue and the attempts.
func (RetractArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 60}
}

// Retractor redacts the event of an outbox row.
type Retractor interface {
	Retract(ctx context.Context, out uuid.UUID) error
}

// MarkSent stores the event of a message that was sent. It enqueues the deletion of the event if the message's content
// was deleted before multis knew that the homeserver had accepted it, because the process was killed or the response was
// lost. If whoever deleted it could not take it back, and for a draft that was withdrawn meanwhile, it notifies the
// owner.
func MarkSent(ctx context.Context, tx store.Tx, out uuid.UUID, event id.EventID, room id.RoomID) error {
	late, err := store.MarkSent(ctx, tx, out, event, room)
	switch {
	case err != nil:
		return err
	case late.IsErased:
		return Enqueue(ctx, tx, RetractArgs{OutboxID: out})
	case late.IsKept:
		return Enqueue(ctx, tx, NoticeArgs{Topic: TopicReplyKept, SubjectID: int64(late.ChatID)})
	case late.IsWithdrawn:
		return Enqueue(ctx, tx, NoticeArgs{Topic: TopicDraftArrived, SubjectID: int64(late.ChatID)})
	default:
		return nil
	}
}
