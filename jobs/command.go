package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// CommandArgs asks to carry out what the owner wrote in the admin room.
type CommandArgs struct {
	MessageID int64 `json:"message"`
}

// Kind names the job.
func (CommandArgs) Kind() string { return "command" }

// InsertOpts puts it on its queue.
func (CommandArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// Commander carries out a command. last says that no other attempt follows.
type Commander interface {
	Command(ctx context.Context, message int64, last bool) error
}
