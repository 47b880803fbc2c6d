package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// IndexFoldersArgs asks to index what changed in the watched folders. It is a periodic job.
type IndexFoldersArgs struct{}

// Kind names the job.
func (IndexFoldersArgs) Kind() string { return "index_folders" }

// InsertOpts allows one such job at a time. It is tried once: the next one finds what it missed.
func (IndexFoldersArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// FolderIndexer indexes what changed in the watched folders.
type FolderIndexer interface {
	// HasFolders reports whether folders are watched.
	HasFolders(ctx context.Context) (bool, error)
	IndexFolders(ctx context.Context) error
}
