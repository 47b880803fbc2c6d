package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// HistoryArgs asks to read one page of what was said in a chat before multis was there. Each page asks for the next, in
// the transaction that stores it.
type HistoryArgs struct {
	Chat int64 `json:"chat"`
	// From is where the page ends, in the homeserver's words; empty: now.
	From string `json:"from,omitempty"`
	// Since is the day to stop at, in Unix seconds; zero: the beginning.
	Since int64 `json:"since,omitempty"`
	// To is where reading stops, in the homeserver's words; empty: the beginning.
	To string `json:"to,omitempty"`
	// Stored is how many messages were stored so far. Done says that nothing is left but to tell.
	Stored int  `json:"stored"`
	Done   bool `json:"done,omitempty"`
	// Quiet says that nobody asked for it: nobody is told.
	Quiet bool `json:"quiet,omitempty"`
}

// historyPace is the pause between two pages, so that a long history leaves the homeserver to others.
const historyPace = 300 * time.Millisecond

// Kind names the job.
func (HistoryArgs) Kind() string { return "history" }

// InsertOpts puts it on its queue.
func (a HistoryArgs) InsertOpts() river.InsertOpts {
	opts := river.InsertOpts{Queue: queueDescribe, MaxAttempts: 60, Priority: 4}
	if a.Done {
		opts.Queue = queueAdmin
	}
	return opts
}

// Historian reads a page of a chat's history.
type Historian interface {
	History(ctx context.Context, args HistoryArgs) error
}

// HistoryTeller tells the owner that a history was read.
type HistoryTeller interface {
	HistoryRead(ctx context.Context, chat int64, stored int) error
}

type historyWorker struct {
	river.WorkerDefaults[HistoryArgs]
	historian Historian
	teller    HistoryTeller
}

func (w *historyWorker) Timeout(*river.Job[HistoryArgs]) time.Duration { return 2 * time.Minute }

func (w *historyWorker) NextRetry(job *river.Job[HistoryArgs]) time.Time { return backoff(job.Attempt) }

func (w *historyWorker) Work(ctx context.Context, job *river.Job[HistoryArgs]) error {
	if job.Args.Done && job.Args.Quiet {
		return nil
	}
	if job.Args.Done {
		return w.teller.HistoryRead(ctx, job.Args.Chat, job.Args.Stored)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(historyPace):
	}
	return w.historian.History(ctx, job.Args)
}
