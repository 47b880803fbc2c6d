package monitor

import (
	"context"
	"encoding/pem"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/sandbox"
	"multis/store"
	"multis/store/storetest"
)

// TestMain makes the test program the child of the sandbox as well, and has it trust the certificate of httptest.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Subcommand {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	trustTestServers()
	storetest.Main(m)
}

func trustTestServers() {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	file, err := os.CreateTemp("", "multis-monitor-ca-")
	if err != nil {
		panic(err)
	}
	if err := pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}); err != nil {
		panic(err)
	}
	file.Close()
	os.Setenv("SSL_CERT_FILE", file.Name())
}

// notSent is an outbox.Sender that sends nothing. Tests read the notices from the outbox.
type notSent struct{}

func (notSent) Send(context.Context, store.OutboxMessage, id.RoomID) (id.EventID, error) {
	return "", errors.New("nothing is sent")
}
func (notSent) Retract(context.Context, store.OutboxMessage) error { return nil }

// rig is monitors on a database of their own, with an admin room and a clock that the test moves.
type rig struct {
	t   *testing.T
	st  *store.Store
	box *outbox.Box
	at  time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, st: storetest.New(t), at: time.Now()}
	r.box = outbox.New(r.st, outbox.Settings{
		Defaults: policy.Defaults{Profile: policy.ProfileBusiness},
		Owner:    "@you:x",
		Name:     "Nora",
		Disclose: func(string) bool { return true },
	}, notSent{})
	r.room("!admin:x", false)
	return r
}

func (r *rig) room(room string, forOperators bool) {
	r.t.Helper()
	roomID := id.RoomID(room)
	require.NoError(r.t, r.st.InTx(r.t.Context(), func(tx store.Tx) error {
		c, err := store.UpsertChat(r.t.Context(), tx, store.Chat{
			ChannelID:  room,
			RoomID:     &roomID,
			Kind:       policy.KindAdmin,
			Name:       "multis",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		if !forOperators {
			return nil
		}
		return store.MarkOperatorsRoom(r.t.Context(), tx, c.ID)
	}))
}

// start returns a Checker, as a new process has it.
func (r *rig) start(monitors ...Monitor) *Checker {
	r.t.Helper()
	c, err := New(Options{
		Store:    r.st,
		Box:      r.box,
		Zone:     time.UTC,
		Folder:   filepath.Join(r.t.TempDir(), "monitors"),
		Monitors: monitors,
	})
	require.NoError(r.t, err)
	c.now = func() time.Time { return r.at }
	require.NoError(r.t, c.Start(r.t.Context()))
	return c
}

// check makes the monitor due, and has it checked.
func (r *rig) check(c *Checker, name string) store.Monitor {
	r.t.Helper()
	r.exec("update monitors set next_at = $2 where name = $1", name, r.at)
	m := r.monitor(name)
	require.True(r.t, jobs.IsSnooze(c.CheckMonitor(r.t.Context(), m.ID)))
	return r.monitor(name)
}

func (r *rig) monitor(name string) store.Monitor {
	r.t.Helper()
	all, err := store.Monitors(r.t.Context(), r.st.DB())
	require.NoError(r.t, err)
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	require.FailNow(r.t, "there is no monitor "+name)
	return store.Monitor{}
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.st.Pool().Exec(r.t.Context(), sql, args...)
	require.NoError(r.t, err)
}

// said is a message of the outbox: the room, whether it is pushed, the event that it edits, and its text.
type said struct {
	room, edits, body string
	isAlert           bool
}

// messages returns all messages, and gives each an event as if it was sent.
func (r *rig) messages() []said {
	r.t.Helper()
	rows, err := r.st.Pool().Query(r.t.Context(), `select c.room_id, coalesce(o.content->'m.relates_to'->>'event_id', ''),
		coalesce(o.content->'m.new_content'->>'body', o.content->>'body'), coalesce(o.content->'m.mentions'->'user_ids' ? '@you:x', false)
		from outbox o join chats c on c.id = o.chat_id order by o.seq`)
	require.NoError(r.t, err)
	defer rows.Close()
	var all []said
	for rows.Next() {
		var s said
		require.NoError(r.t, rows.Scan(&s.room, &s.edits, &s.body, &s.isAlert))
		all = append(all, s)
	}
	r.exec("update outbox set state = 'sent', event_id = '$e' || seq, sent_at = now() where event_id is null")
	return all
}

// isSuccess accepts success.
func isSuccess(status int) bool { return status >= 200 && status < 300 }

// shop returns a monitor of an address of this machine.
func shop(address string) Monitor {
	return Monitor{
		Name: "shop", URL: address, IsPrivate: true, Accepts: isSuccess,
		Every: time.Minute, Timeout: 2 * time.Second, Failures: 2, Cooldown: 5 * time.Minute,
	}
}

// flaky is a server whose status the test sets.
func flaky(t *testing.T) (address string, status *atomic.Int64) {
	t.Helper()
	status = &atomic.Int64{}
	status.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	t.Cleanup(server.Close)
	return server.URL, status
}

func TestChecker_AlertBecomesRecovery(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address, status := flaky(t)
	c := r.start(shop(address))
	require.Zero(t, r.check(c, "shop").Failures)
	status.Store(http.StatusBadGateway)
	r.check(c, "shop")
	require.Empty(t, r.messages(), "one failure may be chance")
	r.at = r.at.Add(time.Minute)
	r.check(c, "shop")
	all := r.messages()
	require.Len(t, all, 1)
	require.True(t, all[0].isAlert)
	require.Equal(t, "!admin:x", all[0].room)
	require.Contains(t, all[0].body, "🔴 **shop** fails: the server says 502 Bad Gateway. 2 checks in a row have failed")

	c = r.start(shop(address)) // multis starts again
	for range 20 {
		r.at = r.at.Add(time.Minute)
		r.check(c, "shop")
	}
	require.Len(t, r.messages(), 1, "what goes on is no news, also after a restart")

	status.Store(http.StatusOK)
	r.at = r.at.Add(time.Minute)
	require.False(t, r.check(c, "shop").Firing)
	all = r.messages()
	require.Len(t, all, 2)
	require.Equal(t, "$e1", all[1].edits, "the alert is edited")
	require.False(t, all[1].isAlert)
	require.Contains(t, all[1].body, "✅ **shop** works again. It failed from ")
	require.Contains(t, all[1].body, "(22 min)")

	status.Store(http.StatusInternalServerError)
	for range 2 {
		r.at = r.at.Add(time.Minute)
		r.check(c, "shop")
	}
	all = r.messages()
	require.Len(t, all, 3)
	require.Empty(t, all[2].edits, "another failure is another message")
	require.Equal(t, int64(2), r.monitor("shop").Alerts)
}

func TestChecker_ProcessesAlertOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	address, status := flaky(t)
	status.Store(http.StatusBadGateway)
	m := shop(address)
	m.Failures = 1
	processes := []*Checker{r.start(m), r.start(m), r.start(m)}
	r.exec("update monitors set next_at = $1", r.at)
	shopID := r.monitor("shop").ID
	done := make(chan error, len(processes))
	for _, c := range processes {
		go func() { done <- c.CheckMonitor(t.Context(), shopID) }()
	}
	for range processes {
		require.True(t, jobs.IsSnooze(<-done))
	}
	require.Len(t, r.messages(), 1)
	require.Equal(t, 1, r.monitor("shop").Failures)
}

func TestChecker_OperatorsRoomGetsAlerts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := shop("http://127.0.0.1:1/")
	m.Failures, m.Cooldown = 1, time.Nanosecond
	m.ForOperators = true
	c := r.start(m)
	r.check(c, "shop")
	require.Equal(t, "!admin:x", r.messages()[0].room, "there is no room for operators yet")
	r.room("!operators:x", true)
	r.exec("update monitors set firing = false")
	r.at = r.at.Add(time.Minute)
	r.check(c, "shop")
	require.Equal(t, "!operators:x", r.messages()[1].room)
}

