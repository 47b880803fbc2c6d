package setup

import (
	"net"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
)

func TestCheckStart_AllowsOwnPortOnOtherInterface(t *testing.T) {
	t.Parallel()
	own, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer own.Close()
	address, ok := own.Addr().(*net.TCPAddr)
	require.True(t, ok)
	file := filepath.Join(writeConfig(t, ""), "config.yaml")
	running, err := config.Load(file)
	require.NoError(t, err)
	running.Appservice.Hostname, running.Appservice.Port = "127.0.0.1", address.Port
	next := *running
	next.Appservice.Hostname = "0.0.0.0"
	require.NoError(t, RunUser{}.CheckStart(t.Context(), running, &next))
	require.ErrorContains(t, RunUser{}.CheckStart(t.Context(), nil, &next), "appservice.port: is in use by another program")
}

func TestCheckStart_FindsPortUsedTwice(t *testing.T) {
	t.Parallel()
	file := filepath.Join(writeConfig(t, ""), "config.yaml")
	running, err := config.Load(file)
	require.NoError(t, err)
	next := *running
	next.Watches.Port = next.Appservice.Port
	require.ErrorContains(t, RunUser{}.CheckStart(t.Context(), running, &next),
		"watches.port: is the same as appservice.port; choose another port")
	next.Watches.Port = 0
	next.MCPServer.Port = next.Appservice.Port
	next.MCPServer.Hostname = "0.0.0.0"
	require.ErrorContains(t, RunUser{}.CheckStart(t.Context(), running, &next), "mcp_server.port: is the same as appservice.port")
	next.Appservice.Hostname, next.MCPServer.Hostname = "127.0.0.1", "192.0.2.1"
	require.NoError(t, RunUser{}.CheckStart(t.Context(), running, &next), "another interface")
	next.Ops.Listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(next.Appservice.Port))
	require.ErrorContains(t, RunUser{}.CheckStart(t.Context(), running, &next), "ops.listen: is the same as appservice.port")
}

func TestListen_WaitsForBrieflyHeldPort(t *testing.T) {
	t.Parallel()
	held, err := Listen(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	port := held.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it listens on TCP
	time.AfterFunc(30*time.Millisecond, func() { held.Close() })
	listener, err := Listen(t.Context(), "127.0.0.1", port)
	require.NoError(t, err)
	defer listener.Close()
	_, err = Listen(t.Context(), "127.0.0.1", port)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
}
