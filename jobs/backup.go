package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// BackupArgs asks to make a backup if one is due.
type BackupArgs struct{}

// Kind names the job.
func (BackupArgs) Kind() string { return "backup" }

// InsertOpts allows one such job at a time.
func (BackupArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueBackup, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// backupTimeout bounds the making of a backup.
const backupTimeout = 6 * time.Hour

// BackupMaker makes a backup if one is due.
type BackupMaker interface {
	MakeBackup(ctx context.Context) error
}
