// Package mcp implements the Model Context Protocol: it uses the tools of other servers (Source), and serves some of multis' own tools to
// other programs (Serve). What a server says about its tools is not trusted: the configuration decides which of them need no approval.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"multis/agent/tools"
	"multis/internal/sleep"
	"multis/internal/text"
	"multis/policy"
)

const (
	// connectTimeout bounds connecting to a server, and listing its tools.
	connectTimeout = 30 * time.Second
	// listPeriod is the time between two listings of a server's tools. A listing also shows whether the server is up.
	listPeriod = time.Minute
	// stableTime is how long a server must have been up for its next failure to count as its first. The delay then begins at minRetry again.
	stableTime = 5 * time.Minute
)

// delays are the waiting times of a connection. Tests shorten them.
type delays struct {
	change             time.Duration // between a server's notice that its tools changed and the next listing
	minRetry, maxRetry time.Duration // before the next attempt to connect; doubled with each failure, from minRetry up to maxRetry
}

var defaultDelays = delays{change: time.Second, minRetry: time.Second, maxRetry: time.Minute}

// Server configures an MCP server whose tools are used.
type Server struct {
	// Name is the prefix of the names of its tools.
	Name string
	// Command starts the server as a child process. Exactly one of Command and URL is set.
	Command []string
	URL     string
	// Folder is the child process' working directory. PassEnv are environment variables that it inherits beside PATH, HOME and LANG.
	Folder  string
	PassEnv []string
	// Env are further environment variables of the child process, and Headers are sent to URL with each request, both by name.
	Env, Headers map[string]string
	// Token is a bearer token for URL.
	Token string
	// Logins stores the owner's OAuth login for URL; it replaces Token (see Login). ClientID and ClientSecret are multis'
	// OAuth client credentials at the server. If they are empty, multis registers itself.
	Logins                 *Logins
	ClientID, ClientSecret string
	// Timeout bounds one call. Defaults to a minute, which is also the maximum.
	Timeout time.Duration
	// Allow, Read and Pin are patterns of the server's own names for its tools. Only tools that match Allow are used; empty means all. Tools
	// that match Read need no approval, those that match Pin need the PIN, and all others need approval.
	Allow, Read, Pin []string
}

// State is the state of a server.
type State struct {
	Name    string
	Tools   int
	Skipped []string // tools that are not used, each with the reason
	Problem string   // why it is down; empty if it is up
}

// Source stays connected to servers and keeps their tools in a registry.
type Source struct {
	registry *tools.Registry
	servers  []*connection
}

// NewSource returns a Source. Its Run connects.
func NewSource(registry *tools.Registry, servers []Server) *Source {
	s := &Source{registry: registry}
	for _, server := range servers {
		s.servers = append(s.servers, &connection{
			Server:   server,
			delays:   defaultDelays,
			registry: registry,
			state:    State{Name: server.Name, Problem: "it was not tried yet"},
		})
	}
	return s
}

// States returns the states of the servers.
func (s *Source) States() []State {
	states := make([]State, len(s.servers))
	for i, c := range s.servers {
		c.mu.Lock()
		states[i] = c.state
		c.mu.Unlock()
	}
	return states
}

// Run stays connected to the servers until ctx ends.
func (s *Source) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, c := range s.servers {
		all.Go(func() { c.keepConnected(ctx) })
	}
	all.Wait()
	return nil
}

// connection is the connection to one server.
type connection struct {
	Server

	delays   delays
	registry *tools.Registry

	mu      sync.Mutex
	session *mcp.ClientSession
	state   State
}

// prefix returns the prefix of the names of the server's tools. No tool of multis itself begins with it.
func (c *connection) prefix() string { return c.Name + "__" }

// keepConnected connects, and connects again after each failure.
func (c *connection) keepConnected(ctx context.Context) {
	log := zerolog.Ctx(ctx).With().Str("mcp_server", c.Name).Logger()
	wait := c.delays.minRetry
	for ctx.Err() == nil {
		begin := time.Now()
		err := c.runSession(ctx)
		c.setState(nil, State{Name: c.Name, Problem: problemText(err)})
		c.registry.RemovePrefix(c.prefix())
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) > stableTime {
			wait = c.delays.minRetry
		}
		log.Warn().Str("error", problemText(err)).Stringer("again_in", wait).Msg("Disconnected from an MCP server")
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, c.delays.maxRetry)
	}
}

