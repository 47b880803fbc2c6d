package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"multis/safety/sandbox"
)

// reachArgument makes the test program try to reach ports in every way that it knows.
const reachArgument = "try-to-reach"

// tryPorts tries an allowed port and one that is not, and prints what worked.
func tryPorts(allowed, denied string) {
	dial := func(network, address string) string {
		c, err := (&net.Dialer{Timeout: 2 * time.Second}).Dial(network, address)
		if err != nil {
			return "no"
		}
		c.Close()
		return "YES"
	}
	fmt.Println("allowed", dial("tcp4", "127.0.0.1:"+allowed))
	fmt.Println("denied", dial("tcp4", "127.0.0.1:"+denied))
	fmt.Println("denied6", dial("tcp6", "[::ffff:127.0.0.1]:"+denied))
	fmt.Println("udp", dial("udp4", "127.0.0.1:"+denied))
	fmt.Println("unix", dial("unix", "/run/dbus/system_bus_socket"))
	for name, kind := range map[string][3]int{
		"mptcp": {unix.AF_INET, unix.SOCK_STREAM, 262}, "sctp": {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP},
		"raw":     {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		"netlink": {unix.AF_NETLINK, unix.SOCK_RAW, 0}, "vsock": {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"unix stream": {unix.AF_UNIX, unix.SOCK_STREAM, 0},
	} {
		fd, err := unix.Socket(kind[0], kind[1], kind[2])
		fmt.Println(name, map[bool]string{true: "YES", false: "no"}[err == nil])
		_ = unix.Close(fd)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	port, _ := strconv.Atoi(denied)
	if err == nil {
		err = unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	fmt.Println("fast open", map[bool]string{true: "YES", false: "no"}[err == nil])
	fmt.Println("listen", map[bool]string{true: "YES", false: "no"}[unix.Listen(fd, 1) == nil])
}

func TestNetwork_ReachesOnePortOnly(t *testing.T) {
	g := newTestSandbox(t)
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	program := filepath.Join(g.workspace, "agent")
	require.NoError(t, os.WriteFile(program, self, 0o755))
	listen := func() string {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
		_, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		return port
	}
	allowed, denied := listen(), listen()
	port, err := strconv.Atoi(allowed)
	require.NoError(t, err)
	run := func(port int) string {
		result, err := g.Run(context.Background(), sandbox.Command{
			Argv:          []string{"./agent", reachArgument, allowed, denied},
			Workspace:     g.workspace,
			Timeout:       time.Minute,
			Port:          port,
			RelaxedLimits: true,
			Env:           []string{"NAMED=only this", "HOME=" + g.workspace},
		})
		require.NoError(t, err)
		return result.Output
	}
	with := run(port)
	require.Contains(t, with, "allowed YES")
	require.Equal(t, 1, strings.Count(with, "YES"), with)
	require.Equal(t, 13, strings.Count(with, "\n"), with)
	require.NotContains(t, run(0), "YES", "without a port there is no network")

	o := options(t)
	o.ABI = 3
	old, err := sandbox.New(o)
	require.NoError(t, err)
	require.NoError(t, old.Probe(context.Background()).Err())
	_, err = old.Run(context.Background(), sandbox.Command{Argv: []string{"true"}, Workspace: g.workspace, Port: port})
	require.ErrorContains(t, err, "cannot limit the network", "an older kernel could not keep to the port")
}
