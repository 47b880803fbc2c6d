package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// CaptureArgs asks to take notes of what was said in a chat since the last time.
type CaptureArgs struct {
	ChatID int64 `json:"chat"`
}

// Kind names the job.
func (CaptureArgs) Kind() string { return "capture" }

// InsertOpts puts it on its queue, once for each chat. What fails is looked at again later, by the next FindCapturesArgs.
func (CaptureArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3, UniqueOpts: once()}
}

// Capturer takes notes. last says that no other attempt follows.
type Capturer interface {
	DueCaptures(ctx context.Context) ([]int64, error)
	Capture(ctx context.Context, chat int64, last bool) error
}
