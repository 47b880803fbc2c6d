package tools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/safety/sandbox"
	"multis/store"
)

// host has the tools that change files and run commands, in a workspace that commands may use.
type host struct {
	*testWorkspace
	sandbox   *sandbox.Sandbox
	processes *sandbox.Processes
}

// nobody is the user of the workspace if the tests run as root.
const nobody = 65534

// provedSandbox is one sandbox for all tests: the kernel counts processes for each user, and each probe uses up the count for a moment.
var provedSandbox = sync.OnceValues(func() (*sandbox.Sandbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}})
	if err != nil {
		return nil, err
	}
	return s, s.Probe(context.Background()).Err()
})

func newHost(t *testing.T) *host {
	t.Helper()
	proved, err := provedSandbox()
	require.NoError(t, err)
	workspace, err := os.MkdirTemp("", "multis-tools-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(workspace)) })
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(workspace, nobody, nobody))
	}
	processes := sandbox.NewProcesses(context.Background(), proved)
	t.Cleanup(processes.Close)
	h := &host{
		testWorkspace: &testWorkspace{t: t, caller: tools.Caller{Owner: true, Agent: "worker", Chat: store.Chat{ID: 7}, Workspace: workspace}},
		sandbox:       proved,
		processes:     processes,
	}
	h.registry = tools.NewRegistry(tools.TierPolicy{}, tools.Exec{Sandbox: proved}, tools.StreamCommand{Sandbox: proved, Processes: processes},
		tools.TailOutput{Processes: processes}, tools.Kill{Processes: processes}, tools.WriteFile{}, tools.EditFile{}, tools.ReadFile{})
	return h
}

func (h *host) toolCall(name string, args map[string]any) tools.Call {
	h.t.Helper()
	raw, err := json.Marshal(args)
	require.NoError(h.t, err)
	return tools.Call{ID: "1", Name: name, Args: raw, Caller: h.caller}
}

// callApproved makes a call that the owner has approved.
func (h *host) callApproved(name string, args map[string]any) tools.Result {
	h.t.Helper()
	c := h.toolCall(name, args)
	var err error
	c.Binding, err = h.registry.Binding(h.t.Context(), c)
	require.NoError(h.t, err)
	return do(h.t, h.registry, c, true)
}

func TestExec_ReadingCommandNeedsApproval(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	require.NoError(t, os.WriteFile(filepath.Join(h.caller.Workspace, "notes.md"), []byte("480 euro\n"), 0o644))
	args := map[string]any{"command": "cat notes.md"}
	require.Equal(t, tools.CodeApproval, h.call("exec", args).Code)
	res := h.callApproved("exec", args)
	require.False(t, res.IsError, res.ForLLM)
	require.Contains(t, res.ForLLM, "exit status 0")
	require.Contains(t, res.ForLLM, "480 euro")
	require.Contains(t, res.ForUser, "ran cat notes.md")
	res = h.callApproved("exec", map[string]any{"command": "cat nothing"})
	require.True(t, res.IsError)
	require.Contains(t, res.ForLLM, "exit status 1")
}

func TestExec_LongOutputKeepsBothEnds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, lines := range []int{3000, 30_000} { // 30 KB, which the sandbox keeps, and 300 KB, which it cuts as well
		require.NoError(t, os.WriteFile(filepath.Join(h.caller.Workspace, "log"), numberedLines(lines), 0o644))
		res := h.callApproved("exec", map[string]any{"command": "cat log"})
		require.False(t, res.IsError, res.ForLLM)
		require.Contains(t, res.ForLLM, "exit status 0")
		require.Contains(t, res.ForLLM, "line 00001\nline 00002\n")
		require.Contains(t, res.ForLLM, "bytes left out]")
		require.True(t, strings.HasSuffix(res.ForLLM, fmt.Sprintf("line %05d\n", lines)), "the last line is there: %q",
			res.ForLLM[len(res.ForLLM)-100:])
		require.LessOrEqual(t, len(res.ForLLM), 16_000)
	}
}

// numberedLines returns lines of 11 bytes that end with their numbers.
func numberedLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "line %05d\n", i+1)
	}
	return b.Bytes()
}

func TestExec_ChangingCommandNeedsPIN(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, command := range []string{"rm notes.md", "sh -c ls", "make", "./build.sh"} {
		spec, verdict, err := h.registry.Judge(context.Background(), h.toolCall("exec", map[string]any{"command": command}))
		require.NoError(t, err)
		require.Equal(t, tools.Pin, spec.Tier, command)
		require.Equal(t, tools.Verdict{Pin: true, Why: verdict.Why}, verdict)
		require.Equal(t, tools.CodeApproval, do(t, h.registry, h.toolCall("exec", map[string]any{"command": command}), true).Code,
			"a yes without the PIN is not enough")
	}
}

func TestExec_ForbiddenCommandsNeverRun(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, command := range []string{"rm -rf /", "env sh -c 'rm -rf /'", "sudo ls", "cat /proc/self/environ", "ls && rm x", "ls > x", ""} {
		for _, tool := range []string{"exec", "stream_command"} {
			require.Equal(t, tools.CodeRefused, do(t, h.registry, h.toolCall(tool, map[string]any{"command": command}), true).Code, command)
		}
	}
	h.caller.Workspace = ""
	offered, err := h.registry.Offered(context.Background(), h.caller)
	require.NoError(t, err)
	require.Empty(t, offered, "without a workspace there is nothing to work on")
}

func TestExec_NeedsProvenSandbox(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	unproved, err := sandbox.New(sandbox.Options{Program: []string{"/proc/self/exe", sandbox.Subcommand}, ABI: sandbox.NoLandlock})
	require.NoError(t, err)
	h.registry.Add(tools.Exec{Sandbox: unproved})
	res := do(t, h.registry, h.toolCall("exec", map[string]any{"command": "ls"}), true)
	require.Equal(t, tools.CodeRefused, res.Code)
	require.Contains(t, res.ForLLM, "exec is off")
	require.Error(t, unproved.Probe(context.Background()).Err())
	require.Contains(t, do(t, h.registry, h.toolCall("exec", map[string]any{"command": "ls"}), true).ForLLM, "no Landlock")
}

func TestExec_ChangedCallIsRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	program := filepath.Join(h.caller.Workspace, "notes.md")
	require.NoError(t, os.WriteFile(program, []byte("one"), 0o644))
	c := h.toolCall("exec", map[string]any{"command": "wc notes.md"})
	var err error
	c.Binding, err = h.registry.Binding(h.t.Context(), c)
	require.NoError(t, err)
	require.False(t, do(t, h.registry, c, true).IsError)
	c.Args = json.RawMessage(`{"command":"wc -l notes.md"}`)
	res := do(t, h.registry, c, true)
	require.Equal(t, tools.CodeRefused, res.Code)
	require.Contains(t, res.ForLLM, "changed after it was approved")
}
