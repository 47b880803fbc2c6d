package mcp

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"multis/fetch"
	"multis/policy"
)

// maxBody is the size of a server's largest response, in bytes.
const maxBody = 16 << 20

// exitTimeout is how long a program may take to exit by itself.
const exitTimeout = 2 * time.Second

// transport returns the transport to the server. end, which may be called twice, closes it, kills the program, and returns the last line that
// it wrote to stderr.
func (c *connection) transport() (way mcp.Transport, end func() (last string)) {
	if c.URL != "" {
		client := plainClient(c.URL, c.Token)
		if c.Logins != nil {
			client.Transport = &loginTransport{bearer: newBearer(c.URL, ""), server: c.Server}
		}
		return &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: client, MaxRetries: -1, MaxEventSize: maxBody}, func() string {
			client.CloseIdleConnections()
			return ""
		}
	}
	cmd := exec.Command(c.Command[0], c.Command[1:]...) //nolint:noctx // it ends with the session, and end kills it
	cmd.Dir = c.Folder
	for _, name := range append([]string{"PATH", "HOME", "LANG"}, c.PassEnv...) {
		if value, is := os.LookupEnv(name); is {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	said := &tail{}
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what it starts can be killed with it
	cmd.WaitDelay = exitTimeout
	var once sync.Once
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: exitTimeout}, func() string {
		once.Do(func() {
			if cmd.Process != nil {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have exited
			}
		})
		return policy.Redact(said.line())
	}
}

// plainClient returns a client for the server at an address, with its token if there is one. It follows no redirects.
func plainClient(address, token string) *http.Client {
	return &http.Client{Transport: newBearer(address, token), CheckRedirect: refuseRedirect}
}

// refuseRedirect makes a client return redirects instead of following them.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bearer is a transport that adds a token and limits the size of responses.
type bearer struct {
	token string
	local bool // the server is on this machine
	next  *http.Transport
}

func newBearer(address, token string) bearer {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	at, err := url.Parse(address)
	if err != nil {
		at = &url.URL{} // not possible: the configuration was checked
	}
	b := bearer{token: token, local: fetch.IsLoopback(at.Hostname()), next: next}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: at}); err == nil && proxy != nil {
		return b // all connections go to the proxy, wherever it is
	}
	next.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		kinds := []fetch.Kind{fetch.Public, fetch.Private}
		if host, _, err := net.SplitHostPort(to); err == nil && strings.EqualFold(host, at.Hostname()) {
			kinds = append(kinds, fetch.OwnInterface) // the owner configured it
		}
		if b.local {
			kinds = append(kinds, fetch.OwnInterface, fetch.Loopback)
		}
		dialer := net.Dialer{Timeout: connectTimeout, Control: fetch.Control(kinds...)}
		conn, err := dialer.DialContext(ctx, network, to)
		if errors.Is(err, fetch.ErrPrivate) {
			return nil, errLocalAddress
		}
		return conn, err
	}
	return b
}

// errLocalAddress is returned for an address of this machine that a server elsewhere names as its authorization server.
var errLocalAddress = errors.New("it names an address of the machine that multis runs on")

// CloseIdleConnections is called by http.Client.
func (b bearer) CloseIdleConnections() { b.next.CloseIdleConnections() }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !b.local && fetch.IsLoopback(r.URL.Hostname()) {
		return nil, errLocalAddress
	}
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	}
	return resp, err
}

// tail is a writer that keeps the last bytes written.
type tail struct {
	mu   sync.Mutex
	last []byte
}

const tailSize = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if len(t.last) > tailSize {
		t.last = bytes.Clone(t.last[len(t.last)-tailSize:])
	}
	return len(p), nil
}

// line returns the last line that is not blank.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.last)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
