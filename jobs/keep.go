package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// KeepArgs asks to keep the file that a message carries.
type KeepArgs struct {
	Message int64 `json:"message"`
}

// Kind names the job.
func (KeepArgs) Kind() string { return "keep" }

// InsertOpts puts it on its queue.
func (KeepArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 5, Priority: 3}
}

// Keeper keeps a file.
type Keeper interface {
	Keep(ctx context.Context, message int64) error
}
