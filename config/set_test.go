package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSet_RefusesKeysOfManyValues(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(least), 0o600))
	for _, key := range []string{"nonsense", "operators", "agents.sales.name"} {
		t.Run(key, func(t *testing.T) {
			_, err := Set(path, key, "x")
			require.ErrorContains(t, err, key)
		})
	}
}

func TestSet_BacksUpEachChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(least), 0o600))
	for _, name := range []string{"Ann", "Bea", "Cleo", "Dora"} {
		t.Run(name, func(t *testing.T) { // faster than the seconds in the names of backups
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			backup, err := Set(path, "name", name)
			require.NoError(t, err)
			kept, err := os.ReadFile(backup)
			require.NoError(t, err)
			require.Equal(t, string(before), string(kept), backup)
		})
	}
}

func TestSet_BacksUpAndValidates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(least), 0o640))
	_, err := Set(path, "chats.profile", "nonsense")
	require.ErrorContains(t, err, "chats.profile")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, least, string(text), "the old one stays")

	_, err = Set(path, "chats.profile", "business", func(c *Config) error { return errors.New("no " + string(c.Chats.Profile)) })
	require.EqualError(t, err, "no business")
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, least, string(text), "a further check may refuse it")

	backup, err := Set(path, "chats.profile", "business")
	require.NoError(t, err)
	old, err := os.ReadFile(backup)
	require.NoError(t, err)
	require.Equal(t, least, string(old))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(text), "chats:\n  profile: business\n"), string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o640, info.Mode().Perm())

	backup, err = Set(path, "chats.profile", "business")
	require.NoError(t, err)
	require.Empty(t, backup, "nothing changed")
}

func TestSet_KeepsNewestBackupsPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte("0"), 0o644))
	for n := range maxBackups + 5 {
		old := fmt.Sprintf("%s.202601%02d-000000.bak", path, n+1)
		require.NoError(t, os.WriteFile(old, nil, 0o600))
	}
	for _, kept := range []string{path + ".mine.bak", path + ".bak"} {
		t.Run(kept, func(t *testing.T) {
			require.NoError(t, os.WriteFile(kept, nil, 0o600))
		})
	}
	backup, err := ReplaceWithBackup(path, []byte("1"))
	require.NoError(t, err)
	left, err := filepath.Glob(path + ".2*.bak")
	require.NoError(t, err)
	require.Len(t, left, maxBackups)
	require.Contains(t, left, backup)
	require.NotContains(t, left, path+".20260101-000000.bak", "the oldest goes first")
	require.FileExists(t, path+".mine.bak")
	require.FileExists(t, path+".bak")
	info, err := os.Stat(backup)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "as it was")
}

func TestSet_KeepsConcurrentChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(least), 0o600))
	keys := []string{
		"backup.keep", "memory.retention_days", "memory.admin_retention_days", "memory.log_retention_days",
		"audit.retention_days", "media.max_days",
	}
	results := make(chan error)
	for _, key := range keys {
		go func() {
			_, err := Set(path, key, "77")
			results <- err
		}()
	}
	for range keys {
		require.NoError(t, <-results)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, key := range keys {
		t.Run(key, func(t *testing.T) {
			value, _ := Lookup(data, key)
			require.Equal(t, "77", value, key)
		})
	}
}

func TestSet_PrunesOldestBackupOfSecond(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	names := []string{path + ".20260101-000000.bak"}
	for n := 2; n <= maxBackups+2; n++ {
		names = append(names, fmt.Sprintf("%s.20260101-000000-%d.bak", path, n))
	}
	for _, name := range names {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	require.NoError(t, pruneBackups(path))
	for i, name := range names {
		if i < 2 {
			require.NoFileExists(t, name)
			continue
		}
		require.FileExists(t, name)
	}
}
