package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/safety/sandbox"
)

func TestFingerprint_EndsWithContext(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a"), make([]byte, 1<<20), 0o600))
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := sandbox.Fingerprint(ctx, []string{"rm", "a"}, folder)
	require.NoError(t, err)
	enough := errors.New("enough")
	cancel(enough)
	_, err = sandbox.Fingerprint(ctx, []string{"rm", "a"}, folder)
	require.ErrorIs(t, err, enough)
}
