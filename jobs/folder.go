package jobs

import (
	"context"

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

// FolderIndexer looks at the watched folders.
type FolderIndexer interface {
	IndexFolders(ctx context.Context) error
}
