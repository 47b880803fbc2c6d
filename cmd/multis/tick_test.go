package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/migrations"
	"multis/policy"
	"multis/store"
	"multis/store/pgserver"
)

// fakeHomeserver is a homeserver that answers at once, and stores the sent texts by transaction id.
type fakeHomeserver struct {
	*httptest.Server
	mu    sync.Mutex
	texts map[string]string // by transaction id
}

func newFakeHomeserver(t testing.TB) *fakeHomeserver {
	t.Helper()
	d := &fakeHomeserver{texts: map[string]string{}}
	mux := http.NewServeMux()
	const v3 = "/_matrix/client/v3"
	mux.HandleFunc("GET "+v3+"/account/whoami", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]id.UserID{"user_id": userOf(r)})
	})
	mux.HandleFunc("GET "+v3+"/joined_rooms", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string][]string{"joined_rooms": {}})
	})
	mux.HandleFunc("POST "+v3+"/createRoom", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]string{"room_id": "!made:x"})
	})
	mux.HandleFunc("GET "+v3+"/rooms/{room}/state/{type}/{$}", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "M_NOT_FOUND")
	})
	mux.HandleFunc("GET "+v3+"/rooms/{room}/state", func(w http.ResponseWriter, _ *http.Request) { reply(w, []struct{}{}) })
	mux.HandleFunc("PUT "+v3+"/rooms/{room}/send/{type}/{txn}", d.serve)
	mux.HandleFunc("GET "+v3+"/sync", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
		reply(w, map[string]string{"next_batch": "s0"})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) })
	d.Server = httptest.NewServer(mux)
	t.Cleanup(func() { d.CloseClientConnections(); d.Close() })
	return d
}

func (d *fakeHomeserver) serve(w http.ResponseWriter, r *http.Request) {
	var content struct {
		Body string `json:"body"`
	}
	if err := json.NewDecoder(r.Body).Decode(&content); err != nil {
		refuse(w, http.StatusBadRequest, "M_NOT_JSON")
		return
	}
	txn := r.PathValue("room") + "/" + r.PathValue("txn")
	d.mu.Lock()
	d.texts[txn] = content.Body
	d.mu.Unlock()
	reply(w, map[string]string{"event_id": "$" + r.PathValue("txn")})
}

// sentCounts returns how often each text was sent. A repeated transaction counts once.
func (d *fakeHomeserver) sentCounts() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	times := map[string]int{}
	for text := range maps.Values(d.texts) {
		if strings.HasPrefix(text, "storm ") {
			times[text]++
		}
	}
	return times
}

// processGroup runs several processes of multis with one database.
type processGroup struct {
	t          testing.TB
	homeserver *fakeHomeserver
	dsn        string
	st         *store.Store
	server     *pgserver.Server
	dir        string
	config     string // further lines of the configuration
	procs      []*exec.Cmd
}

const processGroupConfig = `
homeserver: {address: %q, domain: x}
appservice: {port: %d, sender_localpart: as_multis_test, as_token: as-token, hs_token: hs-token}
owner: "@owner:x"
time_zone: UTC
database: {url: %q}
logging: {level: error}
safe_mode: {after_crashes: 0}
`

func newProcessGroup(t testing.TB, processes int) *processGroup {
	t.Helper()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "multis-herd") //nolint:usetesting // t.TempDir is closed to the user that Postgres runs as
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	h := &processGroup{t: t, homeserver: newFakeHomeserver(t), dir: dir}
	h.server, err = pgserver.Start(ctx, h.postgres())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.server.Stop()) })
	h.dsn, err = h.server.EnsureDatabase(ctx, "multis", "multis")
	require.NoError(t, err)
	require.NoError(t, migrations.Run(ctx, h.dsn))
	h.st, err = store.Open(ctx, h.dsn)
	require.NoError(t, err)
	t.Cleanup(h.st.Close)
	for range processes {
		h.procs = append(h.procs, nil)
	}
	for n := range h.procs {
		h.start(n)
	}
	t.Cleanup(func() {
		for n := range h.procs {
			h.kill(n)
		}
	})
	return h
}

