package appservice

import (
	"context"
	"slices"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/store"
)

// isAgentSpace tells whether who answers depends on what is in a space. Of other spaces nothing is looked at.
func (d *Describer) isAgentSpace(room id.RoomID) bool {
	return slices.Contains(d.inbox.rules.Spaces, room)
}

// describeSpaces has them all looked at anew, because a chat came to a room that may be in one.
func (d *Describer) describeSpaces() []jobs.Args {
	var all []jobs.Args
	for _, space := range d.inbox.rules.Spaces {
		all = append(all, jobs.DescribeArgs{RoomID: space})
	}
	return all
}

// storeSpace notes which chats are in a space, as its state says: none without one.
func (d *Describer) storeSpace(ctx context.Context, space id.RoomID, state []*event.Event) error {
	if !d.isAgentSpace(space) {
		return nil
	}
	rooms := bridgebridge.SpaceRooms(state)
	if len(rooms) == 0 {
		zerolog.Ctx(ctx).Warn().Stringer("room_id", space).Msg("A space in which an agent answers has no rooms, or you are not in it; see agents.<name>.spaces")
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error { return store.SetSpace(ctx, tx, space, rooms) })
}
