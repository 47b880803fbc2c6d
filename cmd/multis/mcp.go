package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"multis/agent/mcp"
	"multis/agent/tools"
	"multis/config"
	"multis/internal/text"
	"multis/ops/setup"
	"multis/safety/audit"
	"multis/store"
)

// openMCP returns the source of the configured MCP servers, which adds their tools to the registry. In safe mode there are no servers.
func openMCP(cfg *config.Config, st *store.Store, registry *tools.Registry, safe bool) (*mcp.Source, error) {
	var servers []mcp.Server
	if safe {
		return mcp.NewSource(registry, nil), nil
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		if m := cfg.MCP[name]; len(m.Command) > 0 {
			if err := os.MkdirAll(m.Folder, 0o700); err != nil {
				return nil, fmt.Errorf("mcp.%s.folder: %w", name, err)
			}
		}
		servers = append(servers, mcpServer(cfg, st, name))
	}
	return mcp.NewSource(registry, servers), nil
}

func mcpServer(cfg *config.Config, st *store.Store, name string) mcp.Server {
	m := cfg.MCP[name]
	server := mcp.Server{
		Name:         name,
		Command:      m.Command,
		Folder:       m.Folder,
		PassEnv:      m.PassEnv,
		URL:          m.URL.Value(),
		Token:        m.Token.Value(),
		Timeout:      m.Timeout,
		Env:          plainSecrets(m.Env),
		Headers:      plainSecrets(m.Headers),
		Allow:        m.Allow,
		Read:         m.Read,
		Pin:          m.Pin,
		ClientID:     m.ClientID,
		ClientSecret: m.ClientSecret.Value(),
	}
	if m.Login {
		server.Logins = &mcp.Logins{Store: loginStore{st}, Secret: cfg.Appservice.ASToken.Value()}
	}
	return server
}

// plainSecrets returns the values of secrets, by name.
func plainSecrets(secrets map[string]config.Secret) map[string]string {
	values := map[string]string{}
	for name, s := range secrets {
		values[name] = s.Value()
	}
	return values
}

// loginStore stores MCP logins in the settings table.
type loginStore struct{ st *store.Store }

func (s loginStore) Load(ctx context.Context, server string) (text string, err error) {
	_, err = store.GetSetting(ctx, s.st.DB(), store.SettingLogin+store.Setting(server), &text)
	return text, err
}

func (s loginStore) Save(ctx context.Context, server, text string) error {
	return store.PutSetting(ctx, s.st.Writer(), store.SettingLogin+store.Setting(server), text)
}

func (s loginStore) Replace(ctx context.Context, server, old, text string) (bool, error) {
	return store.ReplaceSetting(ctx, s.st.Writer(), store.SettingLogin+store.Setting(server), old, text)
}

type mcpCmd struct {
	Login  mcpLoginCmd  `cmd:"" help:"Log in to an MCP server that requires it (mcp.<name>.login). The login is stored encrypted."`
	Logout mcpLogoutCmd `cmd:"" help:"Forget the login to an MCP server."`
}

type mcpLoginCmd struct {
	Name string `arg:"" help:"The name of the server in config.yaml."`
}

// loginTimeout limits how long the owner may take to log in.
const loginTimeout = 10 * time.Minute

// Run asks the owner to log in and stores the login. A running multis uses it within a minute.
func (c mcpLoginCmd) Run(ctx context.Context, global *cli) error {
	server, _, closeDB, err := openLogin(ctx, global.Config, c.Name)
	if err != nil {
		return err
	}
	defer closeDB()
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	n, err := mcp.Login(ctx, server, askLogin)
	if errors.Is(err, mcp.ErrLoginNotNeeded) {
		return fmt.Errorf("%s: %w; remove mcp.%[1]s.login from config.yaml", c.Name, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	fmt.Printf("Logged in to %s, which has %s. A running multis uses them within a minute; /tools shows them.\n", c.Name,
		text.Count(n, "tool"))
	return nil
}

// askLogin prints an address that the owner opens, and reads the address to which the login redirects.
func askLogin(ctx context.Context, address string) (string, error) {
	fmt.Printf("Open this in your browser and log in:\n\n  %s\n\nThe browser ends at an address that begins with http://127.0.0.1 and cannot be opened; that is expected.\nPaste that address here: ", address)
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(os.Stdin).ReadString('\n') // mcp.Login rejects an incomplete address
		line <- text
	}()
	select {
	case text := <-line:
		return text, nil
	case <-ctx.Done():
		return "", fmt.Errorf("nobody logged in: %w", ctx.Err())
	}
}

type mcpLogoutCmd struct {
	Name string `arg:"" help:"The name of the server in config.yaml."`
}

// Run deletes the stored login. The session at the server stays valid until the owner ends it there.
func (c mcpLogoutCmd) Run(ctx context.Context, global *cli) error {
	_, st, closeDB, err := openLogin(ctx, global.Config, c.Name)
	if err != nil {
		return err
	}
	defer closeDB()
	if err := store.DropSetting(ctx, st.Writer(), store.SettingLogin+store.Setting(c.Name)); err != nil {
		return err
	}
	fmt.Printf("Forgot the login to %s. End it there as well, in the settings of your account.\n", c.Name)
	return nil
}

// openLogin returns a configured server that needs a login, and the store of the logins.
func openLogin(ctx context.Context, file, name string) (mcp.Server, *store.Store, func(), error) {
	cfg, err := load(file)
	if err != nil {
		return mcp.Server{}, nil, nil, err
	}
	switch m, exists := cfg.MCP[name]; {
	case !exists:
		return mcp.Server{}, nil, nil, fmt.Errorf("there is no mcp.%s in config.yaml", name)
	case !m.Login:
		return mcp.Server{}, nil, nil, fmt.Errorf("mcp.%s has no `login: true` in config.yaml", name)
	}
	st, closeDB, err := openStore(ctx, file, cfg, shared)
	if err != nil {
		return mcp.Server{}, nil, nil, err
	}
	return mcpServer(cfg, st, name), st, closeDB, nil
}

// serveMCP serves multis' own MCP server until ctx ends. It returns at once if that server is off.
func serveMCP(ctx context.Context, c config.MCPServer, as *assistant) error {
	if c.Port == 0 {
		return nil
	}
	listener, err := setup.Listen(ctx, c.Hostname, c.Port)
	if err != nil {
		return fmt.Errorf("listen for MCP: %w; check mcp_server.hostname and mcp_server.port", err)
	}
	return listen(ctx, listener, mcp.Serve(ctx, mcp.ServeOptions{
		Registry: as.tools,
		Token:    c.Token.Value(),
		Version:  version,
		Record:   recordServedCalls(as.store, as.audit),
	}))
}

// recordServedCalls returns a function that writes tool calls of other programs into the audit log.
func recordServedCalls(st *store.Store, log audit.Log) func(context.Context, tools.Call, string) error {
	return func(ctx context.Context, call tools.Call, outcome string) error {
		return st.InTx(ctx, func(tx store.Tx) error {
			return log.Append(ctx, tx, audit.Entry{
				Kind:    audit.Tool,
				Actor:   audit.Webhook,
				Action:  call.Name,
				Outcome: outcome,
				Content: call.Args,
			})
		})
	}
}
