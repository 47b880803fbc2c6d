package main

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// testRoom is a room of the random run, with its properties.
type testRoom struct {
	*hsRoom
	kind       string // a kind of room below
	encryption string // no, yes, unknown
	mode       policy.Mode
	contact    id.UserID
}

// The kinds of rooms.
const (
	roomDM        = "dm"
	roomGroup     = "group"
	roomSpace     = "space"
	roomBroadcast = "broadcast"
	roomUnbridged = "unbridged"
	roomForged    = "forged" // its bridge state event is not from the bridge bot
)

// isChat reports whether the room is a bridged chat with people.
func (room *testRoom) isChat() bool { return room.kind == roomDM || room.kind == roomGroup }

// mayReceive reports whether anything may be sent to the room in its current state.
func (room *testRoom) mayReceive() bool {
	return room.isChat() && room.encryption != "unknown" && (room.mode == policy.ModeBusiness || room.mode == policy.ModePersonal)
}

// isStored reports whether messages in the room are stored.
func (room *testRoom) isStored() bool { return room.isChat() && room.mode != policy.ModeOff }

// makeRooms creates rooms of every kind and encryption, which multis has not seen yet.
func (r *run) makeRooms() {
	n := 0
	for _, kind := range []string{roomDM, roomDM, roomDM, roomGroup, roomGroup, roomSpace, roomBroadcast, roomUnbridged, roomForged} {
		for _, encryption := range []string{"no", "no", "yes", "unknown"} {
			n++
			room := &testRoom{
				hsRoom: &hsRoom{ID: id.RoomID(fmt.Sprintf("!room%d:x", n))}, kind: kind, encryption: encryption,
				contact: id.UserID(fmt.Sprintf("@demo_c%d:x", n)),
			}
			room.Members = map[id.UserID]bool{testOwner: true, testBridgeBot: true, room.contact: true, testStranger: true, testOperator: true}
			room.State = room.initialState(n)
			if room.mode = policy.ModeSilent; kind == roomDM {
				room.mode = policy.ModeBusiness // as the business profile has it
			}
			r.rooms = append(r.rooms, room)
			r.hs.add(room.hsRoom)
		}
	}
}

func (room *testRoom) initialState(n int) []*event.Event {
	bridge := &event.BridgeEventContent{
		BridgeBot: testBridgeBot, Protocol: event.BridgeInfoSection{ID: "demonet"},
		Channel:          event.BridgeInfoSection{ID: fmt.Sprintf("c%d", n), Receiver: "phone"},
		BeeperRoomTypeV2: "dm",
	}
	claimed := testBridgeBot
	create := &event.CreateEventContent{}
	switch room.kind {
	case roomGroup:
		bridge.BeeperRoomTypeV2 = "group_dm"
	case roomSpace:
		create.Type, bridge.BeeperRoomTypeV2 = event.RoomTypeSpace, "space"
	case roomBroadcast:
		bridge.BeeperRoomTypeV2, bridge.Channel.ID = "default", fmt.Sprintf("status%d@broadcast", n)
	case roomForged:
		claimed = testStranger
	}
	if room.kind == roomSpace && room.encryption == "unknown" {
		bridge.Channel.ID = "__personal_filtering_space__"
	}
	state := []*event.Event{
		stateEvent(room.ID, testBridgeBot, event.StatePowerLevels, "",
			&event.PowerLevelsEventContent{Users: map[id.UserID]int{testBridgeBot: 100}}),
	}
	if room.encryption != "unknown" {
		state = append(state, stateEvent(room.ID, testBridgeBot, event.StateCreate, "", create))
	}
	if room.encryption == "yes" {
		state = append(state, stateEvent(room.ID, testBridgeBot, event.StateEncryption, "",
			&event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}))
	}
	if room.kind != roomUnbridged {
		state = append(state, stateEvent(room.ID, claimed, event.StateBridge, "x/demonet", bridge))
	}
	for member := range room.Members {
		join := stateEvent(room.ID, member, event.StateMember, string(member),
			&event.MemberEventContent{Membership: event.MembershipJoin, Displayname: "owner"})
		if member == testOwner { // the bridge makes the owner join, so the room needs no confirmation
			join.Content.Raw = map[string]any{"fi.mau.double_puppet_source": "mautrix-demonet"}
		}
		state = append(state, join)
	}
	return state
}

