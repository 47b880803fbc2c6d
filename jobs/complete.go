package jobs

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"multis/store"
)

// currentJob is the key of the job that a context belongs to.
type currentJob struct{}

// rememberJob lets Complete know which job is worked on.
func rememberJob() rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		return work(context.WithValue(ctx, currentJob{}, job))
	})
}

// anyArgs stand for the arguments of a job whose kind does not matter.
type anyArgs struct{}

// Kind names no job.
func (anyArgs) Kind() string { return "any" }

// Complete ends the job that ctx belongs to in the transaction of what it does, so that a crash right after does not have it done again.
// It fails when the job is no longer this attempt's. Without a job it does nothing.
func Complete(ctx context.Context, tx store.Tx) error {
	row, ok := ctx.Value(currentJob{}).(*rivertype.JobRow)
	if !ok {
		return nil
	}
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, &river.Job[anyArgs]{JobRow: row}); err != nil {
		return fmt.Errorf("complete job: %w", err)
	}
	return nil
}
