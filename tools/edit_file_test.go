package tools_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/tools"
)

func TestAPartOfAFileIsReplacedIfItIsUnique(t *testing.T) {
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
