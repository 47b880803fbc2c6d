package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/config"
	"multis/deploy/devstack"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const (
	testOwner     id.UserID = "@owner:x"
	testBot       id.UserID = "@multis:x"
	testBridgeBot id.UserID = "@demobot:x"
	testOperator  id.UserID = "@operator:x"
	testStranger  id.UserID = "@stranger:x"
)

const serveConfig = `
homeserver: {address: %q, domain: x}
appservice: {port: %d, sender_localpart: as_multis_test, as_token: as-token, hs_token: hs-token}
owner: "@owner:x"
operators: ["@operator:x"]
time_zone: UTC
database: {url: %q}
chats:
  profile: business
  first_delivery: auto
  burst_quiet: 20ms
  admin_pause_minutes: 0
  contact_caps: {per_minute: 1000, per_day: 1000}
`

// run is a running multis with a fake homeserver and random rooms.
type run struct {
	t    *testing.T
	hs   *homeserver
	db   *store.Store
	file string // the configuration
	port int
	txn  int
	rand *rand.Rand

	rooms  []*testRoom
	stored map[id.EventID]bool // acknowledged events: whether they must have a row, or must have none
	texts  map[id.EventID]string
}

func startServe(t *testing.T, seed uint64) *run {
	t.Helper()
	return startServeOn(t, seed, storetest.DSN(t), serveConfig)
}

// startServeOn is startServe on a database, with another configuration.
func startServeOn(t *testing.T, seed uint64, dsn, text string) *run {
	t.Helper()
	r := &run{
		t:      t,
		hs:     openHomeserver(t),
		rand:   rand.New(rand.NewPCG(seed, 0)),
		stored: map[id.EventID]bool{},
		texts:  map[id.EventID]string{},
	}
	failures := rand.New(rand.NewPCG(seed, 1))
	r.hs.allowed = r.mayBeSent
	r.hs.fail = func() failure {
		switch failures.IntN(8) {
		case 0:
			return refused
		case 1:
			return brokenOff
		default:
			return noFailure
		}
	}
	var err error
	r.db, err = store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(r.db.Close)
	r.port = freePort(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, text, r.hs.URL, r.port, dsn), 0o600))
	cfg, err := config.Load(file)
	require.NoError(t, err)
	r.file = file

	log := zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.ErrorLevel)
	ctx, stop := context.WithCancel(log.WithContext(context.Background()))
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, file, cfg, safeModeStart{}) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	r.until("multis to be ready", func() bool {
		resp, err := http.Get(r.url("/_matrix/mau/ready"))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return r
}

// freePort returns a port that nothing else takes before multis listens there, as one of the ephemeral ports might be.
func freePort(t testing.TB) int {
	t.Helper()
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	return ports[0]
}

func (r *run) url(path string) string { return fmt.Sprintf("http://127.0.0.1:%d%s", r.port, path) }

// until waits until done is true. A busy machine takes minutes for what takes seconds otherwise.
func (r *run) until(what string, done func() bool) {
	r.t.Helper()
	require.Eventually(r.t, done, 5*time.Minute, 20*time.Millisecond, what)
}

// pushTransaction sends events to multis in a transaction of the homeserver. It returns false if multis did not acknowledge it.
func (r *run) pushTransaction(events []*event.Event) bool {
	r.t.Helper()
	r.txn++
	body, err := json.Marshal(map[string][]*event.Event{"events": events})
	require.NoError(r.t, err)
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPut, r.url(fmt.Sprintf("/_matrix/app/v1/transactions/%d", r.txn)),
		bytes.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Authorization", "Bearer hs-token")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	require.NoError(r.t, resp.Body.Close())
	return resp.StatusCode == http.StatusOK
}

const idleSQL = `select not exists (select from river.river_job where kind not in ('late_messages', 'tick') and not (kind in ('update_escalation', 'end_question') and scheduled_at > now() + interval '1 minute') and state in ('available', 'running', 'retryable', 'scheduled', 'pending'))
	and not exists (select from outbox where state = 'queued') and not exists (select from pending_events)`

// busySQL says what keeps multis from being idle.
const busySQL = `select coalesce(string_agg(format('%s %s, due %s: %s', state, kind, scheduled_at, args), E'\n'), '') from river.river_job
	where kind not in ('late_messages', 'tick') and state in ('available', 'running', 'retryable', 'scheduled', 'pending')`

// hurrySQL makes the next attempt of each failed send due, so that no test waits for the time between attempts.
const hurrySQL = `update river.river_job set state = 'available', scheduled_at = now() where kind = 'send' and attempt > 0 and state in ('available', 'retryable') and scheduled_at > now()`

// awaitIdle waits until multis has processed the whole stream and has no unfinished job.
func (r *run) awaitIdle() {
	r.t.Helper()
	defer func() {
		if r.t.Failed() {
			var busy string
			err := r.db.DB().QueryRow(context.WithoutCancel(r.t.Context()), busySQL).Scan(&busy)
			r.t.Log("unfinished jobs:", busy, err)
		}
	}()
	r.until("multis to be idle", func() bool {
		_, err := r.db.Pool().Exec(r.t.Context(), hurrySQL)
		require.NoError(r.t, err)
		r.hs.mu.Lock()
		end := syncToken(len(r.hs.stream))
		r.hs.mu.Unlock()
		var since string
		_, err = store.GetSetting(r.t.Context(), r.db.DB(), store.SettingSyncToken, &since)
		require.NoError(r.t, err)
		var idle bool
		require.NoError(r.t, r.db.DB().QueryRow(r.t.Context(), idleSQL).Scan(&idle))
		return idle && since == end
	})
}

func (r *run) count(sql string, args ...any) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.db.DB().QueryRow(r.t.Context(), sql, args...).Scan(&n))
	return n
}

