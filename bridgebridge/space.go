package bridgebridge

import (
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// SpaceRooms are the rooms that a space's state puts into it; none for a room that is no space. What a room says of its own space
// does not count: whoever may change the space decides what is in it.
func SpaceRooms(state []*event.Event) []id.RoomID {
	r := newRoom(state)
	if !r.isSpace() {
		return nil
	}
	var rooms []id.RoomID
	for child, evt := range r[event.StateSpaceChild.Type] {
		if len(decode[event.SpaceChildEventContent](evt).Via) > 0 { // without it the room was taken out
			rooms = append(rooms, id.RoomID(child))
		}
	}
	return rooms
}
