package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// homeserver is a fake Matrix homeserver with the endpoints that multis uses: rooms with state and a timeline, a stream
// of all events, and sends that are deduplicated by transaction id.
type homeserver struct {
	URL string

	mu     sync.Mutex
	rooms  map[id.RoomID]*hsRoom
	stream []*event.Event
	grown  chan struct{} // closed and replaced when the stream grows
	puts   []put
	taken  map[string]id.EventID // accepted sends, by room and transaction id
	odd    []string              // unexpected requests
	// allowed reports whether a send is allowed when it arrives. It is called with mu held.
	allowed func(put) bool
	// fail decides how a send fails: not at all, with an error before it is accepted, or with a broken connection after.
	fail func() failure
	// down makes every send fail.
	down bool
}

// hsRoom is a room of the fake homeserver. Members are the joined users.
type hsRoom struct {
	ID      id.RoomID
	State   []*event.Event
	Members map[id.UserID]bool
}

// put is a send that the homeserver received.
type put struct {
	Room   id.RoomID
	Sender id.UserID
	Txn    string
	Event  *event.Event
	// Allowed is the result of homeserver.allowed.
	Allowed bool
}

type failure int

const (
	noFailure failure = iota
	refused           // 500, nothing was taken
	brokenOff         // accepted, but the response is lost
)

