package backup_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"multis/ops/backup"
	"multis/store"
	"multis/store/storetest"
)

func TestUpgrade_BacksUpUnlessRecent(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 24*time.Hour)
	var log bytes.Buffer
	logged := zerolog.New(&log).WithContext(t.Context())
	require.NoError(t, p.EnsureRecent(logged))
	require.Len(t, fileNames(t, folder), 1)
	require.Contains(t, log.String(), "before that it makes a backup")
	*now = now.Add(23 * time.Hour)
	log.Reset()
	require.NoError(t, p.EnsureRecent(logged))
	require.Len(t, fileNames(t, folder), 1, "it is recent")
	require.Empty(t, log.String(), "none was made")
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)

	require.NoError(t, os.Truncate(last.File, last.SizeBytes-1))
	require.NoError(t, p.EnsureRecent(t.Context()))
	require.Len(t, fileNames(t, folder), 2, "the recent one was damaged")
	*now = now.Add(24 * time.Hour)
	require.NoError(t, p.EnsureRecent(t.Context()))
	newest, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	require.NotEqual(t, last.File, newest.File, "it was too old")
	*now = now.Add(-48 * time.Hour)
	require.False(t, newest.IsRecent(*now), "a clock that was wrong made it")
}

func TestUpgrade_NeedsRecentBackup(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 0)
	require.ErrorIs(t, p.EnsureRecent(t.Context()), backup.ErrNoRecent)
	info, err := backup.Create(t.Context(), p.Create)
	require.NoError(t, err)
	require.NoError(t, backup.RecordBackup(t.Context(), st, info))
	require.NoError(t, p.EnsureRecent(t.Context()))
	*now = now.Add(24 * time.Hour)
	require.ErrorIs(t, p.EnsureRecent(t.Context()), backup.ErrNoRecent)
	require.Len(t, fileNames(t, folder), 1)
}

func TestUpgrade_WaitsForRunningBackup(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, _ := newScheduler(st, folder, 24*time.Hour)
	other, alone, err := st.TryLock(t.Context(), store.LockBackup, 0)
	require.NoError(t, err)
	require.True(t, alone)
	done := make(chan error, 1)
	go func() { done <- p.EnsureRecent(t.Context()) }()
	other.Release(t.Context())
	require.NoError(t, <-done)
	require.Len(t, fileNames(t, folder), 1)
}