func TestChecker_FollowsConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	daily := shop("http://127.0.0.1:1/")
	daily.Every = 24 * time.Hour
	c := r.start(daily)
	r.check(c, "shop")
	require.Greater(t, r.monitor("shop").NextAt.Sub(r.at), 23*time.Hour)
	r.start(shop("http://127.0.0.1:1/"))
	require.Less(t, r.monitor("shop").NextAt.Sub(r.at), 2*time.Minute, "a shorter interval is followed at once")
	gone := r.monitor("shop").ID
	c = r.start()
	all, err := store.Monitors(t.Context(), r.st.DB())
	require.NoError(t, err)
	require.Empty(t, all)
	require.NoError(t, c.CheckMonitor(t.Context(), gone), "the job of a monitor that is gone ends")
}

func TestChecker_PausedIsNotChecked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := shop("http://127.0.0.1:1/")
	m.Failures = 1
	c := r.start(m)
	failing := r.check(c, "shop")
	require.True(t, failing.Firing)
	pause := func(change func(context.Context, store.Tx, store.MonitorID) error) {
		require.NoError(t, r.st.InTx(t.Context(), func(tx store.Tx) error { return change(t.Context(), tx, failing.ID) }))
	}
	pause(store.PauseMonitor)
	require.NoError(t, c.CheckMonitor(t.Context(), failing.ID), "its job ends")
	pause(store.ResumeMonitor)
	resumed := r.monitor("shop")
	require.Zero(t, resumed.Failures)
	r.at = r.at.Add(time.Hour)
	require.True(t, r.check(c, "shop").Firing)
	require.Len(t, r.messages(), 1, "it is the alert of before")
}

// No sequence of results, restarts and times has two alerts within a cooldown, or an alert for a monitor that has not failed often enough.
func TestApply_KeepsCooldown(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		m := Monitor{
			Every:    time.Duration(1+random.IntN(120)) * time.Second,
			Failures: 1 + random.IntN(4),
			Cooldown: time.Duration(random.IntN(900)) * time.Second,
		}
		var row store.Monitor
		now := time.Unix(1_800_000_000, 0)
		last, bad := time.Time{}, 0
		isFiring := false
		for range 500 {
			now = now.Add(m.Every + time.Duration(random.IntN(30))*time.Second)
			bad++
			problem := "it fails"
			if random.IntN(3) > 0 {
				bad, problem = 0, ""
			}
			switch apply(&row, m, problem, now) {
			case fires:
				require.GreaterOrEqual(t, bad, m.Failures, seed)
				require.GreaterOrEqual(t, now.Sub(last), m.Cooldown, seed)
				require.False(t, isFiring, seed)
				last, isFiring = now, true
			case recovers:
				require.True(t, isFiring, seed)
				require.Zero(t, bad, seed)
				isFiring = false
			case unchanged:
				isDue := bad >= m.Failures && now.Sub(last) >= m.Cooldown
				require.False(t, !isFiring && isDue, "an alert is missing: %d", seed)
				require.False(t, isFiring && bad == 0, "a recovery is missing: %d", seed)
			}
			require.Equal(t, isFiring, row.Firing)
		}
	}
}