// deliverRandomMessages writes messages in random rooms. Each is delivered by push, by sync, or by both, once or twice.
func (r *run) deliverRandomMessages() {
	r.t.Helper()
	var batch []*event.Event
	for range eventsPerRound {
		room := r.rooms[r.rand.IntN(len(r.rooms))]
		if r.rand.IntN(3) == 0 {
			room = r.rooms[r.rand.IntN(12)] // contacts write more than the rest
		}
		evt := r.hs.appendEvent(r.message(room))
		r.stored[evt.ID] = room.isStored() && evt.Sender != testBridgeBot
		r.texts[evt.ID] = room.String() + " " + string(evt.Sender)
		for range r.rand.IntN(3) {
			batch = append(batch, evt)
		}
		if r.rand.IntN(8) == 0 {
			require.True(r.t, r.pushTransaction(batch))
			batch = nil
			r.changeModeDuringRetry()
		}
	}
	require.True(r.t, r.pushTransaction(batch))
}

// message returns a message of a random member of a room.
func (r *run) message(room *testRoom) *event.Event {
	texts := []string{
		"What does a consultation cost?", "Nora, what does a consultation cost?", "Hello!", "I want a refund", "ok", "Where is the moon?",
		"!wa logout", "🙂",
	}
	said := &event.MessageEventContent{MsgType: event.MsgText, Body: texts[r.rand.IntN(len(texts))]}
	content := event.Content{Parsed: said}
	evt := &event.Event{Type: event.EventMessage, RoomID: room.ID, Sender: room.contact, Timestamp: time.Now().UnixMilli()}
	switch r.rand.IntN(16) {
	case 0:
		evt.Sender = testOwner
	case 1:
		evt.Sender = testOwner
		content.Raw = map[string]any{"fi.mau.double_puppet_source": "mautrix-demonet"}
	case 2:
		evt.Sender = testStranger
	case 3:
		evt.Sender = testOperator
	case 4:
		evt.Sender = testBridgeBot
	case 5:
		said.MsgType = event.MsgNotice
	case 6:
		content.Raw = map[string]any{"ai.multis.out": "01a1fb9a-8d51-74e9-ac63-57cab2799c6c", "fi.mau.double_puppet_source": "mautrix-demonet"}
	}
	if r.rand.IntN(4) == 0 {
		evt.Timestamp -= (11*time.Minute + time.Duration(r.rand.IntN(1000))*time.Hour).Milliseconds()
	}
	evt.Content = content
	return evt
}

const (
	underWaySQL = `select coalesce((select c.id from chats c join outbox o on o.chat_id = c.id where o.state = 'queued' and o.send_as = 'owner' order by random() limit 1), 0)`
	sendingSQL  = `select count(*) from river.river_job j join outbox o on o.id::text = j.args->>'outbox' where j.kind = 'send' and j.state = 'running' and o.chat_id = $1`
	holdSQL     = "with held as (select from chats where id = $1 for update) select count(*) from held"
)

// changeModeDuringRetry changes the mode of a chat while an answer may wait for its next attempt.
func (r *run) changeModeDuringRetry() {
	r.t.Helper()
	if chat := store.ChatID(r.count(underWaySQL)); chat != 0 {
		modes := []policy.Mode{policy.ModeBusiness, policy.ModePersonal, policy.ModeSilent, policy.ModeSilent}
		r.setMode(chat, modes[r.rand.IntN(len(modes))])
	}
}