func (h *processGroup) postgres() pgserver.Options {
	return pgserver.Options{Dir: h.dir + "/pg", Throwaway: true}
}

// restart restarts Postgres while the processes run.
func (h *processGroup) restart() {
	h.t.Helper()
	require.NoError(h.t, h.server.Stop())
	var err error
	h.server, err = pgserver.Start(context.Background(), h.postgres())
	require.NoError(h.t, err)
}

func (h *processGroup) start(n int) {
	h.t.Helper()
	file := filepath.Join(h.dir, fmt.Sprintf("%d.yaml", n))
	require.NoError(h.t, os.WriteFile(file, fmt.Appendf(nil, processGroupConfig+h.config, h.homeserver.URL, freePort(h.t), h.dsn), 0o600))
	cmd := exec.Command(os.Args[0], "--config", file, "run") // without a context, because the test kills it
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	require.NoError(h.t, cmd.Start())
	h.procs[n] = cmd
}

func (h *processGroup) kill(n int) {
	h.t.Helper()
	if cmd := h.procs[n]; cmd != nil {
		_ = cmd.Process.Kill() // it may have ended with the database
		_ = cmd.Wait()
		h.procs[n] = nil
	}
}

// chats creates n direct chats to which messages can be sent.
func (h *processGroup) chats(n int) []store.ChatID {
	h.t.Helper()
	var ids []store.ChatID
	require.NoError(h.t, h.st.InTx(h.t.Context(), func(tx store.Tx) error {
		ids = nil
		for i := range n {
			room := id.RoomID(fmt.Sprintf("!storm%d:x", i))
			c, err := store.UpsertChat(h.t.Context(), tx, store.Chat{
				Protocol:   "demo",
				ChannelID:  fmt.Sprint(i),
				RoomID:     &room,
				Kind:       policy.KindDM,
				Name:       fmt.Sprint("Storm ", i),
				BridgeBot:  "@bot:x",
				Encryption: policy.EncryptionNo,
			})
			if err != nil {
				return err
			}
			ids = append(ids, c.ID)
		}
		return nil
	}))
	return ids
}

// addSchedules creates n schedules that are due one after the other within d, and returns their texts.
func (h *processGroup) addSchedules(n int, chats []store.ChatID, d time.Duration) []string {
	h.t.Helper()
	ctx, begin := h.t.Context(), time.Now().Add(2*time.Second)
	var texts []string
	for batch := range slices.Chunk(slices.Collect(func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}), 500) {
		require.NoError(h.t, h.st.InTx(ctx, func(tx store.Tx) error {
			var ticks []jobs.Args
			for _, i := range batch {
				number, err := store.NextScheduleID(ctx, tx)
				if err != nil {
					return err
				}
				at := begin.Add(d * time.Duration(i) / time.Duration(n)).Truncate(time.Microsecond)
				s := store.Schedule{
					ID:        number,
					Kind:      "at",
					Zone:      "UTC",
					NextAt:    &at,
					Action:    store.ActionSay,
					Body:      fmt.Sprintf("storm %d", i),
					ChatID:    &chats[i%len(chats)],
					CatchUp:   store.CatchOnce,
					CreatedBy: testOwner,
					CreatedAt: time.Now(),
				}
				if err := store.InsertSchedule(ctx, tx, s); err != nil {
					return err
				}
				ticks = append(ticks, jobs.NextTick(number, at))
			}
			return jobs.Enqueue(ctx, tx, ticks...)
		}))
		for _, i := range batch {
			texts = append(texts, fmt.Sprintf("storm %d", i))
		}
	}
	return texts
}

