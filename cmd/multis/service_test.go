package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCLI_FindsServiceFromAnyFolder(t *testing.T) {
	here, service := t.TempDir(), t.TempDir()
	t.Chdir(here)
	find := func(command, config, registration string) [2]string {
		c := cli{Config: config, Registration: registration}
		c.findService(command, service)
		return [2]string{c.Config, c.Registration}
	}
	none := [2]string{"config.yaml", "registration.yaml"}
	require.Equal(t, none, find("doctor", "config.yaml", "registration.yaml"), "there is no service")

	file := filepath.Join(service, "config.yaml")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, command := range []string{"doctor", "backup create", "search <query>", "status"} {
		require.Equal(t, [2]string{file, filepath.Join(service, "registration.yaml")}, find(command, "config.yaml", "registration.yaml"), command)
	}
	require.Equal(t, [2]string{file, "/tmp/r.yaml"}, find("status", "config.yaml", "/tmp/r.yaml"))
	require.Equal(t, [2]string{"mine.yaml", "registration.yaml"}, find("doctor", "mine.yaml", "registration.yaml"), "another one is named")
	for _, command := range []string{"init", "run", "chat"} {
		require.Equal(t, none, find(command, "config.yaml", "registration.yaml"), command)
	}
	require.NoError(t, os.WriteFile("config.yaml", nil, 0o600))
	require.Equal(t, none, find("doctor", "config.yaml", "registration.yaml"), "there is one here")
}
