package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/safety/sandbox"
)

// fakeAgent is a command-line agent that says what it was given.
const fakeAgent = `#!/bin/sh
echo "arguments: $#"
printf '<%s>\n' "$@"
echo "input: $(cat)"
echo "key: $AGENT_KEY, other: $MULTIS_CANARY, home: $HOME, proxy: ${HTTPS_PROXY%%:*}"
echo "work" > result.txt
case "$*" in *fail*) echo "no luck"; exit 3;; *wait*) sleep 60;; *long*) head -c 300000 /dev/zero | tr '\0' x;; esac
cat ../secret 2>&1 || true
`

func TestProgram_WorksInSandbox(t *testing.T) {
	t.Setenv("MULTIS_CANARY", "canary")
	folder, err := os.MkdirTemp("", "multis-agent-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	workspace := filepath.Join(folder, "coder")
	require.NoError(t, os.Mkdir(workspace, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(workspace, "agent.sh"), []byte(fakeAgent), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "secret"), []byte("canary in a file\n"), 0o644))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(workspace, 65534, 65534))
		require.NoError(t, os.Chown(filepath.Join(workspace, "agent.sh"), 65534, 65534))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	proved, err := sandbox.New(sandbox.Options{Program: []string{self, sandbox.Subcommand}, Temp: folder})
	require.NoError(t, err)
	require.NoError(t, proved.Probe(t.Context()).Err())
	p := agentProgram{sandbox: proved, config: config.Agent{
		Command: []string{"./agent.sh", "-p", config.AgentPrompt}, Workspace: workspace, Timeout: time.Minute,
		Env: map[string]config.Secret{"AGENT_KEY": "named"},
	}}
	require.Equal(t, []string{"./agent.sh", "-p"}, p.Argv())

	task := "look at 'x'; rm -rf / && $(id) \"quoted\"\nsecond line"
	output, err := p.Work(t.Context(), task)
	require.NoError(t, err)
	require.Contains(t, output, "arguments: 2\n<-p>\n<"+task+">", "the task is one argument, and no shell reads it")
	require.Contains(t, output, "key: named, other: , home: "+workspace+", proxy: \n", "only what is named, and no network")
	require.NotContains(t, output, "canary")
	require.FileExists(t, filepath.Join(workspace, "result.txt"))
	output, err = p.Work(t.Context(), "--dangerously-skip-permissions")
	require.NoError(t, err)
	require.Contains(t, output, "<Task: --dangerously-skip-permissions>", "a task is never an option")

	_, err = p.Work(t.Context(), "fail")
	require.ErrorContains(t, err, "status 3")
	require.ErrorContains(t, err, "no luck")
	output, err = p.Work(t.Context(), "long")
	require.NoError(t, err)
	require.Less(t, len(output), 100_000)
	slow := p
	slow.config.Timeout = 500 * time.Millisecond
	_, err = slow.Work(t.Context(), "wait")
	require.ErrorContains(t, err, "took longer")

	byInput := p
	byInput.config.Command, byInput.config.Network = []string{"./agent.sh"}, true
	output, err = byInput.Work(t.Context(), task)
	require.NoError(t, err)
	require.Contains(t, output, "input: "+task)
	require.Contains(t, output, "proxy: http")

	before, err := p.Fingerprint(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(workspace, "agent.sh"), []byte(strings.Replace(fakeAgent, "work", "other", 1)), 0o755))
	after, err := p.Fingerprint(t.Context())
	require.NoError(t, err)
	require.NotEqual(t, before, after)
}
