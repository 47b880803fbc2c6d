package plainfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/plainfile"
)

// nobody is a user that every Linux has.
const nobody = 65534

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func owner(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	uid, _, ok := plainfile.Owner(info)
	require.True(t, ok)
	return uid
}

func TestReplace_KeepsOwner(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "shadow")
	path := filepath.Join(dir, "registration.yaml")
	require.NoError(t, os.WriteFile(elsewhere, []byte("theirs"), 0o644))
	theirs := os.Geteuid()
	if theirs == 0 {
		theirs = nobody
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	check := func(want string) {
		t.Helper()
		require.Equal(t, want, read(t, path))
		require.Equal(t, theirs, owner(t, path))
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode(), "a regular file")
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1, "no other file is left")
	}
	require.NoError(t, plainfile.Replace(path, []byte("new"), 0o600))
	check("new")
	require.NoError(t, os.Chmod(path, 0o644))
	require.NoError(t, plainfile.Replace(path, []byte("again"), 0o600))
	check("again")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(elsewhere, path))
	require.NoError(t, os.Lchown(path, theirs, theirs))
	require.NoError(t, plainfile.Replace(path, []byte("third"), 0o600))
	check("third")
	require.Equal(t, "theirs", read(t, elsewhere))
}

func TestReplace_FailureKeepsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.Error(t, plainfile.Replace(folder, []byte("x"), 0o600), "a folder is not replaced")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left")
	require.Error(t, plainfile.Replace(filepath.Join(dir, "none", "config.yaml"), nil, 0o600))
}

func TestReplace_RootFollowsNoForeignLink(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	link := filepath.Join(dir, "config.yaml")
	for target, allowed := range map[string]bool{"real.yaml": true, filepath.Join(other, "real.yaml"): os.Geteuid() != 0} {
		want := target
		if !filepath.IsAbs(target) {
			want = filepath.Join(dir, target)
		}
		require.NoError(t, os.WriteFile(want, nil, 0o600))
		require.NoError(t, os.Symlink(target, link))
		got, err := plainfile.Resolve(link) // a link of our own
		require.NoError(t, err)
		require.Equal(t, want, got)
		if os.Geteuid() == 0 {
			require.NoError(t, os.Lchown(link, nobody, nobody))
		}
		got, err = plainfile.Resolve(link)
		if allowed {
			require.NoError(t, err)
			require.Equal(t, want, got)
		} else {
			require.ErrorContains(t, err, "is a link of the user 65534 to "+want)
		}
		require.NoError(t, os.Remove(link))
	}
	require.NoError(t, os.Symlink("config.yaml", link))
	_, err := plainfile.Resolve(link)
	require.ErrorContains(t, err, "too many levels")
	_, err = plainfile.Resolve(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
