package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"multis/policy"
)

// IndexArgs asks to index documents: the file that Message carries, what Path means in the documents folder (a file, a
// folder or a pattern), or the page at Address.
type IndexArgs struct {
	Message int64       `json:"message,omitempty"`
	Path    string      `json:"path,omitempty"`
	Address string      `json:"address,omitempty"`
	Role    policy.Role `json:"role"`
	// Said is when the owner said who may see them: what he says later holds, whichever job is done first.
	Said time.Time `json:"said"`
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

// Timeout is that of a folder. Each file has a limit of its own, and those that are indexed are no work the next time.
func (w *indexWorker) Timeout(*river.Job[IndexArgs]) time.Duration { return time.Hour }

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
