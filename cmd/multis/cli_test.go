package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program runs multis in a folder of its own and returns what it printed.
func program(t *testing.T, dir, input string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	var out, errOut strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), asProgram+"=1"), strings.NewReader(input), &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

func TestSettingUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said, _, err := program(t, dir, "")
	require.NoError(t, err)
	require.Contains(t, said, "There is no config.yaml yet", "bare multis says what is missing")
	require.Contains(t, said, "multis chat", "and what can be tried without it")

	example, _, err := program(t, dir, "", "-e")
	require.NoError(t, err)
	config := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(example), 0o600))

	said, _, err = program(t, dir, "", "-g")
	require.NoError(t, err)
	require.Contains(t, said, "app_service_config_files", "it says what to do with the file")
	filled, err := os.ReadFile(config)
	require.NoError(t, err)
	require.NotContains(t, string(filled), ": generate", "the tokens are there")
	require.Contains(t, string(filled), "# You: the one person", "and the comments still are")
	registration, err := os.ReadFile(filepath.Join(dir, "registration.yaml"))
	require.NoError(t, err)
	require.Contains(t, string(registration), `^@you:example\.com$`)
	info, err := os.Stat(filepath.Join(dir, "registration.yaml"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "nobody else reads the tokens")

	_, _, err = program(t, dir, "", "-g")
	require.NoError(t, err)
	again, err := os.ReadFile(filepath.Join(dir, "registration.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(registration), string(again), "a second time changes nothing")
	unchanged, err := os.ReadFile(config)
	require.NoError(t, err)
	require.Equal(t, string(filled), string(unchanged))

	said, _, err = program(t, dir, "")
	require.NoError(t, err)
	require.Contains(t, said, "multis run", "bare multis says what comes next")
}

func TestAWrongConfigurationIsOneLineAndNothingStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("homeserver: {address: http://x, domain: x, adress: y}\n"), 0o600))
	for _, command := range []string{"run", "migrate", "health"} {
		_, said, err := program(t, dir, "", command)
		require.Error(t, err, command)
		require.Contains(t, said, "config.yaml:1: homeserver.adress", command)
		require.NotContains(t, said, "goroutine", command)
	}
}

func TestChatInATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // started by root, its database runs as another user
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prices.md"), []byte("# Prices\n\nA consultation costs 80 EUR.\n"), 0o600))
	chat := func(lines ...string) string {
		said, stderr, err := program(t, dir, strings.Join(lines, "\n")+"\n", "chat", "--data", filepath.Join(dir, "data"))
		require.NoError(t, err, stderr)
		return said
	}

	said := chat("/index prices.md", "1", "/help")
	require.Contains(t, said, "who may see it?")
	require.Contains(t, said, "done: 1 passage")
	require.Contains(t, said, "/ask question")

	said = chat("What does a consultation cost?", "/status")
	require.Contains(t, said, "80 EUR", "what was learned is still known the next time")
	require.Contains(t, said, "prices.md")
	require.Contains(t, said, "1 public")
	require.NoFileExists(t, filepath.Join(dir, "data", "postgres", "data", "postmaster.pid"), "its database ended with it")
}
