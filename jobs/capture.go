package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// CaptureArgs asks to take notes of what was said in a chat since the last time.
type CaptureArgs struct {
	Chat int64 `json:"chat"`
}

// Kind names the job.
func (CaptureArgs) Kind() string { return "capture" }

// InsertOpts puts it on its queue, once for each chat. What fails is looked at again later, by the next RememberArgs.
func (CaptureArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: active()}}
}

// Capturer takes notes. last says that no other attempt follows.
type Capturer interface {
	DueCaptures(ctx context.Context) ([]int64, error)
	Capture(ctx context.Context, chat int64, last bool) error
}

type captureWorker struct {
	river.WorkerDefaults[CaptureArgs]
	capturer Capturer
}

func (w *captureWorker) Timeout(*river.Job[CaptureArgs]) time.Duration { return 5 * time.Minute }

func (w *captureWorker) NextRetry(job *river.Job[CaptureArgs]) time.Time { return backoff(job.Attempt) }

func (w *captureWorker) Work(ctx context.Context, job *river.Job[CaptureArgs]) error {
	return w.capturer.Capture(ctx, job.Args.Chat, job.Attempt >= job.MaxAttempts)
}