const eventsPerRound = 60

func TestServe_NeverSendsWhereForbidden(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	startServe(t, seed).neverSendsWhereForbidden(rounds)
}

// The pooler gives each transaction another connection, and multis has no more than it needs at least.
func TestServe_WorksThroughPgBouncer(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	dsn := storetest.DSN(t)
	pooled := fmt.Sprintf("database: {url: %q, connections: %d, direct: %%q}", storetest.Pooler(t, dsn), store.MinConnections)
	startServeOn(t, seed, dsn, strings.Replace(serveConfig, "database: {url: %q}", pooled, 1)).neverSendsWhereForbidden(pooledRounds)
}

// neverSendsWhereForbidden delivers messages to rooms that change at random, and checks what is stored and sent.
func (r *run) neverSendsWhereForbidden(rounds int) {
	t := r.t
	_, err := knowledge.New(r.db).Index(t.Context(), knowledge.File{
		Name: "prices.md",
		Data: []byte("# Prices\n\nA consultation costs 80 EUR.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	r.makeRooms()
	for n := 0; n < rounds || n < mostRounds && r.untested() != ""; n++ {
		r.deliverRandomMessages()
		r.awaitIdle()
		r.changeRooms()
	}
	r.silenceDuringRetry()
	r.checkSends()
	r.checkRows()
	r.checkTransactions()
	require.Empty(t, r.hs.odd, "requests a homeserver does not know")
	require.Positive(t, r.count("select count(*) from outbox where send_as = 'owner' and state = 'sent'"), "and it does answer where it may")
	require.Empty(t, r.untested(), "it was put to the test")
}

// mostRounds is how many rounds there are until each reason for silence occurred: what happens in a round is random.
const mostRounds = 30

// untested returns a reason for silence that did not occur yet; empty if all did.
func (r *run) untested() policy.Code {
	for _, code := range []policy.Code{
		policy.CodeEncryptionUnknown, policy.CodeSilent, policy.CodeStale, policy.CodeNotAddressed,
		policy.CodeOwnerWrote,
	} {
		if r.count("select count(*) from messages where code = $1", code) == 0 {
			return code
		}
	}
	return ""
}

// mayBeSent reports whether a send is allowed in the current state. The caller holds the homeserver's lock.
func (r *run) mayBeSent(sent put) bool {
	room := r.room(sent.Room)
	if room == nil {
		return sent.Sender == testBot // the room it made
	}
	return sent.Sender == testOwner && room.mayReceive() && (sent.Event.Type.Type == event.EventEncrypted.Type) == (room.encryption == "yes")
}

// checkSends checks that every send was allowed, failed ones included.
func (r *run) checkSends() {
	r.t.Helper()
	r.hs.mu.Lock()
	defer r.hs.mu.Unlock()
	for _, sent := range r.hs.puts {
		require.True(r.t, sent.Allowed, "a send of %s by %s into %s", sent.Event.Type.Type, sent.Sender, r.room(sent.Room))
	}
}

// checkTransactions checks that every send has an outbox row, and that every row led to at most one event.
func (r *run) checkTransactions() {
	r.t.Helper()
	r.hs.mu.Lock()
	defer r.hs.mu.Unlock()
	events := map[id.EventID]bool{}
	for key, event := range r.hs.taken {
		_, txn, _ := strings.Cut(key, " ")
		require.Equal(r.t, 1, r.count("select count(*) from outbox where id::text = $1 and event_id = $2", txn, event), "transaction %s", txn)
		require.False(r.t, events[event])
		events[event] = true
	}
	require.Equal(r.t, len(events), r.count("select count(*) from outbox where state in ('sent', 'delivered')"),
		"each row that was sent is one event")
	require.Greater(r.t, len(r.hs.puts), len(events), "some sends were repeated")
}

// checkRows checks that all acknowledged events are stored, except those that must not be.
func (r *run) checkRows() {
	r.t.Helper()
	for evt, stored := range r.stored {
		want := 0
		if stored {
			want = 1
		}
		require.Equal(r.t, want, r.count("select count(*) from messages where event_id = $1", evt), "rows of %s: %s", evt, r.texts[evt])
	}
}

func (r *run) room(room id.RoomID) *testRoom {
	for _, known := range r.rooms {
		if known.ID == room {
			return known
		}
	}
	return nil
}

func (room *testRoom) String() string {
	return strings.Join([]string{string(room.ID), room.kind, room.encryption, string(room.mode)}, " ")
}
