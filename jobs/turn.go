package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// TurnArgs asks to answer the messages that wait in a chat. Each message enqueues one; the first to run answers all that wait, and the
// others find nothing to do.
type TurnArgs struct {
	ChatID store.ChatID `json:"chat"`
	// At is when the turn begins at the earliest; zero for now.
	At time.Time `json:"at,omitzero"`
}

// Kind names the job.
func (TurnArgs) Kind() string { return "turn" }

// InsertOpts sets the queue, the time, and attempts for about half a minute.
func (a TurnArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueChat, MaxAttempts: 5, ScheduledAt: a.At}
}

// Turner answers the messages that wait in a chat. attempt identifies this attempt (Attempt.ID); last says that no other follows.
type Turner interface {
	Turn(ctx context.Context, chat store.ChatID, attempt string, last bool) error
}
