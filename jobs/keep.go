package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// KeepFileArgs asks to keep the file that a message carries.
type KeepFileArgs struct {
	MessageID int64 `json:"message"`
}

// Kind names the job.
func (KeepFileArgs) Kind() string { return "keep" }

// InsertOpts puts it on its queue.
func (KeepFileArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 5, Priority: 3}
}

// FileKeeper keeps a file.
type FileKeeper interface {
	KeepFile(ctx context.Context, message int64) error
}
