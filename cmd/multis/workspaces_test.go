package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

func TestWorkspaces_AreMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere")
	file := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("agents:\n  ops: {}\n  shop: {workspace: "+elsewhere+"}\n"), 0o600))
	cfg, err := config.LoadOffline(file)
	require.NoError(t, err)
	require.NoError(t, makeWorkspaces(cfg))
	require.DirExists(t, filepath.Join(dir, "data", "agents", "ops"))
	require.NoDirExists(t, elsewhere, "the owner may have mistyped it")
	require.NoError(t, makeWorkspaces(cfg), "again")

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "data")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	require.ErrorContains(t, makeWorkspaces(cfg), "agents.ops.workspace: ")
}
