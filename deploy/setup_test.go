package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The users of the containers.
const (
	multisUser   = 1337
	postgresUser = 999
)

// setUp runs the set-up of the folders as its container does, which needs root.
func setUp(t *testing.T, dir string) {
	t.Helper()
	argv := []string{"env", "DATA_DIR=" + filepath.Join(dir, "data"), "SECRETS_DIR=" + filepath.Join(dir, "secrets"), "sh", "compose-setup.sh"}
	if os.Geteuid() != 0 {
		argv = append([]string{"sudo", "-n"}, argv...)
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
}

func TestComposeSetup_LimitsSecretsToTheirUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{"data", "secrets"} {
		t.Run(folder, func(t *testing.T) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
		})
	}
	config := filepath.Join(dir, "data", "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("as an editor of root's left it"), 0o600))
	setUp(t, dir)
	for path, want := range map[string]struct {
		mode        os.FileMode
		user, group uint32
	}{
		"secrets":                   {0o711, multisUser, multisUser},
		"secrets/postgres_password": {0o400, postgresUser, postgresUser},
		"secrets/database_url":      {0o440, multisUser, postgresUser},
		"data":                      {0o700, multisUser, multisUser},
		"data/config.yaml":          {0o600, multisUser, multisUser},
	} {
		t.Run(path, func(t *testing.T) {
			info, err := os.Stat(filepath.Join(dir, path))
			require.NoError(t, err)
			require.Equal(t, want.mode, info.Mode().Perm(), path)
			owner, ok := info.Sys().(*syscall.Stat_t)
			require.True(t, ok)
			require.Equal(t, []uint32{want.user, want.group}, []uint32{owner.Uid, owner.Gid}, path)
		})
	}
	password, err := os.ReadFile(filepath.Join(dir, "secrets/postgres_password"))
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{48}$`, string(password))
	url, err := os.ReadFile(filepath.Join(dir, "secrets/database_url"))
	require.NoError(t, err)
	require.Regexp(t, `^postgres://multis:[0-9a-f]{48}@multis-postgres/multis\n$`, string(url))

	setUp(t, dir)
	for path, content := range map[string][]byte{"postgres_password": password, "database_url": url} {
		t.Run(path, func(t *testing.T) {
			again, err := os.ReadFile(filepath.Join(dir, "secrets", path))
			require.NoError(t, err)
			require.Equal(t, content, again, "what is there stays")
		})
	}
}
