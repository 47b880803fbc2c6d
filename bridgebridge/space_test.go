package bridgebridge

import (
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

func TestSpace_ListsItsRooms(t *testing.T) {
	t.Parallel()
	children := []*event.Event{
		stateEvent(t, "m.space.child", "!in:x", owner, `{"via":["x"]}`),
		stateEvent(t, "m.space.child", "!out:x", owner, `{}`),
		stateEvent(t, "m.space.child", "!odd:x", owner, `{"via":"x"}`),
	}
	space := append(children, stateEvent(t, "m.room.create", "", owner, `{"type":"m.space"}`))
	require.Equal(t, []id.RoomID{"!in:x"}, SpaceRooms(space))
	require.Empty(t, SpaceRooms(append(children, stateEvent(t, "m.room.create", "", owner, `{}`))), "a room that is no space has none in it")
	require.Empty(t, SpaceRooms(nil))
}
