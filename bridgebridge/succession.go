package bridgebridge

import (
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Predecessor is the room that a room says it replaces; empty when it says none. Anybody who makes a room may say so of any
// other: see Replaces.
func Predecessor(state []*event.Event) id.RoomID {
	content := decode[event.CreateEventContent](newRoom(state).get(event.StateCreate))
	if content.Predecessor == nil {
		return ""
	}
	return content.Predecessor.RoomID
}

// CreatedAt is when a room was made, as its maker says; the zero time when that is not known.
func CreatedAt(state []*event.Event) time.Time {
	evt := newRoom(state).get(event.StateCreate)
	if evt == nil {
		return time.Time{}
	}
	return time.UnixMilli(evt.Timestamp)
}

// Successor is the room that replaced a room, and who said so; empty when nobody did.
func Successor(state []*event.Event) (room id.RoomID, by id.UserID) {
	evt := newRoom(state).get(event.StateTombstone)
	if evt == nil {
		return "", ""
	}
	return decode[event.TombstoneEventContent](evt).ReplacementRoom, evt.Sender
}

// Replaces reports whether a room is what another one was replaced by: each names the other.
func Replaces(replaced id.RoomID, replacedState []*event.Event, room id.RoomID, state []*event.Event) bool {
	successor, _ := Successor(replacedState)
	return replaced != "" && room != "" && successor == room && Predecessor(state) == replaced
}
