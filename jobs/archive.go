package jobs

import (
	"context"
	"fmt"
	"time"

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
	return river.InsertOpts{Queue: queueArchive, MaxAttempts: 5, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: active()}}
}

// Archiver makes messages searchable.
type Archiver interface {
	Archive(ctx context.Context) error
}

type archiveWorker struct {
	river.WorkerDefaults[ArchiveArgs]
	archiver Archiver
}

func (w *archiveWorker) Timeout(*river.Job[ArchiveArgs]) time.Duration { return 5 * time.Minute }

func (w *archiveWorker) NextRetry(job *river.Job[ArchiveArgs]) time.Time { return backoff(job.Attempt) }

func (w *archiveWorker) Work(ctx context.Context, _ *river.Job[ArchiveArgs]) error {
	return w.archiver.Archive(ctx)
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
