package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// NudgeArgs asks to look for promises that are due soon. It is a periodic job.
type NudgeArgs struct{}

// Kind names the job.
func (NudgeArgs) Kind() string { return "nudge" }

// InsertOpts puts it on its queue, once.
func (NudgeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: once()}
}

// Nudger reminds the owner of promises.
type Nudger interface {
	Nudge(ctx context.Context) error
}
