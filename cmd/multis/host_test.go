package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/config"
	"multis/policy/rules"
	"multis/safety/sandbox"
	"multis/store"
)

func TestRules_DecideOwnersCommands(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	proved, err := sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}})
	require.NoError(t, err)
	require.NoError(t, proved.Probe(t.Context()).Err())
	data, err := os.MkdirTemp("", "multis-host-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(data)) })
	cfg := &config.Config{TimeZone: time.UTC, Exec: config.Exec{Enabled: true}}
	cfg.Database.DataDir = data
	cfg.Agents = map[string]config.Agent{"shop": {Workspace: filepath.Join(data, "shop"), Deny: []string{"exec"}}}
	set, err := newRules(cfg)
	require.NoError(t, err)
	registry := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), tools.Exec{Sandbox: proved}, tools.ReadPath{Sandbox: proved})
	h, err := newHost(cfg, proved, registry)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(data, 0o755))
	if os.Geteuid() == 0 { // commands run as the owner of their workspace
		require.NoError(t, os.Chmod(filepath.Join(data, "agents"), 0o755))
		require.NoError(t, os.Chown(assistantWorkspace(cfg), 65534, 65534))
	}
	room, view := store.Chat{ID: 1}, policyView{cfg: cfg, registry: registry}
	for line, want := range map[string]struct {
		pin     bool
		refused string
		explain string
	}{
		"ls -l":             {explain: "confirm"},
		"cat notes.md":      {explain: "confirm"},
		"touch notes.md":    {pin: true, explain: "pin"},
		"rm -r old":         {pin: true, explain: "pin"},
		"sudo ls":           {refused: "never", explain: "deny"},
		"rm -rf /":          {refused: "never"},
		"ls && rm x":        {refused: "without a shell"},
		"@shop ls":          {refused: "no such tool"},
		"@nobody ls":        {refused: "there is no agent nobody"},
		"cat /root/.bashrc": {explain: "confirm"}, // the sandbox stops it
		"no-such-program9":  {refused: "there is no program"},
	} {
		c, err := h.Prepare(t.Context(), tools.HostRequest{Room: room, Text: line})
		if want.refused != "" {
			require.ErrorContains(t, err, want.refused, line)
		} else {
			require.NoError(t, err, line)
			require.Equal(t, want.pin, c.NeedsPIN, line)
		}
		if want.explain != "" {
			raw, err := json.Marshal(map[string]string{"command": line})
			require.NoError(t, err)
			said, err := view.Explain(room, rules.Assistant, "exec", string(raw))
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(said, want.explain), "%s: %s", line, said)
		}
	}
	run := func(line string) (string, int) {
		c, err := h.Prepare(t.Context(), tools.HostRequest{Room: room, Text: line})
		require.NoError(t, err)
		var live []byte
		r, err := h.Run(t.Context(), c, func(p []byte) { live = append(live, p...) })
		require.NoError(t, err)
		require.Equal(t, r.Output, string(live))
		return r.Output, r.ExitCode
	}
	_, code := run("touch notes.md")
	require.Zero(t, code)
	require.FileExists(t, filepath.Join(assistantWorkspace(cfg), "notes.md"))
	notes := filepath.Join(data, "todo.md")
	require.NoError(t, os.WriteFile(notes, []byte("call Ana"), 0o644))
	said, code := run("cat " + notes)
	require.NotZero(t, code, said)
	_, err = h.Resolve(t.Context(), tools.HostRequest{Room: room, Text: "/usr/share/common-licenses/BSD"})
	require.ErrorContains(t, err, "This path is not for the assistant (default.yaml:", "it says which rule refuses")
	path, err := h.Resolve(t.Context(), tools.HostRequest{Room: room, Text: notes})
	require.NoError(t, err)
	content, err := h.Read(t.Context(), tools.HostRequest{Room: room, Text: path})
	require.NoError(t, err)
	require.Equal(t, "call Ana", content)
	for _, denied := range []string{"/etc/passwd", "/proc/self/environ", "/var/log/messages", "relative"} {
		_, err := h.Resolve(t.Context(), tools.HostRequest{Room: room, Text: denied})
		require.Error(t, err, denied)
	}
	explained, err := view.Explain(room, rules.Assistant, "read", `{"path": "/etc/passwd"}`)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(explained, "deny"), explained)
}

func TestRules_LimitCountsTypedCommands(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	proved, err := sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}})
	require.NoError(t, err)
	require.NoError(t, proved.Probe(t.Context()).Err())
	cfg := &config.Config{
		TimeZone:     time.UTC,
		Exec:         config.Exec{Enabled: true},
		CommandHooks: map[string]config.CommandHook{"guard": {Before: []string{config.BeforeTool}, Tools: []string{"exec*"}}},
	}
	cfg.Database.DataDir = t.TempDir()
	cfg.Policy.Rules, err = rules.Parse("rules.yaml", []byte("rules:\n  - {tool: exec, decision: confirm, limit: 2/h}\n"))
	require.NoError(t, err)
	set, err := newRules(cfg)
	require.NoError(t, err)
	registry := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), tools.Exec{Sandbox: proved})
	h, err := newHost(cfg, proved, registry)
	require.NoError(t, err)
	if os.Geteuid() == 0 { // commands run as the owner of their workspace
		require.NoError(t, os.Chown(assistantWorkspace(cfg), 65534, 65534))
	}
	prepare := func(message store.MessageID) error {
		_, err := h.Prepare(t.Context(), tools.HostRequest{Room: store.Chat{ID: 1}, Message: message, Text: "ls"})
		return err
	}
	said, err := policyView{cfg: cfg, registry: registry}.Explain(store.Chat{ID: 1}, rules.Assistant, "exec", `{"command": "ls"}`)
	require.NoError(t, err)
	require.Contains(t, said, "then the command hook guard is asked")
	said, err = policyView{cfg: cfg, registry: registry}.Explain(store.Chat{ID: 1}, rules.Assistant, "exec", `{"command": "sudo ls"}`)
	require.NoError(t, err)
	require.NotContains(t, said, "guard", "what is denied needs no hook")

	for range 5 { // at most five jobs: before the PIN, after the PIN, and to run the command
		require.NoError(t, prepare(1))
	}
	require.NoError(t, prepare(2))
	require.ErrorContains(t, prepare(3), "called too often")
	require.NoError(t, prepare(1), "what was counted goes on")
}
