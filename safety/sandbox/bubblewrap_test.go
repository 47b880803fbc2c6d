package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/safety/sandbox"
)

// fakeBubblewrap writes a program that does what bubblewrap does with its last arguments: it runs them. It notes all of them.
func fakeBubblewrap(t *testing.T, script string) (path, notes string) {
	t.Helper()
	dir := newSharedFolder(t)
	chownToNobody(t, dir)
	path, notes = filepath.Join(dir, "bwrap"), filepath.Join(dir, "notes")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho \"$@\" >> "+notes+"\n"+script), 0o755))
	return path, notes
}

func TestBubblewrap_HidesWhatCommandDoesNotNeed(t *testing.T) {
	s, err := sandbox.New(options(t))
	require.NoError(t, err)
	s.SetBubblewrap("/usr/bin/bwrap")
	require.Contains(t, s.Features(), "bubblewrap")
	for _, port := range []int{0, 4711} {
		t.Run(fmt.Sprint(port), func(t *testing.T) {
			argv, err := s.ChildArgv("/srv/shop", port)
			require.NoError(t, err)
			end := slices.Index(argv, "--")
			require.Positive(t, end)
			given := strings.Join(argv[:end], " ")
			require.True(t, strings.HasPrefix(given, "/usr/bin/bwrap --unshare-all --die-with-parent --ro-bind / / "), given)
			require.Contains(t, given, "--bind /srv/shop /srv/shop")
			require.Equal(t, 1, strings.Count(given, "--bind "), "it changes nothing else")
			require.Equal(t, port != 0, slices.Contains(argv[:end], "--share-net"),
				"a network namespace of its own, unless it may reach a port, to which Landlock and seccomp bind it")
			require.Equal(t, sandbox.Subcommand, argv[end+2])
		})
	}
}

func TestBubblewrap_UnusedByRoot(t *testing.T) {
	path, _ := fakeBubblewrap(t, "exit 1\n")
	t.Setenv("PATH", filepath.Dir(path)+":"+os.Getenv("PATH"))
	s, err := sandbox.New(options(t))
	require.NoError(t, err)
	if os.Geteuid() == 0 {
		require.Empty(t, s.Bubblewrap(), "inside of it root could not become the owner of the workspace")
	} else {
		require.Equal(t, path, s.Bubblewrap())
	}
	require.NoError(t, s.Probe(context.Background()).Err())
}

func TestBubblewrap_BrokenIsLeftOut(t *testing.T) {
	for name, script := range map[string]string{
		"it is forbidden": "echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n",
		"it runs nothing": "exit 0\n",
	} {
		t.Run(name, func(t *testing.T) {
			path, notes := fakeBubblewrap(t, script)
			s, err := sandbox.New(options(t))
			require.NoError(t, err)
			s.SetBubblewrap(path)
			report := s.Probe(context.Background())
			require.NoError(t, report.Err(), name)
			require.NotContains(t, report.Level, "bubblewrap", name)
			require.Empty(t, s.Bubblewrap(), name)
			require.FileExists(t, notes, "it was tried")
			result, err := s.Run(context.Background(), sandbox.Command{Argv: []string{"echo", "hello"}, Workspace: workspace(t)})
			require.NoError(t, err, name)
			require.Equal(t, "hello\n", result.Output)
		})
	}
}

// Bubblewrap that isolates nothing leaves what Landlock and seccomp hold.
func TestSandbox_HoldsWithoutBubblewrap(t *testing.T) {
	path, _ := fakeBubblewrap(t, "while [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n")
	s, err := sandbox.New(options(t))
	require.NoError(t, err)
	s.SetBubblewrap(path)
	report := s.Probe(context.Background())
	require.NoError(t, report.Err())
	require.Contains(t, report.Level, "bubblewrap")
	require.GreaterOrEqual(t, len(report.Attempts), 40)
}
