package bridgebridge

import (
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// SpaceRooms returns the rooms that a space lists as its children; nil for a room that is not a space. A room's own claim to be in a
// space does not count, because only users with power in the space may decide that.
func SpaceRooms(state []*event.Event) []id.RoomID {
	r := newRoom(state)
	if !r.isSpace() {
		return nil
	}
	var rooms []id.RoomID
	for child, evt := range r[event.StateSpaceChild.Type] {
		if len(decode[event.SpaceChildEventContent](evt).Via) > 0 { // an empty list means that the room was removed from the space
			rooms = append(rooms, id.RoomID(child))
		}
	}
	return rooms
}
