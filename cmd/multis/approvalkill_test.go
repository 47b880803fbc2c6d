package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/mcp"
	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/policy/rules"
	"multis/store"
	"multis/store/storetest"
)

// lamps are lamps of another program. They count how often each is lit.
type lamps struct {
	mu  sync.Mutex
	lit map[int]int
	// reached is called when a lamp is lit and nobody knows it yet.
	reached func()
	broken  map[int]string // what a lamp says that cannot be lit
}

func (l *lamps) setReached(reached func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reached = reached
}

type lampArgs struct {
	N int `json:"n"`
}

func (*lamps) Spec() tools.Spec {
	// of a name that the server serves
	return tools.Spec{Name: "search_docs", Tier: tools.Read, Class: rules.ClassRead, Schema: tools.Schema[lampArgs]()}
}

func (l *lamps) Run(_ context.Context, c tools.Call) (tools.Result, error) {
	args, err := tools.Decode[lampArgs](c)
	if err != nil {
		return tools.BadArguments(err), nil
	}
	l.mu.Lock()
	l.lit[args.N]++
	reached := l.reached
	l.mu.Unlock()
	reached()
	if l.broken[args.N] != "" {
		return tools.Failed(l.broken[args.N], false), nil
	}
	return tools.Result{ForLLM: fmt.Sprintf("Lamp %d is lit.", args.N)}, nil
}

func (l *lamps) times(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lit[n]
}

// approvalRun is a multis whose model lights lamps, for which the owner is asked.
type approvalRun struct {
	*processGroup
	lamps lamps
	room  store.Chat
	txn   int
	url   atomic.Pointer[string] // where the program listens
}

var lampQuestion = regexp.MustCompile(`light lamp (\d+), please`)

// lightLamps calls for the lamp that the owner names, and says what became of it.
func lightLamps(_ context.Context, req llmtest.Request) llmtest.Reply {
	said := func(text string) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences": [{"text": "` + text + `", "source": 0, "quote": ""}]}`}
	}
	switch last := req.Last(); {
	case strings.Contains(last, "result of desk__search_docs\nLamp"):
		return said("It is lit.")
	case strings.Contains(last, "Nobody knows whether"):
		return said("I cannot tell.")
	case strings.Contains(last, "result of desk__search_docs\n"):
		return said("Not lit.")
	default:
		all := lampQuestion.FindAllStringSubmatch(last, -1)
		if all == nil {
			return said("What?")
		}
		return llmtest.Reply{Calls: []llmtest.Call{{Name: "desk__search_docs", Args: `{"n": ` + all[len(all)-1][1] + `}`}}}
	}
}

// newApprovalRun starts multis with a model and further lines of configuration.
func newApprovalRun(t *testing.T, script llmtest.Script, config string) *approvalRun {
	t.Helper()
	r := &approvalRun{processGroup: &processGroup{t: t, homeserver: newFakeHomeserver(t), dir: t.TempDir(), dsn: storetest.DSN(t)}}
	r.lamps.lit, r.lamps.reached = map[int]int{}, func() {}
	model := llmtest.Start(t, script)
	desk := httptest.NewServer(mcp.Serve(t.Context(), mcp.ServeOptions{
		Registry: tools.NewRegistry(tools.TierPolicy{}, &r.lamps), Token: "lamp-token", Version: "1",
		Record: func(context.Context, tools.Call, string) error { return nil },
	}))
	t.Cleanup(func() { desk.CloseClientConnections(); desk.Close() })
	var err error
	r.st, err = store.Open(t.Context(), r.dsn)
	require.NoError(t, err)
	t.Cleanup(r.st.Close)
	r.config = fmt.Sprintf("llm: {model: openai/test, base_url: %q, local: true}\nmcp: {desk: {url: %q, token: lamp-token}}\n", model.URL,
		desk.URL+"/mcp") + config
	r.procs = append(r.procs, nil)
	t.Cleanup(func() { r.kill(0) })
	r.begin()
	r.wait("an admin room", func() bool {
		r.room, err = store.AdminChat(t.Context(), r.st.DB())
		return err == nil
	})
	return r
}

func (r *approvalRun) wait(what string, done func() bool) {
	r.t.Helper()
	require.Eventually(r.t, done, 2*time.Minute, 5*time.Millisecond, what)
}

// begin starts the program, and notes where it listens.
func (r *approvalRun) begin() {
	r.t.Helper()
	r.start(0)
	raw, err := os.ReadFile(r.procs[0].Args[2])
	require.NoError(r.t, err)
	url := "http://127.0.0.1:" + regexp.MustCompile(`port: (\d+)`).FindStringSubmatch(string(raw))[1]
	r.url.Store(&url)
}

