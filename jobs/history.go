package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/internal/sleep"
	"multis/store"
)

// HistoryArgs asks to read one page of a chat's history from the homeserver, backwards. Each page enqueues the next, in the transaction
// that stores its messages.
type HistoryArgs struct {
	ChatID store.ChatID `json:"chat"`
	// FromToken is the homeserver's pagination token at which the page begins. Empty means the newest message.
	FromToken string `json:"from,omitempty"`
	// ToToken is the pagination token at which reading stops. Empty means the beginning of the room.
	ToToken string `json:"to,omitempty"`
	// SinceUnix is the time at which reading stops, in Unix seconds. Zero means the beginning of the room.
	SinceUnix int64 `json:"since,omitempty"`
	// StoredCount is how many messages the previous pages have stored.
	StoredCount int `json:"stored"`
	// NotifyOnly says that all pages are read, and only the notice to the owner is left.
	NotifyOnly bool `json:"notify_only,omitempty"`
	// NoNotice says that the owner did not ask for it and gets no notice.
	NoNotice bool `json:"no_notice,omitempty"`
}

// historyPause is the pause before each page, so that a long history leaves the homeserver time for other requests.
const historyPause = 300 * time.Millisecond

// Kind names the job.
func (HistoryArgs) Kind() string { return "history" }

// InsertOpts sets the attempts, a low priority, and the queue: pages wait behind rooms to describe, the notice behind commands.
func (a HistoryArgs) InsertOpts() river.InsertOpts {
	opts := river.InsertOpts{Queue: queueDescribe, MaxAttempts: 60, Priority: 4}
	if a.NotifyOnly {
		opts.Queue = queueAdmin
	}
	return opts
}

// Historian reads a page of a chat's history.
type Historian interface {
	History(ctx context.Context, args HistoryArgs) error
}

// ImportNotifier notifies the owner that a chat's history was read, and of how many messages were stored.
type ImportNotifier interface {
	NotifyImported(ctx context.Context, chat store.ChatID, stored int) error
}

// readHistory reads a page, or, when all are read, notifies the owner.
func readHistory(ctx context.Context, historian Historian, notifier ImportNotifier, args HistoryArgs) error {
	switch {
	case args.NotifyOnly && args.NoNotice:
		return nil
	case args.NotifyOnly:
		return notifier.NotifyImported(ctx, args.ChatID, args.StoredCount)
	}
	if err := sleep.For(ctx, historyPause); err != nil {
		return err
	}
	return historian.History(ctx, args)
}
