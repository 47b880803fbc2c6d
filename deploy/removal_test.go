package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// removal returns the blocks of the guide that remove multis, the first for Debian, the second for Docker Compose.
func removal(t *testing.T) [2]string {
	t.Helper()
	text, err := os.ReadFile("../docs/install.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## Uninstall\n")
	require.True(t, ok)
	parts := strings.Split(section, "```")
	require.Len(t, parts, 5, "two blocks")
	return [2]string{strings.TrimPrefix(parts[1], "sh\n"), strings.TrimPrefix(parts[3], "sh\n")}
}

// paste runs a block as a shell does into which it is pasted, and returns what it printed and which services were called for.
func paste(t *testing.T, block string) (printed, services string) {
	t.Helper()
	bin := t.TempDir()
	called := filepath.Join(bin, "called")
	for _, name := range []string{"systemctl", "docker"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+name+" \"$@\" >> "+called+"\n"), 0o755))
	}
	cmd := exec.CommandContext(t.Context(), "sh")
	cmd.Stdin, cmd.Env = strings.NewReader(block), append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(called)
	require.NoError(t, err)
	return string(out), string(text)
}

func TestRemoval_SparesSynapseThatWouldNotStart(t *testing.T) {
	t.Parallel()
	const path, ours = "/etc/matrix-synapse/multis-registration.yaml", "conf.d/multis.yaml"
	for name, files := range map[string]map[string]string{
		"a file of its own":      {"homeserver.yaml": "server_name: x\n", ours: "app_service_config_files: [" + path + "]\n"},
		"a list with a bridge's": {"homeserver.yaml": "app_service_config_files:\n  - /etc/x.yaml\n  - " + path + "\n"},
		"a bridge's in our file": {"homeserver.yaml": "server_name: x\n", ours: "app_service_config_files: [" + path + ", /etc/x.yaml]\n"},
		"removed already":        {"homeserver.yaml": "server_name: x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "conf.d"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "multis-registration.yaml"), []byte("id: multis\n"), 0o600))
			named := false
			for file, text := range files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
				named = named || strings.Contains(text, "x.yaml")
			}
			block := strings.Replace(removal(t)[0], "cd /etc/matrix-synapse\n", "cd "+dir+"\n", 1)
			for range 2 {
				printed, services := paste(t, block)
				require.Contains(t, services, "systemctl disable --now multis\n")
				require.Equal(t, !named, strings.Contains(services, "restart matrix-synapse"), name)
				require.Equal(t, named, strings.Contains(printed, path), name)
				if named {
					require.FileExists(t, filepath.Join(dir, "multis-registration.yaml"), name)
					continue
				}
				require.NoFileExists(t, filepath.Join(dir, "multis-registration.yaml"), name)
				require.NoFileExists(t, filepath.Join(dir, ours), name)
			}
		})
	}
}

func TestRemoval_LeavesNamedRegistration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config, registration := filepath.Join(dir, "homeserver.yaml"), filepath.Join(dir, "multis-registration.yaml")
	require.NoError(t, os.WriteFile(registration, nil, 0o600))
	require.NoError(t, os.WriteFile(config, []byte("app_service_config_files: [/data/multis-registration.yaml]\n"), 0o600))
	block := strings.ReplaceAll(removal(t)[1], "/srv/synapse", dir)
	printed, services := paste(t, block)
	require.Contains(t, printed, "1:app_service_config_files")
	require.Equal(t, "docker compose down\n", services)
	require.FileExists(t, registration)
	require.NoError(t, os.WriteFile(config, []byte("app_service_config_files: []\n"), 0o600))
	_, services = paste(t, block)
	require.Equal(t, "docker compose down\ndocker restart synapse\n", services)
	require.NoFileExists(t, registration)
}
