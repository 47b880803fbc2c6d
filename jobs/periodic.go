package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// periodicJobs returns the jobs that are inserted at fixed intervals. The queries that decide about inserting them end
// with ctx. Periodic work uses one of three mechanisms (docs/architecture.md, "Periodic work"):
//
//   - A row of schedules, carried out by package clock: whatever people set, heartbeats, and upkeep. It follows the wall
//     clock in a time zone, has a history, catches up after downtime, and is listed by /jobs.
//   - A periodic job, listed here: a short search for new work that needs none of that. The next job finds what one
//     missed. One process inserts the jobs for all processes. A frequent job is inserted only if a query says that it may
//     find something, because each job is written to the disk several times.
//   - A check that each process makes by itself every few seconds, in client.watch.
func periodicJobs(ctx context.Context, h Handlers) []*river.PeriodicJob {
	list := []*river.PeriodicJob{
		every(ctx, 10*time.Minute, PublishAnswersArgs{}, nil, true),
		every(ctx, 10*time.Minute, BackupArgs{}, nil, true), // looks whether one is due
		every(ctx, 10*time.Minute, EmbedArgs{}, nil, false),
		every(ctx, 24*time.Hour, EmbedArgs{RetryFailed: true}, nil, true),
	}
	if h.CommitmentReminders != nil {
		list = append(list, every(ctx, time.Minute, RemindCommitmentsArgs{}, h.CommitmentReminders.HasCommitments, false))
	}
	if h.Capture != nil {
		// A minute is also the longest time that a capture waits.
		list = append(list, every(ctx, time.Minute, FindCapturesArgs{}, func(ctx context.Context) (bool, error) {
			chats, err := h.Capture.DueCaptures(ctx)
			return len(chats) > 0, err
		}, false))
	}
	if h.Folders != nil {
		// listing some hundred files takes milliseconds
		list = append(list, every(ctx, 30*time.Second, IndexFoldersArgs{}, h.Folders.HasFolders, true))
	}
	if h.Answers != nil {
		// Often, so that the next contact is answered from what a person just said.
		list = append(list, every(ctx, 15*time.Second, FindAnswersArgs{}, h.Answers.HasAnswers, false))
	}
	if h.Withdraw != nil {
		list = append(list, every(ctx, 15*time.Second, WithdrawDraftsArgs{}, h.Withdraw.HasOutdatedDrafts, false))
	}
	if h.Quiet != nil {
		list = append(list, every(ctx, time.Minute, CheckQuietChatsArgs{}, h.Quiet.HasQuietChats, false))
	}
	if h.Bridges != nil {
		list = append(list, every(ctx, time.Minute, CheckBridgesArgs{}, h.Bridges.HaveBridgesChanged, true))
	}
	return list
}

// searchTimeout bounds the query that says whether a periodic job may find something.
const searchTimeout = 10 * time.Second

// every returns a periodic job. With atStart it is also inserted when a process becomes the leader of the queue.
func every(ctx context.Context, interval time.Duration, args Args, search func(context.Context) (bool, error),
	atStart bool,
) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(interval), unlessIdle(ctx, args, search), &river.PeriodicJobOpts{RunOnStart: atStart})
}

// unlessIdle returns a constructor that returns args, or nil if search finds nothing to do. If search is nil or fails, it
// returns args: then the job reports the error.
func unlessIdle(ctx context.Context, args Args, search func(context.Context) (bool, error)) river.PeriodicJobConstructor {
	return func() (river.JobArgs, *river.InsertOpts) {
		if search == nil {
			return args, nil
		}
		ctx, cancel := context.WithTimeout(ctx, searchTimeout)
		defer cancel()
		if found, err := search(ctx); err == nil && !found {
			return nil, nil
		}
		return args, nil
	}
}
