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

// isAgentSpace reports whether the configuration assigns the rooms of a space to an agent. Other spaces are ignored.
func (d *Describer) isAgentSpace(room id.RoomID) bool {
	return slices.Contains(d.inbox.settings.Spaces, room)
}

// describeSpaces returns jobs that describe all configured spaces again, because the new room of a chat may be in one of them.
func (d *Describer) describeSpaces() []jobs.Args {
	var all []jobs.Args
	for _, space := range d.inbox.settings.Spaces {
		all = append(all, jobs.DescribeArgs{RoomID: space})
	}
	return all
}

// storeSpace stores which rooms a configured space has. A nil state means that it has none.
func (d *Describer) storeSpace(ctx context.Context, space id.RoomID, state []*event.Event) error {
	if !d.isAgentSpace(space) {
		return nil
	}
	rooms := bridgebridge.SpaceRooms(state)
	if len(rooms) == 0 {
		zerolog.Ctx(ctx).Warn().Stringer("room_id",
			space).Msg("A space in which an agent answers has no rooms, or you are not in it; see agents.<name>.spaces")
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error { return store.SetSpace(ctx, tx, space, rooms) })
}