func openHomeserver(t *testing.T) *homeserver {
	t.Helper()
	hs := &homeserver{rooms: map[id.RoomID]*hsRoom{}, grown: make(chan struct{}), taken: map[string]id.EventID{}}
	mux := http.NewServeMux()
	const v3 = "/_matrix/client/v3"
	mux.HandleFunc("POST "+v3+"/register", func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) })
	mux.HandleFunc("GET "+v3+"/account/whoami", func(w http.ResponseWriter, r *http.Request) {
		reply(w, map[string]id.UserID{"user_id": userOf(r)})
	})
	mux.HandleFunc("PUT "+v3+"/devices/{device}", func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) })
	// This homeserver hides profiles. multis must start nevertheless.
	mux.HandleFunc("GET "+v3+"/profile/{user}/displayname", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"errcode": "M_FORBIDDEN", "error": "not yours"}`, http.StatusForbidden)
	})
	mux.HandleFunc("PUT "+v3+"/profile/{user}/displayname", func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) })
	mux.HandleFunc("POST /_matrix/client/v1/appservice/{id}/ping", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]int{"duration_ms": 1})
	})
	for _, keys := range []string{"POST " + v3 + "/keys/", "PUT " + v3 + "/sendToDevice/", "PUT " + v3 + "/user/"} {
		mux.HandleFunc(keys, func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) }) // nobody else has devices here
	}
	mux.HandleFunc("GET "+v3+"/user/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "M_NOT_FOUND") })
	mux.HandleFunc("GET "+v3+"/joined_rooms", hs.joinedRooms)
	mux.HandleFunc("POST "+v3+"/createRoom", hs.createRoom)
	mux.HandleFunc("POST "+v3+"/rooms/{room}/invite", func(w http.ResponseWriter, _ *http.Request) { reply(w, struct{}{}) })
	mux.HandleFunc("GET "+v3+"/rooms/{room}/state", hs.state)
	mux.HandleFunc("GET "+v3+"/rooms/{room}/state/{type}/{$}", hs.stateEvent)
	mux.HandleFunc("GET "+v3+"/rooms/{room}/state/{type}/{key}", hs.stateEvent)
	mux.HandleFunc("PUT "+v3+"/rooms/{room}/state/org.matrix.msc4391.command_description/{key}", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]string{"event_id": "$described"})
	})
	mux.HandleFunc("GET "+v3+"/rooms/{room}/event/{event}", hs.event)
	mux.HandleFunc("GET "+v3+"/rooms/{room}/messages", hs.messages)
	mux.HandleFunc("PUT "+v3+"/rooms/{room}/send/{type}/{txn}", hs.send)
	mux.HandleFunc("GET "+v3+"/sync", hs.sync)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		hs.mu.Lock()
		defer hs.mu.Unlock()
		hs.odd = append(hs.odd, r.Method+" "+r.URL.Path)
		refuse(w, http.StatusNotFound, "M_UNRECOGNIZED")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	hs.URL = server.URL
	return hs
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // it fails if the client has disconnected
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	reply(w, map[string]string{"errcode": code, "error": code})
}

func userOf(r *http.Request) id.UserID { return id.UserID(r.URL.Query().Get("user_id")) }

// add adds a room.
func (hs *homeserver) add(room *hsRoom) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.rooms[room.ID] = room
}

// appendEvent gives an event an id and appends it to its room and the stream.
func (hs *homeserver) appendEvent(evt *event.Event) *event.Event {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return hs.append(evt)
}

func (hs *homeserver) append(evt *event.Event) *event.Event {
	evt.ID = id.EventID(fmt.Sprintf("$e%d", len(hs.stream)))
	hs.stream = append(hs.stream, evt)
	if room := hs.rooms[evt.RoomID]; evt.StateKey != nil {
		room.State = append(room.State, evt)
	}
	close(hs.grown)
	hs.grown = make(chan struct{})
	return evt
}

// refuseAll makes every send fail, or stops that.
func (hs *homeserver) refuseAll(on bool) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.down = on
}

func (hs *homeserver) joinedRooms(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	joined := []id.RoomID{}
	for _, room := range hs.rooms {
		if room.Members[userOf(r)] {
			joined = append(joined, room.ID)
		}
	}
	reply(w, map[string][]id.RoomID{"joined_rooms": joined})
}

func (hs *homeserver) createRoom(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	room := &hsRoom{ID: id.RoomID(fmt.Sprintf("!made%d:x", len(hs.rooms))), Members: map[id.UserID]bool{userOf(r): true, testOwner: true}}
	room.State = []*event.Event{
		stateEvent(room.ID, userOf(r), event.StateCreate, "", &event.CreateEventContent{}),
		stateEvent(room.ID, userOf(r), event.StateMember, string(userOf(r)), &event.MemberEventContent{Membership: event.MembershipJoin}),
		stateEvent(room.ID, testOwner, event.StateMember, string(testOwner), &event.MemberEventContent{Membership: event.MembershipJoin}),
	}
	hs.rooms[room.ID] = room
	reply(w, map[string]id.RoomID{"room_id": room.ID})
}

// room returns the room of a request. If the user of the request is not in it, it writes an error and returns nil.
func (hs *homeserver) room(w http.ResponseWriter, r *http.Request) (*hsRoom, bool) {
	room := hs.rooms[id.RoomID(r.PathValue("room"))]
	if room == nil || !room.Members[userOf(r)] {
		refuse(w, http.StatusForbidden, "M_FORBIDDEN")
		return nil, false
	}
	return room, true
}

func (hs *homeserver) state(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if room, ok := hs.room(w, r); ok {
		reply(w, room.State)
	}
}

func (hs *homeserver) stateEvent(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	room, ok := hs.room(w, r)
	if !ok {
		return
	}
	for _, evt := range slices.Backward(room.State) {
		if evt.Type.Type == r.PathValue("type") && *evt.StateKey == r.PathValue("key") {
			reply(w, &evt.Content)
			return
		}
	}
	refuse(w, http.StatusNotFound, "M_NOT_FOUND")
}

func (hs *homeserver) event(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	room, ok := hs.room(w, r)
	if !ok {
		return
	}
	for _, evt := range hs.stream {
		if evt.RoomID == room.ID && string(evt.ID) == r.PathValue("event") {
			reply(w, evt)
			return
		}
	}
	refuse(w, http.StatusNotFound, "M_NOT_FOUND")
}

// parseSyncToken parses a sync token, which is the number of events before a place in the stream.
func parseSyncToken(token string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(token, "s"))
	return n
}

func syncToken(n int) string { return fmt.Sprintf("s%d", n) }

// messages serves the messages of a room between two positions, the newest first.
func (hs *homeserver) messages(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	room, ok := hs.room(w, r)
	if !ok {
		return
	}
	query := r.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	page := struct {
		Chunk []*event.Event `json:"chunk"`
		End   string         `json:"end,omitempty"`
	}{Chunk: []*event.Event{}}
	for i := parseSyncToken(query.Get("from")) - 1; i >= parseSyncToken(query.Get("to")); i-- {
		if len(page.Chunk) == limit {
			page.End = syncToken(i + 1)
			break
		}
		if hs.stream[i].RoomID == room.ID {
			page.Chunk = append(page.Chunk, hs.stream[i])
		}
	}
	reply(w, page)
}

// send accepts an event once per transaction id.
func (hs *homeserver) send(w http.ResponseWriter, r *http.Request) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	room, ok := hs.room(w, r)
	if !ok {
		return
	}
	sent := &event.Event{
		Type: event.Type{Type: r.PathValue("type"), Class: event.MessageEventType}, RoomID: room.ID, Sender: userOf(r),
		Timestamp: time.Now().UnixMilli(),
	}
	if err := json.NewDecoder(r.Body).Decode(&sent.Content); err != nil {
		refuse(w, http.StatusBadRequest, "M_NOT_JSON")
		return
	}
	p := put{Room: room.ID, Sender: sent.Sender, Txn: r.PathValue("txn"), Event: sent}
	p.Allowed = hs.allowed(p)
	hs.puts = append(hs.puts, p)
	failure := hs.fail()
	if failure == refused || hs.down {
		refuse(w, http.StatusInternalServerError, "M_UNKNOWN")
		return
	}
	key := string(room.ID) + " " + r.PathValue("txn")
	if hs.taken[key] == "" {
		hs.taken[key] = hs.append(sent).ID
	}
	if failure == brokenOff {
		panic(http.ErrAbortHandler) // the way to drop a connection
	}
	reply(w, map[string]id.EventID{"event_id": hs.taken[key]})
}

// timelineSize is the maximum number of events of a room in a sync response. Earlier ones are a gap that the client must fetch.
const timelineSize = 5

// sync serves /sync: it waits for events after a position and returns those of the user's rooms.
func (hs *homeserver) sync(w http.ResponseWriter, r *http.Request) {
	since, wait := parseSyncToken(r.URL.Query().Get("since")), time.Duration(0)
	if ms, err := strconv.Atoi(r.URL.Query().Get("timeout")); err == nil {
		wait = time.Duration(ms) * time.Millisecond
	}
	for end := time.After(wait); ; {
		hs.mu.Lock()
		grown, size := hs.grown, len(hs.stream)
		hs.mu.Unlock()
		if size > since || r.URL.Query().Get("since") == "" {
			break
		}
		select {
		case <-grown:
			continue
		case <-end:
		case <-r.Context().Done():
		}
		break
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	reply(w, hs.poll(userOf(r), since, r.URL.Query().Get("since") == ""))
}

type pollAnswer struct {
	Next  string `json:"next_batch"`
	Rooms struct {
		Join map[id.RoomID]pollRoom `json:"join"`
	} `json:"rooms"`
}

type pollRoom struct {
	Timeline struct {
		Events  []*event.Event `json:"events"`
		Limited bool           `json:"limited"`
		Before  string         `json:"prev_batch"`
	} `json:"timeline"`
}

func (hs *homeserver) poll(user id.UserID, since int, first bool) pollAnswer {
	answer := pollAnswer{Next: syncToken(len(hs.stream))}
	answer.Rooms.Join = map[id.RoomID]pollRoom{}
	for i := len(hs.stream) - 1; i >= since && !first; i-- {
		evt := hs.stream[i]
		room := answer.Rooms.Join[evt.RoomID]
		switch {
		case !hs.rooms[evt.RoomID].Members[user]:
			continue
		case len(room.Timeline.Events) == timelineSize:
			room.Timeline.Limited = true
		default:
			room.Timeline.Events = slices.Insert(room.Timeline.Events, 0, evt)
			room.Timeline.Before = syncToken(i)
		}
		answer.Rooms.Join[evt.RoomID] = room
	}
	return answer
}

func stateEvent(room id.RoomID, sender id.UserID, kind event.Type, key string, content any) *event.Event {
	kind.Class = event.StateEventType
	return &event.Event{
		ID:        id.EventID("$" + kind.Type + key + room.String()),
		Type:      kind,
		RoomID:    room,
		Sender:    sender,
		StateKey:  &key,
		Timestamp: time.Now().UnixMilli(),
		Content:   event.Content{Parsed: content},
	}
}
