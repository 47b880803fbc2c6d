package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"

	"multis/admin"
	"multis/config"
	"multis/mcp"
	"multis/tools"
)

// openMCP finds the servers whose tools go into a registry.
func openMCP(cfg *config.Config, registry *tools.Registry) (*mcp.Source, error) {
	var servers []mcp.Server
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		m := cfg.MCP[name]
		if len(m.Command) > 0 {
			if err := os.MkdirAll(m.Folder, 0o700); err != nil {
				return nil, fmt.Errorf("mcp.%s.folder: %w", name, err)
			}
		}
		servers = append(servers, mcp.Server{
			Name: name, Command: m.Command, Folder: m.Folder, PassEnv: m.PassEnv, URL: m.URL, Token: m.Token.Value(), Timeout: m.Timeout,
			Allow: m.Allow, Read: m.Read, Pin: m.Pin,
		})
	}
	return mcp.NewSource(registry, servers), nil
}

// sourceList is how the servers are, as the admin room shows it.
func sourceList(source *mcp.Source) func() []admin.ToolSource {
	return func() []admin.ToolSource {
		var all []admin.ToolSource
		for _, s := range source.States() {
			all = append(all, admin.ToolSource(s))
		}
		return all
	}
}

// serveMCP lets other programs search, where that is switched on.
func serveMCP(ctx context.Context, c config.MCPServer, registry *tools.Registry) error {
	if c.Port == 0 {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(c.Hostname, strconv.Itoa(c.Port)))
	if err != nil {
		return fmt.Errorf("listen for MCP: %w; check mcp_server.hostname and mcp_server.port", err)
	}
	return listen(ctx, listener, mcp.Serve(ctx, registry, c.Token.Value(), version))
}
