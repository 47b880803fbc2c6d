package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// RemindCommitmentsArgs asks to remind the owner of commitments that are due soon. It is a periodic job.
type RemindCommitmentsArgs struct{}

// Kind names the job.
func (RemindCommitmentsArgs) Kind() string { return "remind_commitments" }

// InsertOpts allows one such job at a time.
func (RemindCommitmentsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// CommitmentReminder reminds the owner of commitments that are due soon.
type CommitmentReminder interface {
	// HasCommitments reports whether a commitment is due today or tomorrow, of which RemindCommitments may remind.
	HasCommitments(ctx context.Context) (bool, error)
	RemindCommitments(ctx context.Context) error
}
