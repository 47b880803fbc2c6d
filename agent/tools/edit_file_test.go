package tools_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestEditFile_ReplacesUniquePart(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	file := filepath.Join(h.caller.Workspace, "prices.md")
	require.NoError(t, os.WriteFile(file, []byte("fence 480\ngate 480\n"), 0o600))
	edit := func(old, replacement string, all bool) tools.Result {
		return h.callApproved("edit_file", map[string]any{"path": "prices.md", "old": old, "new": replacement, "all": all})
	}
	require.Equal(t, tools.CodeApproval, h.call("edit_file", map[string]any{"path": "prices.md", "old": "fence", "new": "x"}).Code)
	require.Contains(t, edit("480", "500", false).ForLLM, "2 times")
	require.Contains(t, edit("door", "500", false).ForLLM, "does not occur")
	require.True(t, edit("", "500", false).IsError)
	require.False(t, edit("fence 480", "fence 500", false).IsError)
	require.False(t, edit("0\n", "1\n", true).IsError)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "fence 501\ngate 481\n", string(data))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the mode stays")
}

// The length is computed before the text is made: a file of 1 MB of one letter and a new text of 16 KB would make 16 GB.
func TestEditFile_BoundsResult(t *testing.T) { //nolint:paralleltest // it counts allocations
	h := newHost(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.caller.Workspace, "a"), []byte(strings.Repeat("a", 1<<20)), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := h.callApproved("edit_file", map[string]any{"path": "a", "old": "a", "new": strings.Repeat("b", 200), "all": true})
	runtime.ReadMemStats(&after)
	require.True(t, res.IsError)
	require.Contains(t, res.ForLLM, "bigger than 1 MB")
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(50), "MB")
}
