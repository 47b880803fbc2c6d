package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// ForgetArgs asks to delete what a row of forgettings names.
type ForgetArgs struct {
	ForgettingID store.ForgettingID `json:"forgetting"`
}

// Kind names the job.
func (ForgetArgs) Kind() string { return "forget" }

// InsertOpts allows one such job for a forgetting at a time.
func (ForgetArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 60, UniqueOpts: uniqueByArgs()}
}

// Forgetter deletes what a forgetting names and notifies the owner of what was deleted.
type Forgetter interface {
	Forget(ctx context.Context, forgetting store.ForgettingID) error
}
