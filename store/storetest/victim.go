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

// Victim is a process that is killed at one moment of those it goes through: each write and each commit is two, before Postgres has
// it and after it is done and nobody was told, and a test names others by Pass.
type Victim struct {
	mu      sync.Mutex
	process *os.Process
	moment  int
	at      int    // the moment that it dies at; beyond the last one, it lives
	name    string // of the moment it died at
}

// NewVictim is one that dies at its nth moment; beyond the last one, it lives.
func NewVictim(at int) *Victim { return &Victim{at: at} }

// Run runs this test binary as another process, with a database behind a door that counts what goes through it, and returns the moment
// at which it was killed; empty when it came to its end first. The process finds the database's address in the variable, and is told
// the rest of env.
func (v *Victim) Run(t testing.TB, st *store.Store, variable string, env ...string) (moment string) {
	t.Helper()
	address, err := url.Parse(st.Pool().Config().ConnString())
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "tap") //nolint:usetesting // short, as the names of sockets have to be
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	query := address.Query()
	name := ".s.PGSQL." + query.Get("port")
	tap := &tapped{victim: v, server: filepath.Join(query.Get("host"), name)}
	l, err := new(net.ListenConfig).Listen(context.Background(), "unix", filepath.Join(dir, name))
	require.NoError(t, err)
	served := make(chan struct{})
	go func() { defer close(served); tap.serve(t, l) }()
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
	moment, v.process = v.name, nil
	v.mu.Unlock()
	require.NoError(t, l.Close())
	<-served
	if moment == "" {
		require.NoError(t, ended)
	}
	return moment
}

// Pass tells that a moment has come, and kills the process if it is the one. True: it is dead.
func (v *Victim) Pass(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.process == nil {
		return false
	}
	if v.name != "" {
		return true
	}
	v.moment++
	if v.moment < v.at {
		return false
	}
	v.name = name
	_ = v.process.Kill()
	return true
}

// tapped is a door to Postgres that knows what goes through it: each write and each commit is two moments, before Postgres has
// it and after it is done and nobody was told.
type tapped struct {
	victim *Victim
	server string
}

var writes = regexp.MustCompile(`(?i)^\s*(insert|update|delete|with)\b`)

func (p *tapped) serve(t testing.TB, l net.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("unix", p.server)
		if err != nil {
			t.Error(err)
			return
		}
		var done atomic.Value
		wg.Go(func() { defer client.Close(); defer server.Close(); p.ask(client, server, &done) })
		wg.Go(func() { defer client.Close(); defer server.Close(); p.answer(client, server, &done) })
	}
}

// ask passes on what the client says.
func (p *tapped) ask(client, server net.Conn, done *atomic.Value) {
	in := bufio.NewReader(client)
	known := map[string]string{}
	for first := true; ; first = false {
		kind, body, raw, err := message(in, !first)
		if err != nil {
			return
		}
		moment := ""
		switch kind {
		case 'P':
			name, sql, _ := strings.Cut(string(body), "\x00")
			known[name] = sql
		case 'B':
			_, rest, _ := strings.Cut(string(body), "\x00")
			name, _, _ := strings.Cut(rest, "\x00")
			if writes.MatchString(known[name]) {
				moment = strings.Join(strings.Fields(known[name])[:3], " ")
			}
		case 'Q':
			if sql := strings.TrimRight(string(body), "\x00"); strings.HasPrefix(sql, "commit") {
				moment = sql
			}
		}
		if moment != "" {
			if p.victim.Pass("before " + moment) {
				return
			}
			done.Store("after " + moment)
		}
		if _, err := server.Write(raw); err != nil {
			return
		}
	}
}

// answer passes on what Postgres says.
func (p *tapped) answer(client, server net.Conn, done *atomic.Value) {
	in := bufio.NewReader(server)
	for {
		kind, _, raw, err := message(in, true)
		if err != nil {
			return
		}
		if name, _ := done.Load().(string); kind == 'Z' && name != "" {
			done.Store("")
			if p.victim.Pass(name) {
				return
			}
		}
		if _, err := client.Write(raw); err != nil {
			return
		}
	}
}

// message reads one message of Postgres' protocol; the very first of a client has no kind.
func message(r *bufio.Reader, kinded bool) (kind byte, body, raw []byte, err error) {
	if kinded {
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
