package jobs

import (
	"time"

	"github.com/riverqueue/river"
)

// periodicJobs returns the jobs that are inserted at fixed intervals. Work that comes again by the clock has one of two homes:
//
//   - A row of schedules, carried out by package clock: whatever people set, heartbeats, and upkeep. It keeps to the wall clock and a
//     zone, has a history, is caught up on, and is listed by /jobs.
//   - A periodic job, listed here: a short search for new work that needs none of that. The next one finds what one missed. One process
//     inserts them for all.
//
// What each process checks by itself, more often, is in client.watch.
func periodicJobs() []*river.PeriodicJob {
	every := func(interval time.Duration, args Args, atStart bool) *river.PeriodicJob {
		return river.NewPeriodicJob(river.PeriodicInterval(interval),
			func() (river.JobArgs, *river.InsertOpts) { return args, nil }, &river.PeriodicJobOpts{RunOnStart: atStart})
	}
	return []*river.PeriodicJob{
		every(30*time.Second, FoldersArgs{}, true),      // listing some hundred files takes milliseconds
		every(15*time.Second, FindAnswersArgs{}, false), // so that the next contact is answered from what a person just said; an index scan
		every(10*time.Minute, PublishAnswersArgs{}, true),
		every(time.Minute, BridgesArgs{}, true),
		every(time.Minute, RemindArgs{}, false),
		every(time.Minute, FindCapturesArgs{}, false), // also the longest time that a capture waits
		every(10*time.Minute, BackupArgs{}, true),     // looks whether one is due
		every(10*time.Minute, EmbedArgs{}, false),
		every(24*time.Hour, EmbedArgs{Again: true}, true),
	}
}
