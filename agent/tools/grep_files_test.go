package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGrepFiles_ListsMatchesWithPlace(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	require.Contains(t, d.call("grep_files", map[string]any{"pattern": `\b480\b`}).ForLLM, "notes.md:2: the fence costs 480 euro")
	require.NotContains(t, d.call("grep_files", map[string]any{"pattern": "a"}).ForLLM, "data.bin", "it is no text")
}

func TestGrepFiles_SaysIfTooMuch(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	require.NoError(t, os.WriteFile(filepath.Join(d.caller.Workspace, "long.txt"), []byte(strings.Repeat("480\n", 500)), 0o600))
	require.Contains(t, d.call("grep_files", map[string]any{"pattern": "480"}).ForLLM, "[there is more: look for something narrower]")
}
