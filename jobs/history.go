package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// HistoryArgs asks to read one page of what was said in a chat before multis was there. Each page asks for the next, in
// the transaction that stores it.
type HistoryArgs struct {
	ChatID int64 `json:"chat"`
	// FromToken is where the page ends, in the homeserver's words; empty: now.
	FromToken string `json:"from,omitempty"`
	// Since is the day to stop at, in Unix seconds; zero: the beginning.
	Since int64 `json:"since,omitempty"`
	// ToToken is where reading stops, in the homeserver's words; empty: the beginning.
	ToToken string `json:"to,omitempty"`
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

// ImportNotifier tells the owner that a history was read.
type ImportNotifier interface {
	NotifyImported(ctx context.Context, chat int64, stored int) error
}

// readHistory reads a page, or, once all are read, tells the owner unless nobody asked.
func readHistory(ctx context.Context, historian Historian, teller ImportNotifier, args HistoryArgs) error {
	switch {
	case args.Done && args.Quiet:
		return nil
	case args.Done:
		return teller.NotifyImported(ctx, args.ChatID, args.Stored)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(historyPace):
	}
	return historian.History(ctx, args)
}
