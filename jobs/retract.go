package jobs

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"
)

// RetractArgs asks to delete an event of ours from its room, because what it quoted or answered was deleted.
type RetractArgs struct {
	Out uuid.UUID `json:"out"`
}

// Kind names the job.
func (RetractArgs) Kind() string { return "retract" }

// InsertOpts puts it on its queue.
func (RetractArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueSend, MaxAttempts: 60}
}

// Retracter deletes an event of ours.
type Retracter interface {
	Retract(ctx context.Context, out uuid.UUID) error
}

type retractWorker struct {
	river.WorkerDefaults[RetractArgs]
	retracter Retracter
}

func (w *retractWorker) Timeout(*river.Job[RetractArgs]) time.Duration { return time.Minute }

func (w *retractWorker) NextRetry(job *river.Job[RetractArgs]) time.Time { return backoff(job.Attempt) }

func (w *retractWorker) Work(ctx context.Context, job *river.Job[RetractArgs]) error {
	return w.retracter.Retract(ctx, job.Args.Out)
}
