//go:build chaos

package devstack

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMachine_BootsAndRunsServices(t *testing.T) {
	root, err := PrepareMachine(t.Context(), t.Output())
	require.NoError(t, err)
	machine, err := StartMachine(t.Context(), root, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(machine.Kill)
	out, err := machine.Command(t.Context(), "/", "systemd-run", "--wait", "--pipe", "--quiet", "id", "-un").CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "root\n", string(out))
}
