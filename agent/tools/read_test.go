package tools_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/safety/sandbox"
)

func TestRead_OwnersCommandOnly(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	folder := h.caller.Workspace
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	notes, config := write("notes.md", "480 euro\n"), write("own/config.yaml", "as_token: secret")
	require.NoError(t, os.Link(config, filepath.Join(folder, "hard")))
	require.NoError(t, os.Symlink(config, filepath.Join(folder, "soft")))
	require.NoError(t, os.Symlink(filepath.Join(folder, "own"), filepath.Join(folder, "folder")))
	require.NoError(t, os.Symlink("/proc/self/environ", filepath.Join(folder, "environ")))
	long := write("long.txt", strings.Repeat("a line\n", 20_000))
	binary := write("binary", "\x00\x01\x02")
	own, err := sandbox.New(sandbox.Options{
		Program:        []string{"/proc/self/exe"},
		ForbiddenPaths: []string{filepath.Join(folder, "own"), config},
	})
	require.NoError(t, err)
	h.registry.Add(tools.ReadPath{Sandbox: own})
	read := func(path string) tools.Result {
		c := h.toolCall("read", map[string]any{"path": path})
		c.PINEntered = true
		return do(t, h.registry, c, true)
	}

	require.Contains(t, read(notes).ForLLM, "Only the owner's own command", "a model")
	offered, err := h.registry.Offered(t.Context(), h.caller)
	require.NoError(t, err)
	for _, s := range offered {
		require.NotEqual(t, "read", s.Name)
	}
	h.caller.Typed = true
	require.Equal(t, tools.CodeApproval, h.call("read", map[string]any{"path": notes}).Code, "it needs the PIN")
	require.Equal(t, "480 euro\n", read(notes).ForLLM)
	require.Contains(t, read(long).ForLLM, "cut here")
	require.Contains(t, read(binary).ForLLM, "no text file")
	for _, path := range []string{
		config, filepath.Join(folder, "own/../own/config.yaml"), filepath.Join(folder, "hard"), filepath.Join(folder, "soft"),
		filepath.Join(folder, "folder/config.yaml"),
		filepath.Join(folder, "environ"), "/proc/self/environ", "/proc/1/environ", "/proc/self/root" + config, "/dev/zero", "/run/x",
		"/sys/kernel/notes", folder, "notes.md", "", filepath.Join(folder, "none"),
	} {
		res := read(path)
		require.True(t, res.IsError, path)
		require.NotContains(t, res.ForLLM, "as_token", path)
	}
}
