// Package mcp speaks the Model Context Protocol: servers elsewhere bring tools of theirs (Source), and multis serves a few of its own
// to other programs (Serve). What a server says of itself is a stranger's word: which of its tools need nobody's leave, the owner
// decides.
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

	"multis/policy"
	"multis/text"
	"multis/tools"
)

const (
	// connectTimeout is how long a server may take to come up and to say what it has.
	connectTimeout = 30 * time.Second
	// listPeriod is how often a server is asked what it has, which also shows whether it is there.
	listPeriod = time.Minute
	// changePause is how long a server may go on changing before it is asked again.
	changePause = time.Second
	// minRetryPause and maxRetryPause are the pauses before a server is tried again.
	minRetryPause = time.Second
	maxRetryPause = time.Minute
	// stableTime is how long a server has to be there for its next failure to count as a first one.
	stableTime = 5 * time.Minute
)

// Server is one that brings tools.
type Server struct {
	// Name stands before the names of its tools.
	Name string
	// Command starts it; or URL is where it is.
	Command []string
	// Folder is where it is started. PassEnv are variables of our own environment that it gets; it gets no others but PATH, HOME and LANG.
	Folder  string
	PassEnv []string
	URL     string
	// Token opens URL; or Logins hold what the owner's login there gave, where the server wants one: see Login. ClientID and
	// ClientSecret are how such a server knows multis; empty: it is told at the login.
	Token                  string
	Logins                 *Logins
	ClientID, ClientSecret string
	// Timeout bounds one call. Defaults to a minute, which is also the most.
	Timeout time.Duration
	// Allow are patterns of its tools that are taken, by its own names; none: all. Read run without asking, Pin need the PIN, the rest is
	// asked about.
	Allow, Read, Pin []string
}

// State is how a server is.
type State struct {
	Name    string
	Tools   int
	Skipped []string // tools that were not taken, each with the reason
	Problem string   // why it is not there; empty: it is
}

// Source keeps servers up and their tools in a registry.
type Source struct {
	registry *tools.Registry
	servers  []*connection
}

// NewSource makes a source; Run connects.
func NewSource(registry *tools.Registry, servers []Server) *Source {
	s := &Source{registry: registry}
	for _, server := range servers {
		s.servers = append(s.servers, &connection{Server: server, registry: registry, state: State{Name: server.Name, Problem: "it was not tried yet"}})
	}
	return s
}

// States tells how the servers are.
func (s *Source) States() []State {
	states := make([]State, len(s.servers))
	for i, c := range s.servers {
		c.mu.Lock()
		states[i] = c.state
		c.mu.Unlock()
	}
	return states
}

// Run keeps the servers up until ctx ends.
func (s *Source) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, c := range s.servers {
		all.Go(func() { c.maintain(ctx) })
	}
	all.Wait()
	return nil
}

// connection is one server and what is known of it.
type connection struct {
	Server
	registry *tools.Registry

	mu      sync.Mutex
	session *mcp.ClientSession
	state   State
}

// prefix is what no tool of multis' own has in its name.
func (c *connection) prefix() string { return c.Name + "__" }

// maintain connects, and connects again.
func (c *connection) maintain(ctx context.Context) {
	log := zerolog.Ctx(ctx).With().Str("mcp_server", c.Name).Logger()
	wait := minRetryPause
	for ctx.Err() == nil {
		begin := time.Now()
		err := c.stayConnected(ctx)
		c.setState(nil, State{Name: c.Name, Problem: problem(err)})
		c.registry.Drop(c.prefix())
		if ctx.Err() != nil {
			return
		}
		if time.Since(begin) > stableTime {
			wait = minRetryPause
		}
		log.Warn().Str("error", problem(err)).Stringer("again_in", wait).Msg("An MCP server is not there")
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, maxRetryPause)
	}
}

// stayConnected connects and stays until the server is gone. What its program said last may be the reason.
func (c *connection) stayConnected(ctx context.Context) (err error) {
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
			select { // some change all the time
			case <-ctx.Done():
			case <-time.After(changePause):
			}
		case <-look.C:
		}
	}
}

// newClient is how multis calls itself. Nothing of ours is for servers to use: no files, no model, no questions.
func newClient(changed func(context.Context, *mcp.ToolListChangedRequest)) *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "multis", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{}, ToolListChangedHandler: changed,
	})
}

// errClosed: the server ended, or ended the connection.
var errClosed = errors.New("it is gone")

var errConnectTimeout = fmt.Errorf("it said nothing within %s", connectTimeout)

// refreshTools takes in which tools there are.
func (c *connection) refreshTools(ctx context.Context, session *mcp.ClientSession) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var found []tools.Tool
	size := 0
	state := State{Name: c.Name}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("ask what it has: %w", err)
		}
		tool, why := c.newTool(t)
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
		if len(state.Skipped) > maxTools {
			return fmt.Errorf("it has more than %d tools", 2*maxTools)
		}
	}
	state.Tools = len(found)
	c.registry.Replace(c.prefix(), found...)
	c.setState(session, state)
	return nil
}

func (c *connection) setState(session *mcp.ClientSession, state State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.state = session, state
	c.state.Skipped = slices.Clip(state.Skipped)
}

// openSession is the session, if the server is there.
func (c *connection) openSession() *mcp.ClientSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// address is one of the web, with whatever else belongs to it.
var address = regexp.MustCompile(`\b(https?://)(?:[^\s/?#"'\\]*@)?([^\s/?#"'\\]*)[^\s"'\\]*`)

// problem is why a server is not there, in a line for people. Of addresses it shows the host alone: all else may be a secret.
func problem(err error) string {
	if err == nil {
		return "it is gone"
	}
	if closed, is := errors.AsType[*loginError](err); is {
		return singleLine(closed.Error())
	}
	return singleLine(policy.Redact(address.ReplaceAllString(err.Error(), "$1$2")))
}

// singleLine makes somebody else's text fit for terminals and logs: one short line without control characters.
func singleLine(s string) string { return text.Clip(text.OneLine(s), maxProblem) }

const maxProblem = 200
