package jobs

import (
	"context"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// Attempt is one attempt at a job.
type Attempt struct {
	// ID identifies the attempt among all attempts at all jobs. It begins with the job's id and a dot: by it store.TakeOverJobs finds the
	// leases of a dead process.
	ID string
	// Last says that no other attempt follows when this one fails.
	Last bool
}

// worker does the jobs of one kind, whose arguments are of type A.
type worker[A Args] struct {
	river.WorkerDefaults[A]
	timeout time.Duration
	work    func(context.Context, A, Attempt) error
}

// handle adds a worker for the jobs whose arguments are of type A. An attempt calls work, whose context ends after timeout.
func handle[A Args](workers *river.Workers, timeout time.Duration, work func(context.Context, A, Attempt) error) {
	river.AddWorker(workers, &worker[A]{timeout: timeout, work: work})
}

// Timeout bounds one attempt.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.timeout }

// Work makes one attempt at a job.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	return w.work(ctx, job.Args, Attempt{ID: attemptID(job.JobRow), Last: isLast(job.JobRow)})
}

// NextRetry returns when a failed job is tried again: after the wait that the method retryAfter of its arguments returns, if they have one,
// else after backoff.
func (w *worker[A]) NextRetry(job *river.Job[A]) time.Time {
	wait := backoff(job.Attempt)
	if own, ok := any(job.Args).(interface {
		retryAfter(attempt int) time.Duration
	}); ok {
		wait = own.retryAfter(job.Attempt)
	}
	return time.Now().Add(wait)
}

// backoff returns the wait after a failed attempt: 1 s after the first, doubling to a minute.
func backoff(attempt int) time.Duration {
	return min(time.Second<<min(attempt-1, 6), time.Minute)
}

func isLast(job *rivertype.JobRow) bool { return job.Attempt >= job.MaxAttempts }

func attemptID(job *rivertype.JobRow) string {
	id := strconv.FormatInt(job.ID, 10) + "." + strconv.Itoa(job.Attempt)
	if job.AttemptedAt != nil {
		id += "." + strconv.FormatInt(job.AttemptedAt.UnixMicro(), 36)
	}
	return id
}

// uniqueByArgs allows no second job of the same kind and arguments until the first one is done.
func uniqueByArgs() river.UniqueOpts {
	return river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
		rivertype.JobStateScheduled,
	}}
}