// setMode sets the mode of a chat, unless a message of the chat is just being sent. So every later attempt is checked by the new mode.
func (r *run) setMode(chat store.ChatID, mode policy.Mode) (done bool) {
	r.t.Helper()
	row, err := store.ChatByID(r.t.Context(), r.db.DB(), chat)
	require.NoError(r.t, err)
	r.hs.mu.Lock()
	defer r.hs.mu.Unlock()
	err = r.db.InTx(r.t.Context(), func(tx store.Tx) error {
		var held, sending int
		if err := tx.QueryRow(r.t.Context(), holdSQL, chat).Scan(&held); err != nil {
			return err
		}
		if err := tx.QueryRow(r.t.Context(), sendingSQL, chat).Scan(&sending); err != nil {
			return err
		}
		if sending > 0 {
			return nil
		}
		r.room(*row.RoomID).mode, done = mode, true
		return store.SetMode(r.t.Context(), tx, chat, mode)
	})
	require.NoError(r.t, err)
	return done
}

// silenceDuringRetry silences a chat while an answer waits for its next attempt, which must then not be made.
func (r *run) silenceDuringRetry() {
	r.t.Helper()
	room := &testRoom{
		hsRoom:     &hsRoom{ID: "!late:x"},
		kind:       roomDM,
		encryption: "no",
		contact:    "@demo_late:x",
		mode:       policy.ModeBusiness,
	}
	room.Members = map[id.UserID]bool{testOwner: true, testBridgeBot: true, room.contact: true}
	room.State = room.initialState(len(r.rooms) + 1)
	r.rooms = append(r.rooms, room)
	r.hs.add(room.hsRoom)
	r.hs.refuseAll(true)
	require.True(r.t, r.pushTransaction([]*event.Event{r.hs.appendEvent(&event.Event{
		Type: event.EventMessage, RoomID: room.ID, Sender: room.contact, Timestamp: time.Now().UnixMilli(),
		Content: event.Content{Parsed: &event.MessageEventContent{MsgType: event.MsgText, Body: "What does a consultation cost?"}},
	})}))
	const chatSQL = "select coalesce((select c.id from chats c join outbox o on o.chat_id = c.id where c.room_id = $1 and o.state = 'queued'), 0)"
	r.until("the answer to be silenced", func() bool {
		chat := store.ChatID(r.count(chatSQL, room.ID))
		return chat != 0 && r.setMode(chat, policy.ModeSilent)
	})
	r.hs.refuseAll(false)
	r.awaitIdle()
	require.Equal(r.t, 1,
		r.count("select count(*) from outbox o join chats c on c.id = o.chat_id where c.room_id = $1 and o.code = $2 and o.state = 'dropped'",
			room.ID, policy.CodeSilent))
}

// changeRooms changes the modes of some chats and encrypts a room, while nothing is being sent.
func (r *run) changeRooms() {
	r.t.Helper()
	modes := []policy.Mode{policy.ModeBusiness, policy.ModePersonal, policy.ModeSilent, policy.ModeOff}
	for _, room := range r.rooms {
		if !room.isChat() || r.rand.IntN(3) > 0 {
			continue
		}
		chats, err := store.ChatsByRoom(r.t.Context(), r.db.DB(), []id.RoomID{room.ID})
		require.NoError(r.t, err)
		chat, known := chats[room.ID]
		if !known {
			continue // the room has no messages yet
		}
		room.mode = modes[r.rand.IntN(len(modes))]
		require.NoError(r.t, r.db.InTx(r.t.Context(), func(tx store.Tx) error { return store.SetMode(r.t.Context(), tx, chat.ID, room.mode) }))
	}
	if room := r.rooms[r.rand.IntN(len(r.rooms))]; room.encryption == "no" && r.rand.IntN(3) == 0 {
		room.encryption = "yes"
		evt := stateEvent(room.ID, testBridgeBot, event.StateEncryption, "", &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
		require.True(r.t, r.pushTransaction([]*event.Event{r.hs.appendEvent(evt)}))
	}
}
