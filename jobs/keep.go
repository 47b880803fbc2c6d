package jobs

import (
	"context"
	"time"

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

type keepWorker struct {
	river.WorkerDefaults[KeepArgs]
	keeper Keeper
}

func (w *keepWorker) Timeout(*river.Job[KeepArgs]) time.Duration { return 3 * time.Minute }

func (w *keepWorker) NextRetry(job *river.Job[KeepArgs]) time.Time { return backoff(job.Attempt) }

func (w *keepWorker) Work(ctx context.Context, job *river.Job[KeepArgs]) error {
	return w.keeper.Keep(ctx, job.Args.Message)
}
