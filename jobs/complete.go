package jobs

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"multis/store"
)

// jobKey is the key under which a context holds the job that it belongs to.
type jobKey struct{}

// withJob puts the job into the context, for Complete.
func withJob() rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		return work(context.WithValue(ctx, jobKey{}, job))
	})
}

// anyArgs are the arguments of a job whose kind does not matter.
type anyArgs struct{}

// Kind is not used.
func (anyArgs) Kind() string { return "any" }

// Complete marks the job of ctx as completed in tx, which stores its result: a crash after the commit does not repeat the
// job. It fails when the job was taken over meanwhile. When ctx belongs to no job, it does nothing.
func Complete(ctx context.Context, tx store.Tx) error {
	row, ok := ctx.Value(jobKey{}).(*rivertype.JobRow)
	if !ok {
		return nil
	}
	if _, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, &river.Job[anyArgs]{JobRow: row}); err != nil {
		return fmt.Errorf("complete job: %w", err)
	}
	return nil
}
