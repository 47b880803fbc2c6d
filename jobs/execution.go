package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// ExecutionArgs asks to carry out one execution of a schedule that takes longer than a transaction may: a question to the assistant, a
// heartbeat, or upkeep.
type ExecutionArgs struct {
	ExecutionID store.ExecutionID `json:"execution"`
}

// Kind names the job.
func (ExecutionArgs) Kind() string { return "execution" }

// InsertOpts allows one such job for an execution at a time. The attempts are few because each may call a model.
func (ExecutionArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 3, UniqueOpts: uniqueByArgs()}
}

// The time limits of an execution, with all its attempts.
const (
	ExecutionTimeout = 5 * time.Minute  // unless it is configured
	UpkeepTimeout    = 10 * time.Minute // when its action is upkeep
)

// Executor carries out an execution. last says that no other attempt follows.
type Executor interface {
	Execute(ctx context.Context, execution store.ExecutionID, last bool) error
}
