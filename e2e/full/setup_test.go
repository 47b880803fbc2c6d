package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"multis/config"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}

func TestFullSetup_CompletesAfterCrash(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	t.Setenv("MULTIS_APPSERVICE_ADDRESS", "http://multis:29399")
	require.NoError(t, setUp(dir, data))
	cfg, err := config.Load(filepath.Join(data, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, owner, cfg.Owner)
	require.Equal(t, homeserverURL, cfg.Homeserver.Address)

	ids := map[string]bool{}
	var homeserver struct {
		Registrations []string `yaml:"app_service_config_files"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, dir, "homeserver.yaml")), &homeserver))
	for _, path := range homeserver.Registrations {
		var registration struct{ ID, URL string }
		require.NoError(t, yaml.Unmarshal([]byte(read(t, dir, filepath.Base(path))), &registration))
		require.False(t, ids[registration.ID], registration.ID)
		ids[registration.ID] = true
	}
	require.Len(t, ids, 3, "multis, the bridge and double puppeting")
	require.Contains(t, read(t, dir, "multis.yaml"), "http://multis:29399")

	before := read(t, data, "config.yaml") + read(t, dir, "homeserver.yaml")
	require.NoError(t, setUp(dir, data))
	require.Equal(t, before, read(t, data, "config.yaml")+read(t, dir, "homeserver.yaml"), "it is made once")

	require.NoError(t, os.Remove(filepath.Join(dir, doneFile)))
	require.NoError(t, os.Remove(filepath.Join(dir, "bridge.yaml")))
	require.NoError(t, setUp(dir, data))
	require.FileExists(t, filepath.Join(dir, "bridge.yaml"))
}

func TestFullSetup_SparesOtherInstallation(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(data, "config.yaml"), []byte("somebody's"), 0o600))
	require.ErrorContains(t, setUp(t.TempDir(), data), "a clone of its own")
	require.Equal(t, "somebody's", read(t, data, "config.yaml"))
}