// push delivers a message of the owner's as the homeserver does: the same transaction again until it is acknowledged. The
// channel is closed then.
func (r *approvalRun) push(event id.EventID, content map[string]any) <-chan struct{} {
	r.t.Helper()
	r.txn++
	body, err := json.Marshal(map[string]any{"events": []map[string]any{{
		"type": "m.room.message", "room_id": *r.room.RoomID, "sender": testOwner, "event_id": event, "origin_server_ts": time.Now().UnixMilli(),
		"content": content,
	}}})
	require.NoError(r.t, err)
	path, taken := fmt.Sprintf("/_matrix/app/v1/transactions/%d", r.txn), make(chan struct{})
	go func() {
		defer close(taken)
		for !r.deliver(path, body) && r.t.Context().Err() == nil {
			time.Sleep(5 * time.Millisecond) // the homeserver's time between two attempts
		}
	}()
	return taken
}

// deliver makes one attempt to deliver a transaction.
func (r *approvalRun) deliver(path string, body []byte) bool {
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPut, *r.url.Load()+path, bytes.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Authorization", "Bearer hs-token")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// askFor asks for a lamp, and again while the other program is not connected yet. It returns the message that asks for
// the owner's yes, and the task.
func (r *approvalRun) askFor(n int, meanwhile func()) (card id.EventID, task int) {
	r.t.Helper()
	asked := 0
	ask := func() id.EventID {
		asked++
		event := id.EventID(fmt.Sprintf("$ask%d-%d", n, asked))
		<-r.push(event, map[string]any{"msgtype": "m.text", "body": fmt.Sprintf("light lamp %d, please", n)})
		return event
	}
	question := ask()
	meanwhile()
	r.wait(fmt.Sprintf("question %d", n), func() bool {
		err := r.st.DB().QueryRow(r.t.Context(), askedSQL, strconv.Itoa(n)).Scan(&card, &task)
		if err != nil &&
			r.count("select count(*) from tasks t join messages m on m.id = t.message_id where m.event_id = $1 and t.state = 'completed'",
				question) == 1 {
			question = ask()
		}
		return err == nil
	})
	return card, task
}

const askedSQL = `select o.event_id, a.task_id from approvals a join outbox o on o.content->>'body' like '%n: “'||$1||'”%'
	where o.event_id is not null and a.arguments like '%: '||$1||'}' order by o.created_at desc limit 1`

// The program is killed at random moments around the owner's answer, also while the call is under way.
func TestApproval_KillActsAtMostOnceEndToEnd(t *testing.T) { //nolint:paralleltest // it takes the whole machine
	r := newApprovalRun(t, lightLamps, "")
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	kills := 0
	lit := 0
	unknown := 0
	restart := func() {
		r.kill(0)
		kills++
		r.begin()
	}
	for n := 1; n <= approvalKills; n++ {
		card, task := r.askFor(n, func() {
			if rng.IntN(4) == 0 {
				time.Sleep(time.Duration(rng.IntN(80)) * time.Millisecond) // the moment of the kill
				restart()
			}
		})
		require.Zero(t, r.lamps.times(n), "before the owner said anything")
		word, pause := []string{"yes", "yes", "yes", "no", "later"}[rng.IntN(5)], time.Duration(rng.IntN(60_000))*time.Microsecond
		r.lamps.setReached(func() {})
		if rng.IntN(4) == 0 { // while the lamp is lit and nobody knows
			victim := r.procs[0].Process
			r.lamps.setReached(func() { _ = victim.Kill() }) // it may be dead already
			pause = 200 * time.Millisecond
		}
		taken := r.push(id.EventID(fmt.Sprintf("$word%d", n)),
			map[string]any{"msgtype": "m.text", "body": word, "m.relates_to": map[string]any{"m.in_reply_to": map[string]any{"event_id": card}}})
		time.Sleep(pause) // the moment of the kill
		restart()
		<-taken
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond) // the moment of another kill
			restart()
		}
		r.wait(fmt.Sprintf("the end of task %d", n), func() bool {
			return r.count("select count(*) from tasks where id = $1 and state in ('completed', 'failed', 'killed', 'timeout')", task) == 1
		})
		uncertain, got := r.count("select count(*) from task_steps where task_id = $1 and code = 'unknown_outcome'", task), r.lamps.times(n)
		t.Logf("%d %s after %v: lit %d, unknown %d", n, word, pause, got, uncertain)
		if word != "yes" {
			require.Zero(t, got, "lamp %d without a yes", n)
			continue
		}
		require.LessOrEqual(t, got, 1, "lamp %d", n)
		require.Equal(t, 1, max(got, uncertain), "lamp %d is lit, or the model is told that nobody knows", n)
		lit, unknown = lit+got, unknown+uncertain
	}
	t.Logf("%d lamps, %d kills: %d lit, %d unknown", approvalKills, kills, lit, unknown)
}
