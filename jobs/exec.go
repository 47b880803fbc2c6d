package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// ExecArgs asks to run a command of the owner on this machine. Binding is the hash of what the command runs. The command
// is refused if the hash has changed, or if the rules need the PIN by then and PINEntered is false.
type ExecArgs struct {
	TaskID     store.TaskID `json:"task"`
	Binding    string       `json:"binding"`
	PINEntered bool         `json:"pin_entered,omitempty"`
}

// Kind names the job.
func (ExecArgs) Kind() string { return "exec" }

// InsertOpts sets the queue and the attempts. Only the first attempt runs the command; a later one notifies the owner
// that the outcome is unknown.
func (ExecArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAsk, MaxAttempts: 5}
}

// CommandRunner runs a command of the owner.
type CommandRunner interface {
	RunCommand(ctx context.Context, a ExecArgs) error
}
