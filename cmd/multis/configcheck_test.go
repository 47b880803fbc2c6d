package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigCheck_FindsWhatPreventsStart(t *testing.T) {
	t.Parallel()
	used, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer used.Close()
	_, port, err := net.SplitHostPort(used.Addr().String())
	require.NoError(t, err)
	for more, complaint := range map[string]string{
		"documents: {folder: /dev/null/documents}\n":                    "documents.folder: cannot be made: /dev/null is not a folder",
		"logging: {file: /dev/null/log}\n":                              "logging.file: cannot be made: /dev/null is not a folder",
		"watches: {hostname: 127.0.0.1, port: " + port + "}\n":          "watches.port: is in use by another program",
		"policy: {rules: [{tool: nothing_like_it, decision: allow}]}\n": "there is no tool nothing_like_it",
	} {
		dir := configured(t, "postgres://nobody@127.0.0.1:1/none", more)
		_, said, err := program(t, dir, "", "config", "check")
		require.Error(t, err, more)
		require.Contains(t, said, complaint)
		said, _, err = program(t, dir, "", "doctor")
		require.Error(t, err)
		require.Contains(t, said, "multis cannot start with this: ")
		require.Contains(t, said, "[config.start]")
	}
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "watches: {hostname: 127.0.0.1, port: "+port+"}\n")
	_, said, err := program(t, dir, "", "config", "set", "documents.folder", "/dev/null/documents")
	require.Error(t, err)
	require.Contains(t, said, "documents.folder: cannot be made: /dev/null is not a folder")
	require.NotContains(t, said, "watches.port", "which was so before")
	_, said, err = program(t, dir, "", "config", "set", "watches.port", "0")
	require.NoError(t, err, said)
	said, complaint, err := program(t, dir, "", "config", "check")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "is valid")
}

func TestConfigSet_ChecksBackupAndSkillsFolders(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "")
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	_, complaint, err := program(t, dir, "", "config", "set", "backup.folder", filepath.Join(taken, "backups"))
	require.Error(t, err)
	require.Contains(t, complaint,
		"is not a folder; choose a folder that multis can use, or take the default, backups: multis config set backup.folder ''")
	_, complaint, err = program(t, dir, "", "config", "set", "skills.folder", filepath.Join(dir, "missing"))
	require.Error(t, err)
	require.Contains(t, complaint, "skills.folder: cannot be used")
	_, complaint, err = program(t, dir, "", "config", "set", "backup.folder", filepath.Join(dir, "other"))
	require.NoError(t, err, complaint)
	_, complaint, err = program(t, dir, "", "config", "set", "backup.folder", "")
	require.NoError(t, err, complaint)
	said, _, err := program(t, dir, "", "config", "diff")
	require.NoError(t, err)
	require.NotContains(t, said, "backup.folder")
}
