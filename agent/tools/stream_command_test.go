package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/safety/sandbox"
)

func TestStreamCommand_ShortReturnsEnd(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	res := h.callApproved("stream_command", map[string]any{"command": "echo ready"})
	require.False(t, res.IsError, res.ForLLM)
	require.Contains(t, res.ForLLM, "process 1: ")
	require.Contains(t, res.ForUser, "started echo ready as process 1")
}

func TestStreamCommand_BoundsBackground(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for range 4 {
		_, err := h.processes.Start("worker/7", sandbox.Command{Argv: []string{"sleep", "100"}, Workspace: h.caller.Workspace})
		require.NoError(t, err)
	}
	res := h.callApproved("stream_command", map[string]any{"command": "echo more"})
	require.Equal(t, tools.CodeFailed, res.Code)
	require.Contains(t, res.ForLLM, "kill one")
}
