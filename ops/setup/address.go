package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"syscall"
	"time"

	"multis/config"
	"multis/internal/sleep"
	"multis/ops/doctor"
)

// listenAddress is an address that multis listens on.
type listenAddress struct {
	hostKey, portKey string // the keys of the configuration
	hostname         string
	port             int
}

// overlaps reports whether multis could not listen on both addresses.
func (a listenAddress) overlaps(b listenAddress) bool {
	every := func(host string) bool { ip := net.ParseIP(host); return ip != nil && ip.IsUnspecified() }
	return a.port == b.port && (a.hostname == b.hostname || every(a.hostname) || every(b.hostname) ||
		doctor.IsLoopback(a.hostname) && doctor.IsLoopback(b.hostname))
}

// addressesOf returns the addresses of a configuration, which is nil for none.
func addressesOf(c *config.Config) []listenAddress {
	if c == nil {
		return nil
	}
	host, port := c.Ops.Address()
	return []listenAddress{
		{"appservice.hostname", "appservice.port", c.Appservice.Hostname, c.Appservice.Port},
		{"watches.hostname", "watches.port", c.Watches.Hostname, c.Watches.Port},
		{"mcp_server.hostname", "mcp_server.port", c.MCPServer.Hostname, c.MCPServer.Port},
		{"ops.listen", "ops.listen", host, port},
	}
}

// checkAddress returns the problem of an address that multis could not listen on.
func checkAddress(ctx context.Context, a listenAddress, running, next *config.Config) error {
	// also on another interface: multis gives it up before it takes the new one
	isOwn := func(b listenAddress) bool { return b.port == a.port }
	if slices.ContainsFunc(addressesOf(running), isOwn) {
		return nil
	}
	listener, err := Listen(ctx, a.hostname, a.port)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return next.Problem(a.portKey, fmt.Sprintf("is in use by another program (ss -ltnp | grep %d shows which); choose another port",
			a.port))
	case err != nil:
		return next.Problem(a.hostKey, err.Error()+"; write 127.0.0.1, or 0.0.0.0 for every interface")
	}
	if err := listener.Close(); err != nil {
		return fmt.Errorf("close the address of %s again: %w", a.portKey, err)
	}
	return nil
}

// Listen listens on a TCP port of an interface. It tries a port in use a few times, because the checks of another
// command, such as multis doctor, may hold it for a moment.
func Listen(ctx context.Context, hostname string, port int) (listener net.Listener, err error) {
	for range 4 {
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(hostname, strconv.Itoa(port)))
		if !errors.Is(err, syscall.EADDRINUSE) || sleep.For(ctx, 50*time.Millisecond) != nil {
			break
		}
	}
	return listener, err
}
