package jobs

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"

	"multis/store"
)

// IndexMessagesArgs asks to make what was said searchable. It comes by itself a few seconds after something was, so that nothing of
// it is in the way of a message.
type IndexMessagesArgs struct{}

// Kind names the job.
func (IndexMessagesArgs) Kind() string { return "archive" }

// InsertOpts puts it on its queue, once.
func (IndexMessagesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueArchive, MaxAttempts: 5, UniqueOpts: once()}
}

// MessageIndexer makes messages searchable.
type MessageIndexer interface {
	IndexMessages(ctx context.Context) error
}

// enqueueIndexMessages asks for an IndexMessagesArgs when messages wait for it.
func enqueueIndexMessages(ctx context.Context, st *store.Store) error {
	wait, err := store.HasUnindexed(ctx, st.DB())
	if err != nil || !wait {
		return err
	}
	if err := st.InTx(ctx, func(tx store.Tx) error { return Enqueue(ctx, tx, IndexMessagesArgs{}) }); err != nil {
		return fmt.Errorf("ask for the archive: %w", err)
	}
	return nil
}
