package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// fakeHomeserver is a homeserver with rooms that the owner is in. It serves what a describer asks for.
type fakeHomeserver struct {
	*fixture
	d *Describer

	mu     sync.Mutex
	state  map[id.RoomID][]map[string]any
	events map[id.EventID]*event.Event
	clock  int64
}

func newFakeHomeserver(t *testing.T) *fakeHomeserver {
	t.Helper()
	h := &fakeHomeserver{
		fixture: setup(t),
		state:   map[id.RoomID][]map[string]any{},
		events:  map[id.EventID]*event.Event{},
		clock:   time.Now().Add(-time.Hour).UnixMilli(),
	}
	mux := http.NewServeMux()
	const rooms = "GET /_matrix/client/v3/rooms/{room}/"
	mux.HandleFunc(rooms+"state", func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		state, known := h.state[id.RoomID(r.PathValue("room"))]
		if !known {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"errcode":"M_FORBIDDEN","error":"not in the room"}`))
			return
		}
		_ = json.NewEncoder(w).Encode(state)
	})
	mux.HandleFunc(rooms+"event/{event}", func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		_ = json.NewEncoder(w).Encode(h.events[id.EventID(r.PathValue("event"))])
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(h.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	h.d = NewDescriber(h.inbox, hs)
	return h
}

// setState puts a state event into a room, sent a second after the one before.
func (h *fakeHomeserver) setState(room id.RoomID, kind, key string, sender id.UserID, content string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock += 1000
	h.state[room] = append(h.state[room], map[string]any{
		"type": kind, "state_key": key, "sender": sender, "event_id": fmt.Sprintf("$s%d", h.clock), "origin_server_ts": h.clock,
		"content": json.RawMessage(content),
	})
}

// addRoom makes a room of a bot's with the owner and Ana in it. create is the content of the create event.
func (h *fakeHomeserver) addRoom(room id.RoomID, by id.UserID, create string) {
	h.setState(room, "m.room.create", "", by, create)
	h.setState(room, "m.room.power_levels", "", by, fmt.Sprintf(`{"users":{%q:100}}`, by))
	for _, member := range []id.UserID{by, owner, ana} {
		h.setState(room, "m.room.member", member.String(), member, `{"membership":"join","displayname":"Ana"}`)
	}
	if by == bridgeBot { // the bridge that acts as the owner
		h.setState(room, "m.room.member", owner.String(), owner,
			`{"membership":"join","displayname":"Ana","fi.mau.double_puppet_source":"mautrix-demo"}`)
	}
}

// setBridgeClaim has a bot say that Ana's chat lives in a room.
func (h *fakeHomeserver) setBridgeClaim(room id.RoomID, by id.UserID) {
	h.setState(room, "m.bridge", "x", by,
		fmt.Sprintf(`{"bridgebot":%q,"protocol":{"id":"demo"},"channel":{"id":"ana","fi.mau.receiver":"me"},"com.beeper.room_type.v2":"dm"}`, by))
}

func (h *fakeHomeserver) replace(room, with id.RoomID, by id.UserID) {
	h.setState(room, "m.room.tombstone", "", by, fmt.Sprintf(`{"replacement_room":%q}`, with))
	evt, key := h.event("m.room.tombstone", room, by, fmt.Sprintf(`{"replacement_room":%q}`, with)), ""
	evt.StateKey = &key
	h.receive(evt)
}

// say puts a message into a room, for the push and the sync.
func (h *fakeHomeserver) say(room id.RoomID, sender id.UserID, body string) *event.Event {
	evt := h.text(room, sender, body)
	h.mu.Lock()
	h.events[evt.ID] = evt
	h.mu.Unlock()
	h.receive(evt)
	return evt
}

func (h *fakeHomeserver) describeRoom(room id.RoomID) {
	h.t.Helper()
	err := h.d.Describe(context.Background(), room)
	for jobs.IsSnooze(err) { // the lock of the look before is let go a moment later
		err = h.d.Describe(context.Background(), room)
	}
	require.NoError(h.t, err)
}

// anasChat is Ana's chat.
func (h *fakeHomeserver) anasChat() store.Chat {
	h.t.Helper()
	chat, err := store.ChatByChannel(context.Background(), h.store.DB(), "demo", "ana", "me")
	require.NoError(h.t, err)
	return chat
}

func (h *fakeHomeserver) business() {
	h.t.Helper()
	require.NoError(h.t, h.store.InTx(context.Background(), func(tx store.Tx) error {
		return store.SetMode(context.Background(), tx, h.anasChat().ID, policy.ModeBusiness)
	}))
}

const upgradedCreateContent = `{"room_version":"12","predecessor":{"room_id":"!old:x"}}`

// newRoom returns an id as rooms have it since version 12: without a server.
const newRoom = id.RoomID("!Nh3kK_vfN1mA1TeErcVFmxv0bAHoN5aGxhzy-nXaTcs")

func TestSuccession_UpgradeKeepsChat(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	h.business()
	chat := h.anasChat()
	h.say("!old:x", ana, "before the upgrade?")

	h.addRoom(newRoom, owner, upgradedCreateContent) // whoever upgrades a room makes the new one; its bridge comes a moment later
	h.setState(newRoom, "m.room.member", bridgeBot.String(), bridgeBot, `{"membership":"join"}`)
	h.setState(newRoom, "m.room.power_levels", "", owner, fmt.Sprintf(`{"users":{%q:100}}`, bridgeBot))
	h.replace("!old:x", newRoom, owner)
	require.False(t, h.anasChat().HasRoom())
	between := h.say(newRoom, ana, "in the new room before the bridge said so?")
	h.describeRoom(newRoom)
	require.Equal(t, 1, h.count("pending_events"), "it waits")
	require.False(t, h.anasChat().HasRoom(), "that rooms name each other makes no portal")

	h.setBridgeClaim(newRoom, bridgeBot)
	h.describeRoom(newRoom)
	now := h.anasChat()
	require.Equal(t, chat.ID, now.ID)
	require.Equal(t, newRoom, *now.RoomID)
	require.True(t, now.HasRoom())
	require.Equal(t, policy.ModeBusiness, *now.Mode)
	require.Equal(t, policy.ActionAnswer, h.message(between).Action)

	late := h.text("!old:x", ana, "said before, heard late?")
	late.Timestamp = now.MovedAt.Add(-time.Second).UnixMilli()
	after := h.text("!old:x", ana, "said in a room that is no more")
	after.Timestamp = now.MovedAt.Add(time.Minute).UnixMilli()
	h.receive(late, after)
	require.Equal(t, chat.ID, h.message(late).ChatID)
	require.Zero(t, h.count("messages where event_id = $1", after.ID))
	require.Zero(t, h.count("pending_events"))
	h.describeRoom("!old:x")
	require.True(t, h.anasChat().IsIn(newRoom), "the old room takes nothing back")
}

func TestSuccession_MessagesWaitForTombstone(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]time.Duration{"made a moment ago": time.Second, "made long before": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFakeHomeserver(t)
			h.addRoom("!old:x", bridgeBot, `{}`)
			h.setBridgeClaim("!old:x", bridgeBot)
			h.describeRoom("!old:x")
			h.business()

			h.clock = time.Now().Add(-age).UnixMilli()
			h.addRoom(newRoom, owner, upgradedCreateContent)
			h.setState(newRoom, "m.room.member", bridgeBot.String(), bridgeBot, `{"membership":"join"}`)
			h.setState(newRoom, "m.room.power_levels", "", owner, fmt.Sprintf(`{"users":{%q:100}}`, bridgeBot))
			h.describeRoom(newRoom)
			early := h.say(newRoom, ana, "are you here?")
			h.replace("!old:x", newRoom, owner)
			h.describeRoom(newRoom)
			between := h.say(newRoom, ana, "and now?")
			h.setBridgeClaim(newRoom, bridgeBot)
			h.describeRoom(newRoom)
			require.True(t, h.anasChat().IsIn(newRoom))
			require.Equal(t, policy.ActionAnswer, h.message(between).Action)
			if age < successionTimeout { // else it is nobody's room until the old one says otherwise
				require.Equal(t, policy.ActionAnswer, h.message(early).Action)
			}
		})
	}
}

func TestSuccession_NewPortalKeepsChat(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	h.business()
	chat := h.anasChat()
	h.addRoom("!anew:x", bridgeBot, `{}`)
	h.setBridgeClaim("!anew:x", bridgeBot)
	question := h.say("!anew:x", ana, "are you still there?")
	h.describeRoom("!anew:x")
	require.Equal(t, chat.ID, h.message(question).ChatID)
	require.Equal(t, policy.ActionAnswer, h.message(question).Action)
	h.describeRoom("!old:x")
	require.True(t, h.anasChat().IsIn("!anew:x"), "of two rooms, the one that the bridge named last")
}

func TestPortal_NeedsBridgeBot(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	h.setState("!old:x", "m.room.member", bridgeBot.String(), bridgeBot, `{"membership":"leave"}`)
	h.describeRoom("!old:x")
	require.False(t, h.anasChat().HasRoom())
}

func TestMembership_KickLeaveRejoin(t *testing.T) {
	t.Parallel()
	for how, content := range map[string]string{
		"left": `{"membership":"leave"}`, "kicked": `{"membership":"leave","reason":"out"}`,
		"banned": `{"membership":"ban"}`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			h := newFakeHomeserver(t)
			h.addRoom("!old:x", bridgeBot, `{}`)
			h.setBridgeClaim("!old:x", bridgeBot)
			h.describeRoom("!old:x")
			h.business()
			member := func(content string) {
				evt, key := h.event("m.room.member", "!old:x", bridgeBot, content), owner.String()
				evt.StateKey = &key
				before := h.jobs("describe")
				h.receive(evt)
				require.Equal(t, before+1, h.jobs("describe"), "it is looked at")
				h.setState("!old:x", "m.room.member", owner.String(), bridgeBot, content)
				h.describeRoom("!old:x")
			}
			member(content)
			require.False(t, h.anasChat().HasRoom())
			member(`{"membership":"join"}`)
			require.True(t, h.anasChat().HasRoom())
			require.Equal(t, policy.ModeBusiness, *h.anasChat().Mode)
			require.Equal(t, policy.ActionAnswer, h.message(h.say("!old:x", ana, "welcome back, are you there?")).Action)
		})
	}
}

func TestSuccession_LookalikeNeedsOwner(t *testing.T) {
	t.Parallel()
	const newBot = id.UserID("@demobot2:example.com")
	h := newFakeHomeserver(t)
	ctx := context.Background()
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	h.business()
	h.say("!old:x", ana, "hello, who is there?")

	// It names the old room, and even a tombstone there names it: but that one is not the bridge bot's.
	h.addRoom("!alike:x", newBot, `{"predecessor":{"room_id":"!old:x"}}`)
	h.setBridgeClaim("!alike:x", newBot)
	h.setState("!old:x", "m.room.tombstone", "", "@eve:example.com", `{"replacement_room":"!alike:x"}`)
	lie := h.say("!alike:x", ana, "send me all you know")
	h.describeRoom("!alike:x")
	h.describeRoom("!alike:x")
	require.True(t, h.anasChat().IsIn("!old:x"))
	require.Zero(t, h.count("messages where event_id = $1", lie.ID))
	require.Zero(t, h.count("pending_events"))
	require.Equal(t, 1, h.count("river.river_job where kind = 'notice' and args->>'topic' = 'bridge_replaced'"), "the owner is asked once")

	changes, err := store.UnacceptedBridgeChanges(ctx, h.store.DB())
	require.NoError(t, err)
	require.Len(t, changes, 1)
	require.Equal(t, newBot, changes[0].NewBot)
	require.NoError(t, h.store.InTx(ctx, func(tx store.Tx) error { return store.DecideBridgeChange(ctx, tx, changes[0].ID, true) }))
	h.describeRoom("!alike:x")
	now := h.anasChat()
	require.True(t, now.IsIn("!alike:x"))
	require.Equal(t, newBot, now.BridgeBot)
	require.Equal(t, policy.ModeBusiness, *now.Mode)
	require.Equal(t, 1, h.count("river.river_job where kind = 'history' and args->>'no_notice' = 'true'"), "what was said meanwhile is read")

	h.setState("!old:x", "m.room.tombstone", "", bridgeBot, `{}`)
	h.describeRoom("!old:x")
	require.True(t, h.anasChat().IsIn("!alike:x"))
	require.Equal(t, 1, h.count("bridge_changes"), "that the old bot still claims it is no news")
}

func TestSuccession_HandoverNeedsNoApproval(t *testing.T) {
	t.Parallel()
	const newBot = id.UserID("@demobot2:example.com")
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	h.addRoom(newRoom, newBot, upgradedCreateContent)
	h.setBridgeClaim(newRoom, newBot)
	h.replace("!old:x", newRoom, bridgeBot)
	h.describeRoom(newRoom)
	require.True(t, h.anasChat().IsIn(newRoom))
	require.Equal(t, newBot, h.anasChat().BridgeBot)
	require.Zero(t, h.count("bridge_changes"))
}

func TestSuccession_BoundsClaims(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	for i := range 30 {
		room, stranger := id.RoomID(fmt.Sprintf("!fake%d:x", i)), id.UserID(fmt.Sprintf("@eve%d:example.com", i))
		h.addRoom(room, stranger, `{}`)
		h.setBridgeClaim(room, stranger)
		h.describeRoom(room)
	}
	require.Equal(t, 10, h.jobs("notice"))
	require.True(t, h.anasChat().IsIn("!old:x"))
}

func TestDecrypt_UsesRoomOfMessage(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	sealed := h.event("m.room.encrypted", "!old:x", ana, `{"algorithm":"m.megolm.v1.aes-sha2","session_id":"s","ciphertext":"abc"}`)
	h.receive(sealed)
	h.addRoom("!anew:x", bridgeBot, `{}`)
	h.setBridgeClaim("!anew:x", bridgeBot)
	h.describeRoom("!anew:x")
	parked := h.message(sealed)
	require.Equal(t, id.RoomID("!old:x"), parked.ParkedIn)
	plain := h.text("!old:x", ana, "hello")
	plain.ID = sealed.ID
	require.NoError(t, NewDecrypter(h.inbox, nil).storeDecrypted(context.Background(), parked, parseEvent(t, plain)))
	require.Equal(t, "hello", h.message(sealed).Body)
	require.Equal(t, h.anasChat().ID, h.message(sealed).ChatID)
}

func TestSpace_IsNoChat(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!space:x", bridgeBot, `{"type":"m.space"}`)
	h.setState("!space:x", "m.bridge", "x", bridgeBot,
		fmt.Sprintf(`{"bridgebot":%q,"protocol":{"id":"demo"},"channel":{"id":"__personal_filtering_space__"},"com.beeper.room_type.v2":"personal_filtering_space"}`, bridgeBot))
	h.say("!space:x", ana, "hello?")
	h.describeRoom("!space:x")
	require.Zero(t, h.count("chats")+h.count("messages")+h.count("pending_events"))
	require.True(t, h.inbox.ignored.has("!space:x"))
}

func TestSpace_RoutesChat(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.inbox.settings.Spaces = []id.RoomID{"!work:x"}
	inSpaces := func() []id.RoomID { return h.anasChat().Spaces }
	put := func(space, room id.RoomID, content string) {
		h.setState(space, "m.space.child", room.String(), owner, content)
		evt, key := h.event("m.space.child", space, owner, content), room.String()
		evt.StateKey = &key
		h.receive(evt)
	}
	h.addRoom("!work:x", owner, `{"type":"m.space"}`)
	h.addRoom("!other:x", owner, `{"type":"m.space"}`)
	put("!work:x", "!dm:x", `{"via":["x"]}`)
	put("!other:x", "!dm:x", `{"via":["x"]}`)
	h.describeRoom("!work:x")
	h.describeRoom("!other:x")
	require.Zero(t, h.count("chats")+h.count("pending_events"), "of a space nothing is kept but on the chats in it")
	h.addRoom("!dm:x", bridgeBot, `{}`)
	h.setBridgeClaim("!dm:x", bridgeBot)
	asked := h.jobs("describe")
	h.describeRoom("!dm:x")
	require.Equal(t, asked+1, h.jobs("describe"), "a chat that is new has the space looked at")
	h.describeRoom("!work:x")
	require.Equal(t, []id.RoomID{"!work:x"}, inSpaces(), "other spaces do not count")
	h.describeRoom("!dm:x")
	require.Equal(t, []id.RoomID{"!work:x"}, inSpaces(), "another look at the chat keeps it")
	require.Equal(t, asked+1, h.jobs("describe"))

	put("!work:x", "!dm:x", `{}`)
	require.Equal(t, asked+2, h.jobs("describe"), "what happens in the space has it looked at")
	h.describeRoom("!work:x")
	require.Empty(t, inSpaces())

	put("!work:x", "!dm:x", `{"via":["x"]}`)
	h.describeRoom("!work:x")
	require.Len(t, inSpaces(), 1)
	delete(h.state, "!work:x")
	h.describeRoom("!work:x")
	require.Empty(t, inSpaces(), "the owner left the space")
}

func TestChat_EqualNamesStayApart(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	for _, network := range []string{"demo", "signal"} {
		room := id.RoomID("!" + network + ":x")
		h.addRoom(room, bridgeBot, `{}`)
		h.setState(room, "m.bridge", "x", bridgeBot,
			fmt.Sprintf(`{"bridgebot":%q,"protocol":{"id":%q},"channel":{"id":"ana","fi.mau.receiver":"me"},"com.beeper.room_type.v2":"dm"}`,
				bridgeBot, network))
		h.describeRoom(room)
	}
	require.Equal(t, 2, h.count("chats where name = 'Ana'"))
	h.setState("!demo:x", "m.room.name", "", bridgeBot, `{"name":"Ana Müller"}`)
	h.describeRoom("!demo:x")
	require.Equal(t, "Ana Müller", h.anasChat().Name, "a contact who is renamed keeps the chat")
	require.Equal(t, 1, h.count("chats where name = 'Ana'"))
}

func TestSuccession_TombstoneDescribesNewRoom(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	h.replace("!old:x", newRoom, bridgeBot)
	var args jobs.DescribeArgs
	var raw []byte
	require.NoError(t, h.store.DB().QueryRow(context.Background(),
		"select args from river.river_job where kind = 'describe' order by id desc limit 1").Scan(&raw))
	require.NoError(t, json.Unmarshal(raw, &args))
	require.Equal(t, newRoom, args.RoomID)
	h.describeRoom(newRoom) // the owner is not there yet
	require.False(t, h.anasChat().HasRoom())
}
