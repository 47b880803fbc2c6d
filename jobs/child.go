package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// ChildArgs asks to work on what another task waits for. It has a queue of its own, so that nobody waits behind it, least of all the
// one that waits for it.
type ChildArgs struct {
	Task int64 `json:"task"`
}

// Kind names the job.
func (ChildArgs) Kind() string { return "child" }

// InsertOpts puts it on its queue.
func (ChildArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueChild, MaxAttempts: 3}
}

type childWorker struct {
	river.WorkerDefaults[ChildArgs]
	resumer Resumer
}

func (w *childWorker) Timeout(*river.Job[ChildArgs]) time.Duration { return turnTimeout }

func (w *childWorker) NextRetry(job *river.Job[ChildArgs]) time.Time { return backoff(job.Attempt) }

func (w *childWorker) Work(ctx context.Context, job *river.Job[ChildArgs]) error {
	return w.resumer.Resume(ctx, job.Args.Task, job.Attempt >= job.MaxAttempts)
}
