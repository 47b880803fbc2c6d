package plainfile_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/plainfile"
)

func TestLock_OneAtATime(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var inside atomic.Int32
	done := make(chan error)
	const times = 20
	for range times {
		go func() {
			unlock, err := plainfile.LockFolder(folder)
			if err == nil {
				if inside.Add(1) > 1 {
					err = errors.New("two at a time")
				}
				runtime.Gosched()
				inside.Add(-1)
				unlock()
			}
			done <- err
		}()
	}
	for range times {
		require.NoError(t, <-done)
	}
	_, err := plainfile.LockFolder(filepath.Join(folder, "none"))
	require.Error(t, err)
}
