package tools_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/safety/sandbox"
)

func TestTailOutput_ReadsProcessAndFile(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	id, err := h.processes.Start("worker/7", sandbox.Command{Argv: []string{"seq", "100"}, Workspace: h.caller.Workspace})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err = h.processes.Wait(ctx, "worker/7", id)
	require.NoError(t, err)
	res := h.call("tail_output", map[string]any{"process": id, "lines": 2})
	require.Contains(t, res.ForLLM, "\n99\n100")
	require.NotContains(t, res.ForLLM, "98")

	require.NoError(t, os.WriteFile(filepath.Join(h.caller.Workspace, "log"), []byte("a\nb\nc\n"), 0o644))
	require.Equal(t, "b\nc", h.call("tail_output", map[string]any{"path": "log", "lines": 2}).ForLLM)
	require.Equal(t, tools.CodeNotFound, h.call("tail_output", map[string]any{"path": "/etc/passwd"}).Code)
	require.Equal(t, tools.CodeArguments, h.call("tail_output", nil).Code)
}

func TestTailOutput_KeepsNewestLines(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	long := bytes.Repeat([]byte(strings.Repeat("x", 200)+"\n"), 200)
	require.NoError(t, os.WriteFile(filepath.Join(h.caller.Workspace, "log"), append(long, "the newest\n"...), 0o644))
	id, err := h.processes.Start("worker/7", sandbox.Command{Argv: []string{"cat", "log"}, Workspace: h.caller.Workspace})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, err = h.processes.Wait(ctx, "worker/7", id)
	require.NoError(t, err)
	for _, args := range []map[string]any{{"path": "log", "lines": 500}, {"process": id, "lines": 500}} {
		res := h.call("tail_output", args)
		require.False(t, res.IsError, res.ForLLM)
		require.Contains(t, res.ForLLM, "bytes before this left out]")
		require.True(t, strings.HasSuffix(res.ForLLM, "the newest"), res.ForLLM[len(res.ForLLM)-50:])
		require.LessOrEqual(t, len(res.ForLLM), 16_000)
	}
}
