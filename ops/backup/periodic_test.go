package backup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/ops/backup"
	"multis/store"
	"multis/store/storetest"
)

// newScheduler returns a Scheduler that keeps two backups of a database in a folder, and the time that it believes in.
func newScheduler(st *store.Store, folder string, every time.Duration) (*backup.Scheduler, *time.Time) {
	now := time.Now()
	return backup.NewScheduler(backup.SchedulerOptions{
		Create: backup.CreateOptions{Store: st, Folder: folder, Now: func() time.Time {
			return now
		}}, Every: every, Series: backup.Series{Folder: folder, Keep: 2},
	}), &now
}

// newNotices counts the notices about backups since it was last asked.
func newNotices(t *testing.T, st *store.Store) int {
	t.Helper()
	n := storetest.Count(t, st, "select count(*) from river.river_job where kind = 'notice' and args->>'topic' like 'backup%'")
	exec(t, st, "delete from river.river_job")
	return n
}

func TestPeriodic_MakesDueBackup(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 24*time.Hour)
	for range 4 {
		require.NoError(t, p.MakeBackup(t.Context()))
		made := fileNames(t, folder)
		*now = now.Add(23 * time.Hour)
		require.NoError(t, p.MakeBackup(t.Context()))
		require.Equal(t, made, fileNames(t, folder), "none is due")
		*now = now.Add(2 * time.Hour)
	}
	require.Len(t, fileNames(t, folder), 2, "the oldest are removed")
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	require.Equal(t, fileNames(t, folder)[1], filepath.Base(last.File))
	require.Zero(t, newNotices(t, st))
}

func TestPeriodic_StaleBackupNoticedOnce(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 0)
	require.NoError(t, p.MakeBackup(t.Context()))
	require.Zero(t, newNotices(t, st), "the database is new")
	*now = now.Add(8 * 24 * time.Hour)
	require.NoError(t, p.MakeBackup(t.Context()))
	require.Equal(t, 1, newNotices(t, st))
	require.NoError(t, p.MakeBackup(t.Context()))
	require.Zero(t, newNotices(t, st))
	require.Empty(t, fileNames(t, folder), "backups are off")
}

func TestPeriodic_FailureNoticedOnce(t *testing.T) {
	t.Parallel()
	st, file := storetest.New(t), filepath.Join(t.TempDir(), "no-folder")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	p, now := newScheduler(st, filepath.Join(file, "backups"), 24*time.Hour)
	require.Error(t, p.MakeBackup(t.Context()))
	require.Equal(t, 1, newNotices(t, st))
	require.NoError(t, p.MakeBackup(t.Context()), "it is not tried at once")
	*now = now.Add(2 * time.Hour)
	require.Error(t, p.MakeBackup(t.Context()))
	require.Zero(t, newNotices(t, st))
	require.NoError(t, os.Remove(file))
	*now = now.Add(2 * time.Hour)
	require.NoError(t, p.MakeBackup(t.Context()))
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	require.Empty(t, last.Problem)
}

func TestPeriodic_ToleratesClockAhead(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 24*time.Hour)
	present := *now
	*now = present.AddDate(1, 0, 0)
	for range 3 {
		require.NoError(t, p.MakeBackup(t.Context()))
		*now = now.Add(25 * time.Hour)
	}
	*now = present
	require.NoError(t, p.MakeBackup(t.Context()))
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	require.True(t, last.At.Equal(present.UTC()), "%s", last.At)
	require.FileExists(t, last.File)
	require.Len(t, fileNames(t, folder), 2, "one of the future went")
	require.Zero(t, newNotices(t, st))

	p, now = newScheduler(st, folder, 0)
	*now = present.AddDate(0, -1, 0)
	require.NoError(t, p.MakeBackup(t.Context()))
	require.Equal(t, 1, newNotices(t, st), "nobody knows how old it is")
}
