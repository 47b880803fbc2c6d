package mcp

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"multis/internal/fetch"
	"multis/policy"
)

// maxBody is the maximum size of a server's response, in bytes.
const maxBody = 16 << 20

// exitTimeout is how long a program may take to exit before it is killed.
const exitTimeout = 2 * time.Second

// transport returns the transport to the server. end closes it, kills the server's program, if there is one, and returns
// the last line that the program wrote to stderr. end may be called twice.
func (c *connection) transport() (_ mcp.Transport, end func() (last string)) {
	if c.URL != "" {
		client := plainClient(c.URL, c.Token)
		if c.Logins != nil {
			client.Transport = &loginTransport{bearerTransport: newBearerTransport(c.URL, ""), server: c.Server}
		}
		if len(c.Headers) > 0 {
			client.Transport = headerTransport{client.Transport, c.URL, c.Headers}
		}
		return &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: client, MaxRetries: -1, MaxEventSize: maxBody}, func() string {
			client.CloseIdleConnections()
			return ""
		}
	}
	cmd := exec.Command(c.Command[0], c.Command[1:]...) //nolint:noctx // it ends with the session, and end kills it
	cmd.Dir = c.Folder
	for _, name := range append([]string{"PATH", "HOME", "LANG"}, c.PassEnv...) {
		if value, isSet := os.LookupEnv(name); isSet {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		cmd.Env = append(cmd.Env, name+"="+c.Env[name])
	}
	stderr := &tailBuffer{}
	cmd.Stderr = stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what it starts can be killed with it
	cmd.WaitDelay = exitTimeout
	var once sync.Once
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: exitTimeout}, func() string {
		once.Do(func() {
			if cmd.Process != nil {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have exited
			}
		})
		return policy.Redact(stderr.lastLine())
	}
}

// plainClient returns an HTTP client for the server at an address. It sends the token unless that is empty, and follows no redirects.
func plainClient(address, token string) *http.Client {
	return &http.Client{Transport: newBearerTransport(address, token), CheckRedirect: refuseRedirect}
}

// refuseRedirect makes a client return redirects instead of following them.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// headerTransport is an HTTP transport that adds headers to requests to the server. Requests to its authorization server do not get them.
type headerTransport struct {
	next    http.RoundTripper
	address string
	headers map[string]string
}

// RoundTrip sends a request with the headers.
func (w headerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.TrimRight(r.URL.String(), "/") != strings.TrimRight(w.address, "/") {
		return w.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	for name, value := range w.headers {
		r.Header.Set(name, value)
	}
	return w.next.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.
func (w headerTransport) CloseIdleConnections() {
	if next, ok := w.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// bearerTransport is an HTTP transport that adds a token and limits the size of responses.
type bearerTransport struct {
	token string
	local bool // the server is on this machine
	next  *http.Transport
}

// newBearerTransport returns the transport to the server at an address. It refuses connections to reserved addresses, and
// to this machine unless the server runs here.
func newBearerTransport(address, token string) bearerTransport {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is an *http.Transport
	at, err := url.Parse(address)
	if err != nil {
		at = &url.URL{} // cannot happen: the configuration was checked
	}
	b := bearerTransport{token: token, local: fetch.IsLoopback(at.Hostname()), next: next}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: at}); err == nil && proxy != nil {
		return b // all connections go to the proxy, wherever it is
	}
	next.DialContext = func(ctx context.Context, network, to string) (net.Conn, error) {
		kinds := []fetch.AddressKind{fetch.Public, fetch.Private}
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

// errLocalAddress is returned when a remote server names an address of this machine as its authorization server.
var errLocalAddress = errors.New("it names an address of the machine that multis runs on")

// CloseIdleConnections is called by http.Client.
func (b bearerTransport) CloseIdleConnections() { b.next.CloseIdleConnections() }

// RoundTrip sends a request with the token.
func (b bearerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
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

// tailBuffer is a writer that keeps the last bytes that were written to it.
type tailBuffer struct {
	mu   sync.Mutex
	last []byte
}

// tailSize is how many bytes a tail keeps.
const tailSize = 2000

// Write appends p and drops what is older than tailSize bytes.
func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if len(t.last) > tailSize {
		t.last = bytes.Clone(t.last[len(t.last)-tailSize:])
	}
	return len(p), nil
}

// lastLine returns the last line that is not blank.
func (t *tailBuffer) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.last)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
