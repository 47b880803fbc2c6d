package tools_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/safety/sandbox"
)

func TestKill_OwnProcessesOnly(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	start := func(owner string) string {
		id, err := h.processes.Start(owner, sandbox.Command{Argv: []string{"sleep", "100"}, Workspace: h.caller.Workspace})
		require.NoError(t, err)
		return id
	}
	mine := start("worker/7")
	ofAnotherAgent := start("other/7")
	ofAnotherChat := start("worker/8")
	for _, id := range []string{ofAnotherAgent, ofAnotherChat, "1000", strconv.Itoa(os.Getpid()), "-1", ""} {
		for _, tool := range []string{"kill", "tail_output"} {
			require.True(t, h.call(tool, map[string]any{"process": id}).IsError, id)
		}
	}
	res := h.call("kill", map[string]any{"process": mine})
	require.False(t, res.IsError, res.ForLLM)
	require.Equal(t, "ended process "+mine, res.ForUser)
	for owner, id := range map[string]string{"other/7": ofAnotherAgent, "worker/8": ofAnotherChat} {
		state, err := h.processes.Find(owner, id, 100)
		require.NoError(t, err)
		require.True(t, state.Running)
	}
	require.Equal(t, tools.Read, tools.Kill{}.Spec().Tier)
}
