package devstack_test

import (
	"fmt"
	"net"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
)

// Meanwhile other processes are started, which must not keep the ports in use.
func TestFreePorts_AreDistinct(t *testing.T) {
	t.Parallel()
	const n, rounds = 20, 10
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() {
			for range rounds {
				_ = exec.Command("/bin/true").Run()
			}
		})
	}
	defer starters.Wait()
	for range rounds {
		ports, err := devstack.FreePorts(n)
		require.NoError(t, err)
		seen := map[int]bool{}
		for _, port := range ports {
			seen[port] = true
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			require.NoError(t, err)
			require.NoError(t, listener.Close())
		}
		require.Len(t, seen, n)
	}
}
