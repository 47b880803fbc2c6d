package agent

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/store/storetest"
	"multis/tools"
)

// The environment of a process that answers one question and is killed meanwhile.
const (
	killDatabase = "MULTIS_TEST_KILL_DATABASE"
	killModel    = "MULTIS_TEST_KILL_MODEL"
	killLamp     = "MULTIS_TEST_KILL_LAMP"
	killMessage  = "MULTIS_TEST_KILL_MESSAGE"
)

func TestMain(m *testing.M) {
	if os.Getenv(killDatabase) == "" {
		storetest.Main(m)
		return
	}
	if err := answerOnce(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// answerOnce is the process that is killed.
func answerOnce(ctx context.Context) error {
	st, err := store.Open(ctx, os.Getenv(killDatabase))
	if err != nil {
		return err
	}
	defer st.Close()
	row, err := strconv.ParseInt(os.Getenv(killMessage), 10, 64)
	if err != nil {
		return err
	}
	m, err := store.MessageByID(ctx, st.DB(), row)
	if err != nil {
		return err
	}
	room, err := store.AdminChat(ctx, st.DB())
	if err != nil {
		return err
	}
	a, err := lampAgent(st, os.Getenv(killModel), os.Getenv(killLamp))
	if err != nil {
		return err
	}
	return a.Ask(ctx, room, m, m.Body)
}

// lampAgent is an agent whose lamp is somewhere else, as what a tool changes usually is.
func lampAgent(st *store.Store, model, switchURL string) (*Agent, error) {
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: model, Local: true}}, Timeout: time.Minute,
		Budget: llm.Budget{Ledger: &ample{}, DayCap: 1, Today: func() string { return "2026-11-20" }},
	})
	if err != nil {
		return nil, err
	}
	m, err := models.Open([]string{"openai/test"}, "")
	if err != nil {
		return nil, err
	}
	far := &lamp{tier: tools.Read, do: func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, switchURL, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}}
	return New(Options{
		Store: st, Search: search.New(st), Model: m, Name: "Nora", Zone: time.UTC, Tools: tools.NewRegistry(tools.Tiers{}, far),
		Box: outbox.New(st, outbox.Rules{Defaults: policy.Defaults{Profile: policy.ProfilePersonal}, Name: "Nora", Disclose: func(string) bool { return true }}, nil),
	}), nil
}

// victim is a process that is killed at one moment of those it goes through.
type victim struct {
	mu      sync.Mutex
	process *os.Process
	moment  int
	at      int    // the moment that it dies at; beyond the last one, it lives
	name    string // of the moment it died at
}

// pass tells that a moment has come, and kills the process if it is the one. True: it is dead.
func (v *victim) pass(name string) bool {
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
	victim *victim
	server string
}

var writes = regexp.MustCompile(`(?i)^\s*(insert|update|delete|with)\b`)

func (p *tapped) serve(t *testing.T, l net.Listener) {
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
			if p.victim.pass("before " + moment) {
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
			if p.victim.pass(name) {
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

// killed asks a question in a process that dies at a moment, has another one go on, and tells which moment it was; empty when the
// process came to its end first.
func killed(t *testing.T, at int) (moment string) {
	t.Helper()
	ctx := context.Background()
	v := &victim{at: at}
	var lit atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		lit.Add(1)
		v.pass("after the effect")
	}))
	t.Cleanup(far.Close)
	model, server := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		v.pass("while the model thinks")
		switch last := r.Last(); {
		case strings.Contains(last, "The lamp is on."):
			return llmtest.Reply{Text: says("It is on.", 0, "")}
		case strings.Contains(last, "Nobody knows whether"):
			return llmtest.Reply{Text: says("I cannot tell.", 0, "")}
		default:
			return calls("lamp", map[string]bool{"on": true})
		}
	})
	b := setup(t, model)
	m := b.asks("light, please")

	address, err := url.Parse(b.store.Pool().Config().ConnString())
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "tap") // short, as the names of sockets have to be
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	query := address.Query()
	name := ".s.PGSQL." + query.Get("port")
	tap := &tapped{victim: v, server: filepath.Join(query.Get("host"), name)}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", filepath.Join(dir, name))
	require.NoError(t, err)
	served := make(chan struct{})
	go func() { defer close(served); tap.serve(t, l) }()
	query.Set("host", dir)
	address.RawQuery = query.Encode()

	cmd := exec.Command(os.Args[0]) //nolint:noctx // it is killed, which is the point
	cmd.Env = append(os.Environ(), killDatabase+"="+address.String(), killModel+"="+server.URL, killLamp+"="+far.URL, fmt.Sprintf("%s=%d", killMessage, m.ID))
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

	next, err := lampAgent(b.store, server.URL, far.URL)
	require.NoError(t, err)
	for again := true; again; { // as the queue would
		err := next.Ask(ctx, b.admin, m, m.Body)
		again = err != nil
		var pg interface{ SQLState() string } // the dead process' connection may still hold a row for a moment
		if err != nil {
			require.True(t, errors.As(err, &pg), "%s: %v", moment, err)
		}
	}
	said := b.sent(b.admin)
	require.Len(t, said, 1, moment)
	require.LessOrEqual(t, lit.Load(), int32(1), moment)
	unknown := strings.Contains(said[0], "whether it was done I don't know")
	switch lit.Load() {
	case 0:
		require.True(t, unknown, "%s: it was not done, and said was %q", moment, said[0])
	case 1:
		require.True(t, unknown || strings.Contains(said[0], "It is on."), "%s: said was %q", moment, said[0])
	}
	require.NotNil(t, b.message(m.ID).AnsweredAt, moment)
	task, steps := b.task()
	require.Equal(t, store.TaskCompleted, task.State, moment)
	for _, s := range steps {
		require.NotNil(t, s.EndedAt, moment)
	}
	return moment
}

func TestKilledAtEveryStepATurnDoesWhatItDoesAtMostOnceAndTells(t *testing.T) {
	t.Parallel()
	const most = 200
	var moments []string
	for at := 1; at <= most; at++ {
		moment := killed(t, at)
		if moment == "" {
			break
		}
		moments = append(moments, moment)
	}
	t.Logf("killed at %d moments:\n%s", len(moments), strings.Join(moments, "\n"))
	all := strings.Join(moments, "\n")
	for _, want := range []string{"while the model thinks", "after the effect", "before insert into task_steps", "after insert into task_steps", "before update task_steps", "after update task_steps", "before commit", "after commit"} {
		require.Contains(t, all, want)
	}
	require.Less(t, len(moments), most)
}
