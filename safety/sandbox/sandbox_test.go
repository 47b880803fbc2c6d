package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/safety/sandbox"
)

// testSandbox is a sandbox that works, with a workspace and a file outside.
type testSandbox struct {
	*sandbox.Sandbox
	workspace string
	secret    string
}

// nobody is the user of workspaces if the tests run as root.
const nobody = 65534

func options(t *testing.T) sandbox.Options {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	return sandbox.Options{Program: []string{program, sandbox.Subcommand}, Temp: newSharedFolder(t)}
}

func newTestSandbox(t *testing.T) testSandbox {
	t.Helper()
	g := testSandbox{secret: filepath.Join(newSharedFolder(t), "config.yaml"), workspace: workspace(t)}
	require.NoError(t, os.WriteFile(g.secret, []byte("token: canary\n"), 0o644))
	o := options(t)
	o.ForbiddenPaths = []string{g.secret}
	var err error
	g.Sandbox, err = sandbox.New(o)
	require.NoError(t, err)
	report := g.Probe(context.Background())
	require.NoError(t, report.Err())
	return g
}

func workspace(t *testing.T) string {
	t.Helper()
	dir := newSharedFolder(t)
	chownToNobody(t, dir)
	return dir
}

// newSharedFolder returns a new folder that every user can enter; t.TempDir is in one that nobody else can.
func newSharedFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "multis-sandbox-") //nolint:usetesting // as said
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// chownToNobody makes nobody the owner of a path if the tests run as root.
func chownToNobody(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(path, nobody, nobody))
	}
}

func TestProbe_CannotEscape(t *testing.T) {
	o := options(t)
	o.ForbiddenPaths = []string{filepath.Join(newSharedFolder(t), "config.yaml")}
	require.NoError(t, os.WriteFile(o.ForbiddenPaths[0], []byte("x"), 0o644))
	s, err := sandbox.New(o)
	require.NoError(t, err)
	require.ErrorIs(t, s.Ready(), sandbox.ErrNotProbed)
	report := s.Probe(context.Background())
	for _, a := range report.Attempts {
		t.Log(a.Escaped, a.Name, a.Detail)
		require.False(t, a.Escaped, a.Name)
	}
	require.NoError(t, report.Err())
	require.GreaterOrEqual(t, len(report.Attempts), 40)
	require.NoError(t, s.Ready())
}
