package setup

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/plainfile"
)

func TestSynapse_RefusesPipe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "homeserver.yaml")
	require.NoError(t, syscall.Mkfifo(file, 0o600), "nobody ever writes into it")
	for _, path := range []string{file, "/dev/zero"} {
		_, err := (Machine{}).ReadForDoctor(path, "example.org", "")
		require.ErrorIs(t, err, plainfile.ErrNotRegular)
		require.ErrorContains(t, err, path)
		require.Empty(t, readText(path))
	}
}
