package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/setup"
)

// inContainer is a machine on which Synapse runs in a container.
func inContainer(t *testing.T) setup.Machine {
	t.Helper()
	m := machine(t, map[string]string{
		"srv/synapse/homeserver.yaml": "server_name: example.org\n",
		"proc/7/cmdline":              "python3\x00-m\x00synapse.app.homeserver\x00--config-path=/data/homeserver.yaml\x00",
		"proc/7/status":               "Uid:\t991\t991\t991\t991\n",
		"proc/7/cgroup":               "0::/system.slice/docker-" + strings.Repeat("0123456789abcdef", 4) + ".scope\n",
		"proc/7/mountinfo":            "36 35 98:0 /srv/synapse /data rw,noatime - ext4 /dev/sda1 rw\n",
	})
	inside := filepath.Join(m.Root, "proc/7/root")
	require.NoError(t, os.MkdirAll(inside, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(m.Root, "srv/synapse"), filepath.Join(inside, "data")))
	return m
}

//nolint:paralleltest // it changes PATH
func TestCompose_UsesNetworkOfSynapse(t *testing.T) {
	m := inContainer(t)
	log := fakePrograms(t, map[string]string{"docker": "printf 'bridge\\nmatrix\\n\\n'"})
	network, err := m.SynapseNetwork(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "matrix", network)
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(said), "docker inspect")
	require.Contains(t, string(said), "0123456789ab")

	fakePrograms(t, map[string]string{"docker": "printf 'front\\nback\\n'"})
	_, err = m.SynapseNetwork(t.Context(), "")
	require.ErrorIs(t, err, setup.ErrNoNetwork)
	_, err = machine(t, nil).SynapseNetwork(t.Context(), "")
	require.ErrorIs(t, err, setup.ErrNoNetwork)
}

func TestCompose_KeepsOtherEnvLines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), ".env")
	write := func(want string) {
		t.Helper()
		file, changed, err := setup.ComposeEnv(path, "matrix")
		require.NoError(t, err)
		require.True(t, changed)
		require.Equal(t, want, string(file.Data))
		require.NoError(t, setup.Write(t.Context(), []setup.Output{file}))
		_, changed, err = setup.ComposeEnv(path, "matrix")
		require.NoError(t, err)
		require.False(t, changed)
	}
	write("MATRIX_NETWORK=matrix\n")
	require.NoError(t, os.WriteFile(path, []byte("A=1\nMATRIX_NETWORK=old\nB=2\n"), 0o600))
	write("A=1\nMATRIX_NETWORK=matrix\nB=2\n")
	require.NoError(t, os.WriteFile(path, []byte("A=1"), 0o600))
	write("A=1\nMATRIX_NETWORK=matrix\n")
}
