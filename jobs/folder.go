package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// FoldersArgs asks to look at the watched folders.
type FoldersArgs struct{}

// Kind names the job.
func (FoldersArgs) Kind() string { return "folders" }

// InsertOpts puts it on its queue, once. What it misses, the next one finds.
func (FoldersArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 1, UniqueOpts: once()}
}

// FolderWatcher looks at the watched folders.
type FolderWatcher interface {
	LookAtFolders(ctx context.Context) error
}

// foldersEvery is how often watched folders are looked at: listing some hundred files takes milliseconds.
const foldersEvery = 30 * time.Second

func lookAtFolders() *river.PeriodicJob {
	look := func() (river.JobArgs, *river.InsertOpts) { return FoldersArgs{}, nil }
	return river.NewPeriodicJob(river.PeriodicInterval(foldersEvery), look, &river.PeriodicJobOpts{RunOnStart: true})
}
