package devstack_test

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
)

func TestFreePortsAreDifferentAndFree(t *testing.T) {
	t.Parallel()
	const n = 20
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
