package bridgebridge

import (
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// Predecessor returns the room that a room claims to replace; empty if there is none. The creator of a room can claim any
// other room, so use Replaces to check the claim.
func Predecessor(state []*event.Event) id.RoomID {
	content := decode[event.CreateEventContent](newRoom(state).get(event.StateCreate))
	if content.Predecessor == nil {
		return ""
	}
	return content.Predecessor.RoomID
}

// CreatedAt returns when a room was created, by the timestamp of its create event; the zero time if there is none.
func CreatedAt(state []*event.Event) time.Time {
	evt := newRoom(state).get(event.StateCreate)
	if evt == nil {
		return time.Time{}
	}
	return time.UnixMilli(evt.Timestamp)
}

// Successor returns the room that replaced a room, and the user who set the replacement; both are empty if the room was not replaced.
func Successor(state []*event.Event) (room id.RoomID, by id.UserID) {
	evt := newRoom(state).get(event.StateTombstone)
	if evt == nil {
		return "", ""
	}
	return decode[event.TombstoneEventContent](evt).ReplacementRoom, evt.Sender
}

// Replaces reports whether room replaced another room: the tombstone of that room and the create event of this one must name each other.
func Replaces(replaced id.RoomID, replacedState []*event.Event, room id.RoomID, state []*event.Event) bool {
	successor, _ := Successor(replacedState)
	return replaced != "" && room != "" && successor == room && Predecessor(state) == replaced
}
