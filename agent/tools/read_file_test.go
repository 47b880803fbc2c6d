package tools_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadFile_WorkspaceAndSharedFolders(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	require.Contains(t, d.call("read_file", map[string]any{"path": "notes.md"}).ForLLM, "480 euro")
	require.Equal(t, "[lines 2 to 2 of 4]\nthe fence costs 480 euro\n",
		d.call("read_file", map[string]any{"path": "notes.md", "from": 2, "lines": 1}).ForLLM)
	require.Contains(t, d.call("read_file", map[string]any{"path": filepath.Join(d.caller.ReadPaths[0], "price.csv")}).ForLLM, "bolt")
	list := d.call("read_file", map[string]any{"path": ""}).ForLLM
	require.Contains(t, list, "sub/")
	require.NotContains(t, list, "secret")
}

func TestReadFile_RefusesBinary(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	require.True(t, d.call("read_file", map[string]any{"path": "data.bin"}).IsError)
}
