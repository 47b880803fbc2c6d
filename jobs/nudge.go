package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// NudgeArgs asks to look for promises that are due soon. It comes by itself every minute, from one process.
type NudgeArgs struct{}

const nudgeEvery = time.Minute

// Kind names the job.
func (NudgeArgs) Kind() string { return "nudge" }

// InsertOpts puts it on its queue, once.
func (NudgeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: once()}
}

// lookForPromises is what makes it come.
func lookForPromises() *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(nudgeEvery), func() (river.JobArgs, *river.InsertOpts) { return NudgeArgs{}, nil }, nil)
}

// Nudger reminds the owner of promises.
type Nudger interface {
	Nudge(ctx context.Context) error
}
