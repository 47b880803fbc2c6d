package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// RemindArgs asks to look for promises that are due soon. It is a periodic job.
type RemindArgs struct{}

// Kind names the job.
func (RemindArgs) Kind() string { return "nudge" }

// InsertOpts puts it on its queue, once.
func (RemindArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: once()}
}

// CommitmentReminder reminds the owner of promises.
type CommitmentReminder interface {
	RemindCommitments(ctx context.Context) error
}
