package appservice

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
)

// stallRig is a watch beside a homeserver that answers as long as answers is true, on a clock that stands still.
type stallRig struct {
	*fixture
	watch   *StallWatch
	answers atomic.Bool
	clock   time.Time
}

func (b *fixture) stallRig() *stallRig {
	b.t.Helper()
	r := &stallRig{fixture: b, clock: time.Now()}
	r.answers.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !r.answers.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte(`{"versions":["v1.12"]}`))
	}))
	b.t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(b.t, err)
	b.inbox.now = func() time.Time { return r.clock }
	r.watch = NewStallWatch(b.inbox, hs)
	return r
}

// checkAndCount has the watch check the sources, and counts the notices of a topic.
func (r *stallRig) checkAndCount(topic string) int {
	r.t.Helper()
	require.NoError(r.t, r.watch.check(r.t.Context()))
	return r.count("river.river_job where kind = 'notice' and args->>'topic' = $1", topic)
}

func TestStall_NoticesBeginAndEnd(t *testing.T) {
	t.Parallel()
	r := setup(t).stallRig()
	r.inbox.sources.recordPush(r.clock, false)
	require.Zero(t, r.checkAndCount("push_stalled"))
	r.clock = r.clock.Add(stallTimeout + time.Second)
	r.answers.Store(false)
	require.Zero(t, r.checkAndCount("push_stalled"), "the homeserver is away")
	r.answers.Store(true)
	require.Equal(t, 1, r.checkAndCount("push_stalled"))
	r.inbox.sources.recordPush(r.clock, false)
	require.Equal(t, 1, r.checkAndCount("push_stalled"), "once for each time")
	r.clock = r.clock.Add(time.Minute)
	require.Zero(t, r.checkAndCount("push_resumed"))
	r.inbox.sources.recordPush(r.clock, true)
	require.Equal(t, 1, r.checkAndCount("push_resumed"))
	require.Zero(t, r.count("settings where key = 'push_stalled'"))
}

func TestStall_SyncRevealsMissingPush(t *testing.T) {
	t.Parallel()
	r := setup(t).stallRig()
	r.chat("!a:x", policy.ModeSilent)
	r.chat("!off:x", policy.ModeOff)
	sync := func(room id.RoomID) {
		evt := r.text(room, ana, "hi")
		require.NoError(t, r.inbox.detectMissedPush(t.Context(), []bridgebridge.Event{parseEvent(t, evt)}))
		r.receive(evt)
	}
	sync("!off:x")
	sync("!off:x")
	r.clock = r.clock.Add(stallTimeout + time.Second)
	require.Zero(t, r.checkAndCount("push_stalled"), "of a chat that is off nothing is known")
	sync("!a:x")
	r.clock = r.clock.Add(stallTimeout + time.Second)
	require.Zero(t, r.checkAndCount("push_stalled"), "one event is lost when the homeserver restarts")
	sync("!a:x")
	require.Equal(t, 1, r.checkAndCount("push_stalled"))
}

func TestStall_SyncIsNoticed(t *testing.T) {
	t.Parallel()
	r := setup(t).stallRig()
	s := &OwnerSync{inbox: r.inbox}
	require.Zero(t, r.checkAndCount("sync_stalled"), "another process syncs")
	require.NoError(t, s.recordSync(nil))
	r.clock = r.clock.Add(stallTimeout + time.Second)
	require.Error(t, s.recordSync(errors.New("failed")))
	require.Equal(t, 1, r.checkAndCount("sync_stalled"))
	require.NoError(t, s.recordSync(nil))
	require.Equal(t, 1, r.checkAndCount("sync_resumed"))
}

func TestStall_UnstoredTransactionCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.store.Close()
	body := `{"events":[{"type":"m.room.message","room_id":"!a:x","sender":"@demo_ana:example.com","event_id":"$1","origin_server_ts":1,"content":{"body":"hi"}}]}`
	require.Equal(t, http.StatusInternalServerError, putTransaction(t, NewServer(b.inbox, "right").Handler(), "right", body).Code)
	require.NotEmpty(t, b.inbox.sources.stalledSince(time.Now().Add(stallTimeout+time.Second), time.Time{}))
}
