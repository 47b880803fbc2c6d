package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// periodicJobs returns the jobs that are inserted at fixed intervals. Work that comes again by the clock has one of two homes:
//
//   - A row of schedules, carried out by package clock: whatever people set, heartbeats, and upkeep. It keeps to the wall clock and a
//     zone, has a history, is caught up on, and is listed by /jobs.
//   - A periodic job, listed here: a short search for new work that needs none of that. The next one finds what one missed. One process
//     inserts them for all. Those that come often are inserted only when a query says that they may find something, because a job is
//     written to the disk several times.
//
// The queries end with ctx. What each process checks by itself, more often, is in client.watch.
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
		list = append(list, every(ctx, time.Minute, FindCapturesArgs{}, func(ctx context.Context) (bool, error) { // also the longest time that a capture waits
			chats, err := h.Capture.DueCaptures(ctx)
			return len(chats) > 0, err
		}, false))
	}
	if h.Folders != nil {
		list = append(list, every(ctx, 30*time.Second, IndexFoldersArgs{}, h.Folders.HasFolders, true)) // listing some hundred files takes milliseconds
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

// every returns a periodic job. atStart inserts it also when a process begins to lead.
func every(ctx context.Context, interval time.Duration, args Args, search func(context.Context) (bool, error), atStart bool) *river.PeriodicJob {
	return river.NewPeriodicJob(river.PeriodicInterval(interval), unlessIdle(ctx, args, search), &river.PeriodicJobOpts{RunOnStart: atStart})
}

// unlessIdle returns args to insert, and nil for nothing if search says that there is nothing to do. nil always finds something, and so does a
// search that fails: the job will say why.
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
