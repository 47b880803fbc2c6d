package storetest

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// FaultInjector runs a process and kills it at one of its fault points. Each write and each commit has two: before
// Postgres receives it, and after it is done but before the process has the reply. A test adds others by Reach.
type FaultInjector struct {
	mu      sync.Mutex
	process *os.Process
	reached int    // the number of fault points that the process has reached
	killAt  int    // the number of the fault point that kills it
	name    string // of the fault point that killed it
}

// NewFaultInjector returns a FaultInjector that kills its process at the fault point with a number, from 1. If the process has fewer, it is
// not killed.
func NewFaultInjector(killAt int) *FaultInjector { return &FaultInjector{killAt: killAt} }

// Run runs this test binary as another process, with a connection to the database of st through a faultInjectingProxy. It
// returns the name of the fault point that killed the process; empty if the process ended by itself. The process gets the
// database's address in the environment variable that variable names, and the variables of env.
func (v *FaultInjector) Run(t testing.TB, st *store.Store, variable string, env ...string) (faultPoint string) {
	t.Helper()
	address, err := url.Parse(st.Pool().Config().ConnString())
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "proxy") //nolint:usetesting // the paths of sockets have to be short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	query := address.Query()
	name := ".s.PGSQL." + query.Get("port")
	proxy := &faultInjectingProxy{injector: v, server: filepath.Join(query.Get("host"), name)}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "unix", filepath.Join(dir, name))
	require.NoError(t, err)
	served := make(chan struct{})
	go func() { defer close(served); proxy.serve(t, listener) }()
	query.Set("host", dir)
	address.RawQuery = query.Encode()

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), variable+"="+address.String()), env...)
	cmd.Stderr = os.Stderr
	v.mu.Lock()
	require.NoError(t, cmd.Start())
	v.process = cmd.Process
	v.mu.Unlock()
	ended := cmd.Wait()
	v.mu.Lock()
	faultPoint, v.process = v.name, nil
	v.mu.Unlock()
	require.NoError(t, listener.Close())
	<-served
	if faultPoint == "" {
		require.NoError(t, ended)
	}
	return faultPoint
}

// Reach reports that the process has reached a fault point, and kills it if it is the selected one. It returns true if the process was
// killed.
func (v *FaultInjector) Reach(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.process == nil {
		return false
	}
	if v.name != "" {
		return true
	}
	v.reached++
	if v.reached < v.killAt {
		return false
	}
	v.name = name
	_ = v.process.Kill()
	return true
}

// faultInjectingProxy forwards connections to Postgres. Before and after each write and commit it calls
// FaultInjector.Reach, which may kill the process.
type faultInjectingProxy struct {
	injector *FaultInjector
	server   string // the server's socket
}

var writeStatement = regexp.MustCompile(`(?i)^\s*(insert|update|delete|with)\b`)

func (p *faultInjectingProxy) serve(t testing.TB, listener net.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			t.Error(err)
			return
		}
		var done atomic.Value
		wg.Go(func() { defer client.Close(); defer server.Close(); p.forwardRequests(client, server, &done) })
		wg.Go(func() { defer client.Close(); defer server.Close(); p.forwardReplies(client, server, &done) })
	}
}

// forwardRequests forwards the client's messages.
func (p *faultInjectingProxy) forwardRequests(client, server net.Conn, done *atomic.Value) {
	in := bufio.NewReader(client)
	prepared := map[string]string{}
	for first := true; ; first = false {
		kind, body, raw, err := readMessage(in, !first)
		if err != nil {
			return
		}
		faultPoint := ""
		switch kind {
		case 'P':
			name, sql, _ := strings.Cut(string(body), "\x00")
			prepared[name] = sql
		case 'B':
			_, rest, _ := strings.Cut(string(body), "\x00")
			name, _, _ := strings.Cut(rest, "\x00")
			if writeStatement.MatchString(prepared[name]) {
				faultPoint = strings.Join(strings.Fields(prepared[name])[:3], " ")
			}
		case 'Q':
			if sql := strings.TrimRight(string(body), "\x00"); strings.HasPrefix(sql, "commit") {
				faultPoint = sql
			}
		}
		if faultPoint != "" {
			if p.injector.Reach("before " + faultPoint) {
				return
			}
			done.Store("after " + faultPoint)
		}
		if _, err := server.Write(raw); err != nil {
			return
		}
	}
}

// forwardReplies forwards the server's messages.
func (p *faultInjectingProxy) forwardReplies(client, server net.Conn, done *atomic.Value) {
	in := bufio.NewReader(server)
	for {
		kind, _, raw, err := readMessage(in, true)
		if err != nil {
			return
		}
		if name, _ := done.Load().(string); kind == 'Z' && name != "" {
			done.Store("")
			if p.injector.Reach(name) {
				return
			}
		}
		if _, err := client.Write(raw); err != nil {
			return
		}
	}
}

// readMessage reads one message of Postgres' protocol. A client's first message has no kind.
func readMessage(r *bufio.Reader, hasKind bool) (kind byte, body, raw []byte, err error) {
	if hasKind {
		if kind, err = r.ReadByte(); err != nil {
			return 0, nil, nil, err
		}
		raw = append(raw, kind)
	}
	size := make([]byte, 4)
	if _, err := io.ReadFull(r, size); err != nil {
		return 0, nil, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(size)-4)
	_, err = io.ReadFull(r, body)
	return kind, body, append(append(raw, size...), body...), err
}