// runSession connects and returns when the connection ends. The error includes the last line that the server's program wrote to stderr.
func (c *connection) runSession(ctx context.Context) (err error) {
	changed := make(chan struct{}, 1)
	client := newClient(func(context.Context, *mcp.ToolListChangedRequest) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	transport, end := c.transport()
	defer func() {
		if last := end(); last != "" && err != nil {
			err = fmt.Errorf("it said: %s (%w)", last, err)
		}
	}()
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(connectTimeout, func() { cancel(errConnectTimeout) })
	session, err := client.Connect(working, transport, nil)
	silent.Stop()
	if err != nil && errors.Is(context.Cause(working), errConnectTimeout) {
		return errConnectTimeout
	}
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	var ended error
	go func() { defer close(gone); ended = session.Wait() }()
	defer func() {
		_ = session.Close() // it may be gone
		end()
		<-gone
	}()
	look := time.NewTicker(listPeriod)
	defer look.Stop()
	for {
		if err := c.refreshTools(ctx, session); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-gone:
			return errors.Join(errClosed, ended)
		case <-changed:
			select { // limit the listings, because some servers report changes all the time
			case <-ctx.Done():
			case <-time.After(c.delays.change):
			}
		case <-look.C:
		}
	}
}

// newClient returns a client that offers servers no capabilities: no files, no model and no questions to the owner.
func newClient(changed func(context.Context, *mcp.ToolListChangedRequest)) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "multis", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, ToolListChangedHandler: changed,
	})
}

// errClosed is the error of a session that the server has closed.
var errClosed = errors.New("it is gone")

var errConnectTimeout = fmt.Errorf("it said nothing within %s", connectTimeout)

// refreshTools lists the server's tools and puts them into the registry.
func (c *connection) refreshTools(ctx context.Context, session *mcp.ClientSession) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var offered []*mcp.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("ask what it has: %w", err)
		}
		if offered = append(offered, t); len(offered) > maxOffered {
			return fmt.Errorf("it has more than %d tools", maxOffered)
		}
	}
	names := toolNames(c.prefix(), offered)
	var found []tools.Tool
	size := 0
	state := State{Name: c.Name}
	for _, t := range offered {
		tool, why := c.newTool(t, names[t.Name])
		switch {
		case why != "":
			state.Skipped = append(state.Skipped, why)
		case tool == nil:
		case len(found) == maxTools:
			state.Skipped = append(state.Skipped, fmt.Sprintf("%s: more than %d tools", t.Name, maxTools))
		case size+tool.size() > maxToolsText:
			state.Skipped = append(state.Skipped, fmt.Sprintf("%s: more than %d bytes said of all tools", t.Name, maxToolsText))
		default:
			found, size = append(found, tool), size+tool.size()
		}
	}
	state.Tools = len(found)
	c.registry.ReplacePrefix(c.prefix(), found...)
	c.setState(session, state)
	return nil
}

func (c *connection) setState(session *mcp.ClientSession, state State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.state = session, state
	c.state.Skipped = slices.Clip(state.Skipped)
}

// currentSession returns the current session; nil if the server is down.
func (c *connection) currentSession() *mcp.ClientSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// addressPattern matches a web address with its user, path and query.
var addressPattern = regexp.MustCompile(`\b(https?://)(?:[^\s/?#"'\\]*@)?([^\s/?#"'\\]*)[^\s"'\\]*`)

// problemText returns why a server is down, as one line for people. It shortens addresses to their host, because the rest
// may contain a secret.
func problemText(err error) string {
	if err == nil {
		return "it is gone"
	}
	if closed, is := errors.AsType[*loginError](err); is {
		return singleLine(closed.Error())
	}
	return singleLine(policy.Redact(addressPattern.ReplaceAllString(err.Error(), "$1$2")))
}

// singleLine returns a server's text as one short line without control characters, which is safe for terminals and logs.
func singleLine(s string) string { return text.Clip(text.OneLine(s), maxProblem) }

const maxProblem = 200
