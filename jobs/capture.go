package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// CaptureArgs asks to take notes of the messages in a chat since the last notes. Such a run is called a capture, and its
// notes are stored as a section.
type CaptureArgs struct {
	ChatID store.ChatID `json:"chat"`
}

// Kind names the job.
func (CaptureArgs) Kind() string { return "capture" }

// InsertOpts allows one such job for a chat at a time. After the last attempt store.DelayCapture postpones the chat's
// next capture by 15 minutes, doubling to a day.
func (CaptureArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3, UniqueOpts: uniqueByArgs()}
}

// FindCapturesArgs asks to enqueue a CaptureArgs for each chat whose capture is due. It is a periodic job.
type FindCapturesArgs struct{}

// Kind names the job.
func (FindCapturesArgs) Kind() string { return "find_captures" }

// InsertOpts allows one such job at a time.
func (FindCapturesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// Capturer takes notes of chats.
type Capturer interface {
	// DueCaptures returns the chats whose capture is due.
	DueCaptures(ctx context.Context) ([]store.ChatID, error)
	// Capture takes notes of one chat. last says that no other attempt follows.
	Capture(ctx context.Context, chat store.ChatID, last bool) error
}

// enqueueCaptures enqueues a CaptureArgs for each chat whose capture is due.
func enqueueCaptures(ctx context.Context, st *store.Store, capturer Capturer) error {
	chats, err := capturer.DueCaptures(ctx)
	if err != nil {
		return err
	}
	if len(chats) == 0 {
		return nil
	}
	args := make([]Args, len(chats))
	for i, chat := range chats {
		args[i] = CaptureArgs{ChatID: chat}
	}
	return st.InTx(ctx, func(tx store.Tx) error { return Enqueue(ctx, tx, args...) })
}
