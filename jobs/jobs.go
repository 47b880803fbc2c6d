// Package jobs is the queue of work that survives a crash. It has a file for each kind of job, with its arguments, its options and the
// interface that does it; handlers.go is the list of all kinds. It contains no business logic.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"multis/migrations"
	"multis/store"
)

// Args are the arguments of a job: ids and names, never what anybody wrote.
type Args interface{ river.JobArgs }

// insertClient inserts jobs. It has no state but the name of the schema. A trigger in the database notifies the processes
// of each job. River's own notifications are therefore not needed, and the long FetchCooldown lets it send next to none.
var insertClient = sync.OnceValues(func() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(nil), &river.Config{
		Schema:            migrations.RiverSchema,
		FetchCooldown:     time.Hour,
		FetchPollInterval: time.Hour,
	})
})

// Enqueue inserts jobs in the transaction that makes them necessary.
func Enqueue(ctx context.Context, tx store.Tx, args ...Args) error {
	client, err := insertClient()
	if err != nil {
		return fmt.Errorf("prepare job: %w", err)
	}
	params := make([]river.InsertManyParams, len(args))
	for i, a := range args {
		params[i] = river.InsertManyParams{Args: a}
	}
	if len(params) == 0 {
		return nil
	}
	if _, err := client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert job: %w", err)
	}
	return nil
}

// Snooze returns an error that makes River run the job again after d. The attempt does not count.
func Snooze(d time.Duration) error { return river.JobSnooze(d) }

// IsSnooze reports whether err comes from Snooze.
func IsSnooze(err error) bool {
	var snooze *river.JobSnoozeError
	return errors.As(err, &snooze)
}

// Permanent wraps err so that the job is not retried, because no further attempt would succeed.
func Permanent(err error) error { return river.JobCancel(err) }

// IsPermanent reports whether err comes from Permanent.
func IsPermanent(err error) bool {
	var cancel *river.JobCancelError
	return errors.As(err, &cancel)
}

// Cause returns the error that Permanent wrapped, and any other error as it is.
func Cause(err error) error {
	if cancel, ok := errors.AsType[*river.JobCancelError](err); ok {
		if cause := cancel.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}
