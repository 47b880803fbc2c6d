package appservice

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// gapServer is a homeserver with portals of Ana's and two messages in each that a sync left out. It fails the messages of a room
// with status as long as that is not zero.
type gapServer struct {
	broken id.RoomID
	status atomic.Int64
}

func (g *gapServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	room := id.RoomID(strings.Split(strings.TrimPrefix(r.URL.Path, "/_matrix/client/v3/rooms/"), "/")[0])
	name := strings.Trim(room.String(), "!:x")
	switch {
	case strings.HasSuffix(r.URL.Path, "/state"):
		_, _ = w.Write([]byte(portalState(name)))
	case strings.HasSuffix(r.URL.Path, "/messages") && room == g.broken && g.status.Load() != 0:
		w.WriteHeader(int(g.status.Load()))
		_, _ = w.Write([]byte(`{"errcode":"M_UNKNOWN","error":"broken"}`))
	case strings.HasSuffix(r.URL.Path, "/messages"):
		n, end := 2, `,"end":"p2"`
		if r.URL.Query().Get("from") == "p2" {
			n, end = 1, ""
		}
		fmt.Fprintf(w,
			`{"chunk":[{"type":"m.room.message","event_id":"$%[1]s-gap%[2]d","sender":%[3]q,"origin_server_ts":1000,"content":{"msgtype":"m.text","body":"left out %[2]d"}}]%[4]s}`, name, n, ana, end)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"errcode":"M_NOT_FOUND","error":"gone"}`))
	}
}

// portalState is the state of a portal with Ana.
func portalState(channel string) string {
	return fmt.Sprintf(`[
		{"type":"m.room.create","state_key":"","sender":%[2]q,"content":{}},
		{"type":"m.bridge","state_key":"x","sender":%[2]q,"origin_server_ts":1,"content":{"bridgebot":%[2]q,"protocol":{"id":"demo"},"channel":{"id":%[1]q},"com.beeper.room_type":"dm"}},
		{"type":"m.room.power_levels","state_key":"","sender":%[2]q,"content":{"users":{%[2]q:100}}},
		{"type":"m.room.member","state_key":%[3]q,"sender":%[3]q,"content":{"membership":"join"}},
		{"type":"m.room.member","state_key":%[2]q,"sender":%[2]q,"content":{"membership":"join"}},
		{"type":"m.room.member","state_key":%[4]q,"sender":%[2]q,"content":{"membership":"join"}}]`, channel, bridgeBot, owner, ana)
}

func (b *fixture) gapRig(g *gapServer) (*OwnerSync, *Describer) {
	b.t.Helper()
	server := httptest.NewServer(g)
	b.t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(b.t, err)
	d := NewDescriber(b.inbox, hs)
	return NewOwnerSync(b.inbox, hs, d, NewVault(b.store, hs)), d
}

// limitedSync returns a sync response whose timelines leave events out.
func limitedSync(t *testing.T, rooms ...string) *syncResponse {
	t.Helper()
	joined := map[string]any{}
	for _, room := range rooms {
		joined["!"+room+":x"] = map[string]any{"timeline": map[string]any{"limited": true, "prev_batch": "p1", "events": []any{map[string]any{
			"type": "m.room.message", "event_id": "$" + room + "-window", "sender": ana, "origin_server_ts": 2000,
			"content": map[string]any{"msgtype": "m.text", "body": "newest"},
		}}}}
	}
	data, err := json.Marshal(map[string]any{"rooms": map[string]any{"join": joined}})
	require.NoError(t, err)
	var resp syncResponse
	require.NoError(t, unmarshal(data, &resp))
	return &resp
}

func TestGap_UnknownRoomIsDescribedFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s, d := b.gapRig(&gapServer{})
	require.NoError(t, s.storeResponse(t.Context(), limitedSync(t, "new"), "s1"))
	require.Equal(t, 1, b.count("pending_gaps"))
	require.Zero(t, b.count("messages"))
	require.NoError(t, d.Describe(t.Context(), "!new:x"))
	require.Equal(t, 2, b.count("messages where event_id in ('$new-gap1', '$new-gap2')"))
	require.Zero(t, b.count("pending_gaps"))
}

func TestGap_FailedRoomBlocksNoOther(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusInternalServerError} {
		b := setup(t)
		b.chat("!a:x", policy.ModeSilent)
		b.chat("!b:x", policy.ModeSilent)
		g := &gapServer{broken: "!a:x"}
		g.status.Store(int64(status))
		s, d := b.gapRig(g)
		require.NoError(t, s.storeResponse(t.Context(), limitedSync(t, "a", "b"), "s1"))
		require.Equal(t, 4, b.count("messages"), "both windows, and what was left out of the room that works")
		require.Equal(t, 1, b.jobs("describe"))
		require.Error(t, d.fillGaps(t.Context(), "!a:x"))
		g.status.Store(0)
		require.NoError(t, d.fillGaps(t.Context(), "!a:x"))
		require.Equal(t, 6, b.count("messages"))
		require.Zero(t, b.count("pending_gaps"))
	}
}
