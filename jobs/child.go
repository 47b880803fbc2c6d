package jobs

import (
	"github.com/riverqueue/river"
)

// ChildArgs asks to work on what another task waits for. It has a queue of its own, so that nobody waits behind it, least of all the
// one that waits for it.
type ChildArgs struct {
	TaskID int64 `json:"task"`
}

// Kind names the job.
func (ChildArgs) Kind() string { return "child" }

// InsertOpts puts it on its queue.
func (ChildArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueChild, MaxAttempts: 3}
}