// addDailySchedules creates n daily schedules that catch up on each of several missed times, one after the other.
func (h *processGroup) addDailySchedules(n, missed int, chats []store.ChatID) []string {
	h.t.Helper()
	ctx, texts := h.t.Context(), []string(nil)
	require.NoError(h.t, h.st.InTx(ctx, func(tx store.Tx) error {
		texts = nil
		for i := range n {
			number, err := store.NextScheduleID(ctx, tx)
			if err != nil {
				return err
			}
			first := time.Now().Add(-time.Duration(missed)*24*time.Hour + 12*time.Hour).Truncate(time.Second)
			s := store.Schedule{
				ID:        number,
				Kind:      "every",
				Spec:      "24h0m0s",
				Zone:      "UTC",
				NextAt:    &first,
				Action:    store.ActionSay,
				Body:      fmt.Sprintf("storm of day after day %d", i),
				ChatID:    &chats[i%len(chats)],
				CatchUp:   store.CatchAll,
				CreatedBy: testOwner,
				CreatedAt: time.Now(),
			}
			if err := store.InsertSchedule(ctx, tx, s); err != nil {
				return err
			}
			if err := jobs.Enqueue(ctx, tx, jobs.NextTick(number, first)); err != nil {
				return err
			}
			texts = append(texts, s.Body)
		}
		return nil
	}))
	return texts
}

func (h *processGroup) count(sql string, args ...any) (n int) {
	h.t.Helper()
	require.NoError(h.t, h.st.DB().QueryRow(h.t.Context(), sql, args...).Scan(&n))
	return n
}

// sent counts the sent messages of schedules. It returns 0 while the database cannot be reached.
func (h *processGroup) sent() (n int) {
	err := h.st.DB().QueryRow(h.t.Context(),
		"select count(*) from schedule_executions r join outbox o on o.id = r.outbox_id where o.state in ('sent', 'delivered')").Scan(&n)
	if err != nil {
		return 0
	}
	return n
}

// Three processes are killed over and over while schedules become due, and Postgres is restarted under them.
func TestSchedule_ComesOnceThroughKills(t *testing.T) { //nolint:paralleltest // it takes the whole machine
	h := newProcessGroup(t, 3)
	seed := rand.Uint64()
	t.Log("seed", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const dailies, days = 5, 8
	chats := h.chats(stormChats)
	texts, daily := h.addSchedules(stormSchedules, chats, stormTime), h.addDailySchedules(dailies, days, chats)
	all := len(texts) + dailies*days
	kills, restarts := 0, 0
	for end := time.Now().Add(stormTime); time.Now().Before(end); kills++ {
		time.Sleep(stormInterval) // the time between two kills
		if left := time.Until(end); restarts < stormRestarts &&
			left < stormTime*time.Duration(stormRestarts-restarts)/time.Duration(stormRestarts+1) {
			h.restart()
			restarts++
		}
		n := rng.IntN(len(h.procs))
		h.kill(n)
		h.start(n)
	}
	for n := range h.procs { // one may have ended with the database, and systemd would start it again
		h.kill(n)
		h.start(n)
	}
	require.Eventually(t, func() bool { return h.sent() >= all }, 5*time.Minute, 200*time.Millisecond, "every schedule to come")
	came := h.homeserver.sentCounts()
	for _, text := range texts {
		require.Equal(t, 1, came[text], "%s at the receiving end", text)
	}
	for _, text := range daily {
		require.Equal(t, days, came[text], "%s at the receiving end", text)
	}
	require.Len(t, came, len(texts)+dailies)
	require.Equal(t, all, h.count("select count(*) from schedule_executions where state = 'done' and outbox_id is not null"))
	require.Equal(t, all, h.count("select count(*) from outbox where purpose = $1", policy.PurposeOperator))
	require.Equal(t, dailies, h.count("select count(*) from schedules where created_by <> '' and next_at > now()"), "the daily ones go on")
	require.Equal(t, dailies, h.count("select count(*) from schedules where created_by <> '' and next_at is not null"))
	t.Logf("%d schedules and %d that come again, %d kills, %d restarts of Postgres; each time came once", len(texts), dailies, kills, restarts)
}
