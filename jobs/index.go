package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"multis/policy"
)

// IndexArgs asks to index a document: the file that Message carries, or the one at Path in the documents folder.
type IndexArgs struct {
	Message int64       `json:"message,omitempty"`
	Path    string      `json:"path,omitempty"`
	Role    policy.Role `json:"role"`
	// Chat is where the outcome is told.
	Chat int64 `json:"chat"`
}

// Kind names the job.
func (IndexArgs) Kind() string { return "index" }

// InsertOpts puts it on its queue.
func (IndexArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 5}
}

// Indexer indexes a document and tells the outcome. last says that no other attempt follows.
type Indexer interface {
	Index(ctx context.Context, args IndexArgs, last bool) error
}

type indexWorker struct {
	river.WorkerDefaults[IndexArgs]
	indexer Indexer
}

func (w *indexWorker) Timeout(*river.Job[IndexArgs]) time.Duration { return 2 * time.Minute }

func (w *indexWorker) NextRetry(job *river.Job[IndexArgs]) time.Time { return backoff(job.Attempt) }

func (w *indexWorker) Work(ctx context.Context, job *river.Job[IndexArgs]) error {
	return w.indexer.Index(ctx, job.Args, job.Attempt >= job.MaxAttempts)
}

// active are the states of a job that is still to be done.
func active() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}
