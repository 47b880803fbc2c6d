package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// CommandArgs asks to carry out a command that was written in the admin room.
type CommandArgs struct {
	MessageID store.MessageID `json:"message"`
}

// Kind names the job.
func (CommandArgs) Kind() string { return "command" }

// InsertOpts sets the queue and the attempts.
func (CommandArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// Commander carries out a command. last says that no other attempt follows.
type Commander interface {
	HandleCommand(ctx context.Context, message store.MessageID, last bool) error
}
