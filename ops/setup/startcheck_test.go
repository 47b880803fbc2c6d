package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

// writeConfig writes a valid configuration, which ends with more, and returns its folder.
func writeConfig(t *testing.T, more string) string {
	t.Helper()
	const text = `
homeserver: {address: "http://127.0.0.1:1", domain: x}
appservice: {port: 29399, sender_localpart: as_multis_test, as_token: as-token, hs_token: hs-token}
owner: "@owner:x"
time_zone: UTC
database: {url: "postgres://nobody@127.0.0.1:1/none"}
`
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text+more), 0o600))
	return dir
}

// A command of root's that took the data folder over, such as chown or cp: the default is the same folder, and another one would be empty.
func TestCheckStart_ReturnsDataFolderToUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Log("Only root can give a folder to another user.")
		return
	}
	dir := writeConfig(t, "")
	cfg, err := config.Load(filepath.Join(dir, "config.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(cfg.Database.DataDir, "documents"), 0o700))
	w := RunUser{uid: 65534}
	err = w.CheckStart(t.Context(), cfg, cfg)
	require.ErrorContains(t, err, "permission denied; chown -R nobody: "+cfg.Database.DataDir)
	require.NotContains(t, err.Error(), "config set")
	require.NoError(t, os.Chown(cfg.Database.DataDir, w.uid, -1))
	require.ErrorContains(t, w.CheckStart(t.Context(), cfg, cfg), "documents: permission denied; chown -R nobody: "+cfg.Database.DataDir)
}
