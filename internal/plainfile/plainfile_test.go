package plainfile_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/plainfile"
)

func TestOpen_PlainFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("a.txt"), []byte("hello"), 0o600))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600), "nobody ever writes into it")
	require.NoError(t, os.Symlink("pipe", at("link")))
	require.NoError(t, os.Mkdir(at("folder"), 0o700))
	socket, err := net.Listen("unix", at("socket"))
	require.NoError(t, err)
	defer socket.Close()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()

	f, info, err := plainfile.Open(at("a.txt"))
	require.NoError(t, err)
	defer f.Close()
	require.EqualValues(t, 5, info.Size())
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "hello", string(data))
	f, _, err = plainfile.OpenIn(root, "a.txt")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	data, err = plainfile.Read(at("a.txt"), 5)
	require.NoError(t, err)
	require.Equal(t, "hello", string(data))
	_, err = plainfile.Read(at("a.txt"), 4)
	require.ErrorIs(t, err, plainfile.ErrTooLarge)
	for _, name := range []string{"pipe", "link", "folder", "socket"} {
		_, err = plainfile.Read(at(name), 5)
		require.ErrorIs(t, err, plainfile.ErrNotRegular, name)
		_, _, err = plainfile.Open(at(name))
		require.ErrorIs(t, err, plainfile.ErrNotRegular, name)
		_, _, err = plainfile.OpenIn(root, name)
		require.ErrorIs(t, err, plainfile.ErrNotRegular, name)
	}
	_, _, err = plainfile.Open(at("none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = plainfile.OpenIn(root, "../"+filepath.Base(dir)+"/a.txt")
	require.ErrorContains(t, err, "escapes")
}
