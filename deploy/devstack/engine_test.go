//go:build chaos

package devstack

import (
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEngine_LeavesMachineClean(t *testing.T) {
	root, err := PrepareEngine(t.Context(), t.Output())
	require.NoError(t, err)
	look := func() (all []string) {
		interfaces, err := net.Interfaces()
		require.NoError(t, err)
		for _, i := range interfaces {
			all = append(all, i.Name)
		}
		for _, path := range []string{"/proc/sys/net/ipv4/ip_forward", "/proc/self/mountinfo"} {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			all = append(all, string(text))
		}
		return all
	}
	before := look()
	engine, err := NewEngine(t.Context(), root, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Stop()) })
	out, err := engine.Command(t.Context(), "/mnt", "docker", "version", "--format", "{{.Server.Version}}").Output()
	require.NoError(t, err)
	require.NotEmpty(t, string(out))
	require.Equal(t, before, look(), "while it runs")
	require.NoError(t, engine.Stop())
	require.Equal(t, before, look(), "when it has ended")
}
