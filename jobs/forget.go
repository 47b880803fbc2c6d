package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// ForgetArgs asks to forget what a forgetting names.
type ForgetArgs struct {
	Forgetting int64 `json:"forgetting"`
}

// Kind names the job.
func (ForgetArgs) Kind() string { return "forget" }

// InsertOpts puts it on its queue, once for each forgetting.
func (ForgetArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 60, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: active()}}
}

// Forgetter forgets, and tells what it did.
type Forgetter interface {
	Forgets(ctx context.Context, forgetting int64) error
}

type forgetWorker struct {
	river.WorkerDefaults[ForgetArgs]
	forgetter Forgetter
}

func (w *forgetWorker) Timeout(*river.Job[ForgetArgs]) time.Duration { return 8 * time.Minute }

func (w *forgetWorker) NextRetry(job *river.Job[ForgetArgs]) time.Time { return backoff(job.Attempt) }

func (w *forgetWorker) Work(ctx context.Context, job *river.Job[ForgetArgs]) error {
	return w.forgetter.Forgets(ctx, job.Args.Forgetting)
}
