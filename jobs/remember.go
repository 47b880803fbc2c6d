package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// FindCapturesArgs asks to look for chats of which notes are to be taken. It is a periodic job.
type FindCapturesArgs struct{}

// Kind names the job.
func (FindCapturesArgs) Kind() string { return "remember" }

// InsertOpts puts it on its queue, once.
func (FindCapturesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: once()}
}

// enqueueCaptures enqueues a CaptureArgs for each chat that is due.
func enqueueCaptures(ctx context.Context, st *store.Store, capturer Capturer) error {
	chats, err := capturer.DueCaptures(ctx)
	if err != nil || len(chats) == 0 {
		return err
	}
	args := make([]Args, len(chats))
	for i, chat := range chats {
		args[i] = CaptureArgs{ChatID: chat}
	}
	return st.InTx(ctx, func(tx store.Tx) error { return Enqueue(ctx, tx, args...) })
}
