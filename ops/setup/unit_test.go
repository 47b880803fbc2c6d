package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnit_ReadOnlyFoldersNameDropIn(t *testing.T) {
	t.Parallel()
	unit := parseUnit(unitFile)
	require.Equal(t, "multis", unit.User)
	require.Empty(t, unit.Refusal("/var/lib/multis/data/documents"))
	for _, folder := range []string{"/etc/x", "/srv/m/docs", "/var/lib/multisx"} {
		require.Contains(t, unit.Refusal(folder), "ReadWritePaths="+folder+" with systemctl edit multis, then systemctl restart multis")
		require.Empty(t, unit.Hides(folder), "it can be read")
	}
	require.Contains(t, unit.Refusal("/tmp/docs"), "PrivateTmp")
	require.Contains(t, unit.Refusal("/home/an/docs"), "ProtectHome")
	opened := parseUnit(unitFile + "[Service]\nReadWritePaths=-/srv/m /mnt/x\nStateDirectory=other\n")
	for _, folder := range []string{"/srv/m/docs", "/mnt/x", "/var/lib/other"} {
		require.Empty(t, opened.Refusal(folder))
	}
	require.Empty(t, parseUnit("User=multis\nProtectSystem=no\nPrivateTmp=no\nProtectHome=no\n").Refusal("/tmp/docs"))
}

func TestUnit_CountsForOwnConfiguration(t *testing.T) {
	t.Parallel()
	m := Machine{Root: t.TempDir()}
	_, ok := m.ServiceUnit(t.Context(), "/var/lib/multis/config.yaml")
	require.False(t, ok, "no unit is installed")
	require.NoError(t, os.MkdirAll(filepath.Dir(m.path(unitPath)), 0o700))
	require.NoError(t, os.WriteFile(m.path(unitPath), []byte(unitFile), 0o600))
	unit, ok := m.ServiceUnit(t.Context(), "/var/lib/multis/config.yaml")
	require.True(t, ok)
	require.Equal(t, parseUnit(unitFile), unit)
	_, ok = m.ServiceUnit(t.Context(), "/srv/other/config.yaml")
	require.False(t, ok)
}

func TestUnit_JournalGivesLastExit(t *testing.T) {
	t.Parallel()
	const failed = "Started multis.service - multis.\nmultis: mkdir /etc/x: read-only file system\nmultis.service: Failed with result 'exit-code'.\n"
	require.Equal(t, "mkdir /etc/x: read-only file system", lastError(failed))
	require.Empty(t, lastError(failed+"Started multis.service - multis.\nmultis.service: Deactivated successfully.\n"))
	require.Empty(t, lastError(""))
}

func TestUnit_RestartIsNoStop(t *testing.T) {
	t.Parallel()
	for properties, want := range map[string]bool{
		"Job=0\nActiveState=active\nSubState=running\n":            true,
		"Job=0\nActiveState=deactivating\nSubState=stop-sigterm\n": true,
		"Job=311\nActiveState=inactive\nSubState=dead\n":           true,
		"Job=312\nActiveState=activating\nSubState=start\n":        true,
		"Job=0\nActiveState=activating\nSubState=auto-restart\n":   false,
		"ActiveState=inactive\nSubState=dead\n":                    false,
		"ActiveState=failed\nSubState=failed\n":                    false,
	} {
		require.Equal(t, want, isStarting(properties), properties)
	}
}
