package jobs

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"

	"multis/store"
)

// ArchiveArgs asks to make what was said searchable. It comes by itself a few seconds after something was, so that nothing of
// it is in the way of a message.
type ArchiveArgs struct{}

// Kind names the job.
func (ArchiveArgs) Kind() string { return "archive" }

// InsertOpts puts it on its queue, once.
func (ArchiveArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueArchive, MaxAttempts: 5, UniqueOpts: once()}
}

// Archiver makes messages searchable.
type Archiver interface {
	Archive(ctx context.Context) error
}

// archive asks for an ArchiveArgs when messages wait for it.
func archive(ctx context.Context, st *store.Store) error {
	wait, err := store.HasUnindexed(ctx, st.DB())
	if err != nil || !wait {
		return err
	}
	if err := st.InTx(ctx, func(tx store.Tx) error { return Enqueue(ctx, tx, ArchiveArgs{}) }); err != nil {
		return fmt.Errorf("ask for the archive: %w", err)
	}
	return nil
}
