package mcp

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"multis/policy"
)

// maxBody is the most that a server may answer in one response, in bytes.
const maxBody = 16 << 20

// endTime is how long a program may take to end by itself.
const endTime = 2 * time.Second

// transport is the way to a server. end, which may be called twice, leaves nothing of it behind.
func (c *connection) transport(ctx context.Context) (way mcp.Transport, end func()) {
	if c.URL != "" {
		client := plainClient(c.Token)
		way := &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: client, MaxRetries: -1, MaxEventSize: maxBody}
		if c.Logins != nil {
			way.OAuthHandler = &door{server: c.Server, client: client}
		}
		return way, client.CloseIdleConnections
	}
	cmd := exec.Command(c.Command[0], c.Command[1:]...) //nolint:noctx // it ends with the session, and end sees to it
	cmd.Dir = c.Folder
	for _, name := range append([]string{"PATH", "HOME", "LANG"}, c.PassEnv...) {
		if value, is := os.LookupEnv(name); is {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	said := &tail{}
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts ends with it
	cmd.WaitDelay = endTime
	var once sync.Once
	return &mcp.CommandTransport{Command: cmd, TerminateDuration: endTime}, func() {
		once.Do(func() {
			if cmd.Process != nil {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what is gone is gone
			}
			if text := said.String(); text != "" {
				zerolog.Ctx(ctx).Debug().Str("mcp_server", c.Name).Str("said", policy.Redact(text)).Msg("An MCP server ended")
			}
		})
	}
}

// plainClient asks servers and follows nobody elsewhere. It shows the token, if there is one.
func plainClient(token string) *http.Client {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	return &http.Client{
		Transport:     bearer{token: token, next: next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bearer shows a token, and bounds what comes back.
type bearer struct {
	token string
	next  *http.Transport
}

// CloseIdleConnections is what http.Client asks its transport for.
func (b bearer) CloseIdleConnections() { b.next.CloseIdleConnections() }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
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

// tail keeps the last of what a program says.
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

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}
