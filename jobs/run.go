package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// ExecutionArgs asks to carry out a run of a schedule that takes its time: a question to the assistant, or upkeep.
type ExecutionArgs struct {
	ExecutionID int64 `json:"run"`
}

// Kind names the job.
func (ExecutionArgs) Kind() string { return "run" }

// InsertOpts puts it on its queue. What asks a model costs money, so it is not tried for long.
func (ExecutionArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 3, UniqueOpts: once()}
}

// ExecutionTimeout is how long a run may take, all its attempts together, and UpkeepTimeout how long one that is upkeep may.
const (
	ExecutionTimeout = time.Minute
	UpkeepTimeout    = 10 * time.Minute
)

// Executor carries out a run of a schedule. last says that no other attempt follows.
type Executor interface {
	Execute(ctx context.Context, run int64, last bool) error
}
