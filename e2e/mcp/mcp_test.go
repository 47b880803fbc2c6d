//go:build e2e

// Package mcp uses MCP servers that others wrote, as they are published.
package mcp

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/mcp"
	"multis/agent/tools"
)

// A file server made with another library than ours, from the module proxy.
const (
	fileServer        = "github.com/mark3labs/mcp-filesystem-server"
	fileServerVersion = "v0.11.1"
)

func TestMCP_ForeignServerTools(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	run("mod", "init", "example.com/server")
	run("get", fileServer+"@"+fileServerVersion)
	run("build", "-o", "server", fileServer)

	shelf := filepath.Join(dir, "shelf")
	require.NoError(t, os.Mkdir(shelf, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(shelf, "fence.txt"), []byte("The fence costs 480 euro."), 0o600))

	registry := tools.NewRegistry(tools.TierPolicy{})
	source := mcp.NewSource(registry, []mcp.Server{{
		Name: "files", Command: []string{filepath.Join(dir, "server"), shelf}, Folder: dir,
		Read: []string{"read_file", "list_*"},
	}})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- source.Run(ctx) }()
	defer func() { stop(); require.NoError(t, <-ended) }()
	require.Eventually(t, func() bool {
		return source.States()[0].Problem == "" && source.States()[0].Tools > 5
	}, time.Minute, 50*time.Millisecond)
	t.Log(source.States()[0].Tools, "tools")

	call := func(name string, args map[string]string, approved bool) tools.Result {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		res, err := registry.Do(ctx, tools.Call{ID: "1", Name: name, Args: raw, Caller: tools.Caller{Owner: true}}, approved)
		require.NoError(t, err)
		return res
	}
	require.Contains(t, call("files__read_file", map[string]string{"path": filepath.Join(shelf, "fence.txt")}, false).ForLLM,
		"The fence costs 480 euro.")
	require.Contains(t, call("files__list_directory", map[string]string{"path": shelf}, false).ForLLM, "fence.txt")
	outside := call("files__read_file", map[string]string{"path": "/etc/passwd"}, false)
	require.True(t, outside.IsError)
	note := map[string]string{"path": filepath.Join(shelf, "note.txt"), "content": "painted"}
	require.Equal(t, tools.CodeApproval, call("files__write_file", note, false).Code)
	require.NoFileExists(t, note["path"])
	require.False(t, call("files__write_file", note, true).IsError)
	require.FileExists(t, note["path"])
}
