package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// ForgetArgs asks to forget what a forgetting names.
type ForgetArgs struct {
	ForgettingID int64 `json:"forgetting"`
}

// Kind names the job.
func (ForgetArgs) Kind() string { return "forget" }

// InsertOpts puts it on its queue, once for each forgetting.
func (ForgetArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 60, UniqueOpts: once()}
}

// Forgetter forgets, and tells what it did.
type Forgetter interface {
	Forget(ctx context.Context, forgetting int64) error
}
