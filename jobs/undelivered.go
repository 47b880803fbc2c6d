package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// UndeliveredArgs asks to tell the owner that something did not arrive.
type UndeliveredArgs struct {
	Out uuid.UUID `json:"out"`
}

// Kind names the job.
func (UndeliveredArgs) Kind() string { return "undelivered" }

// InsertOpts puts it on its queue.
func (UndeliveredArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20}
}

// Alarmer tells the owner that an outbox row did not arrive.
type Alarmer interface {
	Undelivered(ctx context.Context, out uuid.UUID) error
}

type undeliveredWorker struct {
	river.WorkerDefaults[UndeliveredArgs]
	alarmer Alarmer
}

func (w *undeliveredWorker) Timeout(*river.Job[UndeliveredArgs]) time.Duration { return time.Minute }

func (w *undeliveredWorker) NextRetry(job *river.Job[UndeliveredArgs]) time.Time {
	return backoff(job.Attempt)
}

func (w *undeliveredWorker) Work(ctx context.Context, job *river.Job[UndeliveredArgs]) error {
	return w.alarmer.Undelivered(ctx, job.Args.Out)
}
