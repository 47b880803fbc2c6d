package appservice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Describer finds out what rooms are.
type Describer struct {
	inbox *Inbox
	hs    *Homeserver
}

// NewDescriber makes a describer.
func NewDescriber(inbox *Inbox, hs *Homeserver) *Describer { return &Describer{inbox: inbox, hs: hs} }

// Describe reads a room's state as the owner and writes the chat's row, or forgets the room if it is none of ours. The
// events that waited for it are then fetched and taken in. No room means all that nobody has described yet.
func (d *Describer) Describe(ctx context.Context, room id.RoomID) error {
	if room == "" {
		return d.Survey(ctx)
	}
	// One look at a room at a time: an older look that ends later would undo what the newer one found.
	lock, ok, err := d.inbox.store.TryLock(ctx, store.LockRoom, store.LockNumber(room.String()))
	if err != nil {
		return err
	}
	if !ok {
		return jobs.Later(describeRetryDelay)
	}
	defer lock.Release(ctx)
	d.inbox.ignored.startWatching(room)
	defer d.inbox.ignored.stopWatching(room)
	return d.describeLocked(ctx, room)
}

// describeRetryDelay is how long a look at a room waits for another one.
const describeRetryDelay = 200 * time.Millisecond

func (d *Describer) describeLocked(ctx context.Context, room id.RoomID) error {
	waiting, err := store.Pending(ctx, d.inbox.store.DB(), room)
	if err != nil {
		return err
	}
	state, err := d.hs.owner.session().state(ctx, room)
	switch {
	case errors.Is(err, mautrix.MForbidden), errors.Is(err, mautrix.MNotFound):
		if err := d.storeSpace(ctx, room, nil); err != nil {
			return err
		}
		return d.closeRoom(ctx, room, waiting, store.ClosedLeft)
	case err != nil:
		return explain("read the state of a room", err)
	}
	found, ok, err := d.parseChat(ctx, room, state)
	if err != nil {
		return err
	}
	if !ok {
		if expected, err := d.isExpected(ctx, room, state); err != nil || expected {
			d.inbox.ignored.remove(room)
			return err // its bridge has not claimed it yet: what is said there waits
		}
		if err := d.storeSpace(ctx, room, state); err != nil {
			return err
		}
		return d.closeRoom(ctx, room, waiting, "the bridge no longer claims the room")
	}
	chat, err := d.storeChat(ctx, found, state)
	if errors.Is(err, store.ErrOtherRoom) {
		zerolog.Ctx(ctx).Warn().Stringer("room_id", room).Stringer("bridge_bot_id", found.BridgeBot).Msg("A room claims a chat that lives elsewhere; left alone")
		d.inbox.ignored.addFor(room, otherRoomRetryDelay)
		return d.dropWaiting(ctx, room, waiting)
	}
	if err != nil {
		return err
	}
	d.inbox.ignored.noteChange(room)
	if chat.Kind == policy.KindAdmin || d.inbox.mode(chat) != policy.ModeOff {
		for part := range slices.Chunk(waiting, pendingBatchSize) {
			if err := d.receivePending(ctx, room, part); err != nil {
				return err
			}
			if err := d.dropPending(ctx, room, part); err != nil {
				return err
			}
		}
		return d.fillGaps(ctx, room)
	}
	return d.dropWaiting(ctx, room, waiting)
}

// pendingBatchSize is how many waiting events are taken in at once: a job that ends half-way goes on where it stopped.
const pendingBatchSize = 100

// parseChat turns a room's state into a chat. False: the room is none of ours.
func (d *Describer) parseChat(ctx context.Context, room id.RoomID, state []*event.Event) (store.Chat, bool, error) {
	rules := d.inbox.rules
	portal, ok := bridgebridge.Describe(state, rules.Owner, rules.Bot)
	if ok && portal.BridgeBot.Homeserver() == rules.Owner.Homeserver() { // a bridge of ours runs on our own server
		return store.Chat{
			Protocol: portal.Protocol, ChannelID: portal.ChannelID, Receiver: portal.Receiver, RoomID: &room, Kind: portal.Kind, Name: portal.Name, OwnerName: portal.OwnerName,
			Contact: portal.Contact, BridgeBot: portal.BridgeBot, SelfGhost: portal.SelfGhost, Encrypted: portal.Encryption, ClosedWhy: closedWhy(portal), ClaimedAt: portal.ClaimedAt,
			Features: portal.Features,
		}, true, nil
	}
	join, ok := parseAdminRoom(state, rules)
	if !ok {
		return store.Chat{}, false, nil
	}
	if join {
		if _, err := d.hs.bot.session().JoinRoomByID(ctx, room); err != nil {
			return store.Chat{}, false, explain("join the owner's room", err)
		}
	}
	return adminChat(room, encryptionOf(state)), true, nil
}

func closedWhy(p bridgebridge.Portal) string {
	if p.Tombstoned {
		return store.ClosedTombstone
	}
	return ""
}

// adminChat is the row of a room from which multis is administered.
func adminChat(room id.RoomID, enc policy.Encryption) store.Chat {
	return store.Chat{Protocol: "matrix", ChannelID: room.String(), RoomID: &room, Kind: policy.KindAdmin, Name: "multis", Encrypted: enc}
}

// parseAdminRoom tells whether a room is the owner's conversation with the bot: nobody is in it but the owner, the bot and the
// operators. join says that the owner's invitation is still to be accepted.
func parseAdminRoom(state []*event.Event, rules Rules) (join, ok bool) {
	var owner, bot event.Membership
	for _, evt := range state {
		if evt.Type != event.StateMember || evt.StateKey == nil {
			continue
		}
		membership := evt.Content.AsMember().Membership
		if membership != event.MembershipJoin && membership != event.MembershipInvite {
			continue
		}
		switch who := id.UserID(*evt.StateKey); {
		case who == rules.Owner:
			owner = membership
		case who == rules.Bot:
			bot = membership
			join = membership == event.MembershipInvite
			if join && evt.Sender != rules.Owner {
				return false, false
			}
		case !slices.Contains(rules.Operators, who):
			return false, false
		}
	}
	return join, owner == event.MembershipJoin && bot != ""
}

func encryptionOf(state []*event.Event) policy.Encryption {
	for _, evt := range state {
		if evt.Type == event.StateEncryption {
			return policy.EncryptionYes
		}
	}
	return policy.EncryptionNo
}

// closeRoom drops what waited for a room that is none of ours. A chat that lived there is closed: its history stays.
func (d *Describer) closeRoom(ctx context.Context, room id.RoomID, waiting []id.EventID, why string) error {
	if d.inbox.ignored.hasChanged(room) {
		return jobs.Later(describeRetryDelay) // something happened there since we looked
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		chats, err := store.ChatsByRoom(ctx, tx, []id.RoomID{room})
		if err != nil {
			return err
		}
		chat, known := chats[room]
		switch {
		case !known && d.isAgentSpace(room):
			// What happens there is to be seen: it has the space looked at anew.
		case !known:
			d.inbox.ignored.add(room)
		case chat.Kind == policy.KindAdmin:
			// The owner is not there yet while the invitation stands; that he leaves it comes as an event.
		default:
			if err := store.CloseChat(ctx, tx, chat.ID, why); err != nil {
				return err
			}
		}
		return dropWaiting(ctx, tx, room, waiting)
	})
}

// receivePending fetches events by id and hands them to the inbox. One that cannot be had any more is left out.
func (d *Describer) receivePending(ctx context.Context, room id.RoomID, ids []id.EventID) error {
	events := make([]*event.Event, 0, len(ids))
	for _, e := range ids {
		evt, err := d.hs.owner.session().event(ctx, room, e)
		switch {
		case errors.Is(err, mautrix.MForbidden), errors.Is(err, mautrix.MNotFound), err == nil && evt == nil:
			zerolog.Ctx(ctx).Debug().Stringer("event_id", e).Msg("A waiting event is gone or malformed")
			continue
		case err != nil:
			return fmt.Errorf("fetch a waiting event: %w", err)
		}
		evt.RoomID = room
		events = append(events, evt)
	}
	// By time, and what changes a message behind it: they were noted in no order.
	slices.SortStableFunc(events, func(a, b *event.Event) int {
		return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), cmp.Compare(len(a.Content.Raw), len(b.Content.Raw)))
	})
	return d.inbox.Receive(ctx, events, "")
}

func (d *Describer) dropPending(ctx context.Context, room id.RoomID, ids []id.EventID) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error { return store.DropPending(ctx, tx, room, ids) })
}

// dropWaiting forgets all that waits for a room's description.
func (d *Describer) dropWaiting(ctx context.Context, room id.RoomID, ids []id.EventID) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error { return dropWaiting(ctx, tx, room, ids) })
}

func dropWaiting(ctx context.Context, tx store.Tx, room id.RoomID, ids []id.EventID) error {
	if err := store.DropGaps(ctx, tx, room); err != nil {
		return err
	}
	return store.DropPending(ctx, tx, room, ids)
}

// Survey asks for a description of every room that the owner is in and nobody has described yet, and names the owner in the others.
func (d *Describer) Survey(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*requestTimeout)
	defer cancel()
	joined, err := d.hs.owner.session().JoinedRooms(ctx)
	if err != nil {
		return explain("list the owner's rooms", err)
	}
	name := ""
	switch profile, err := d.hs.owner.session().GetOwnDisplayName(ctx); {
	case err == nil:
		name = profile.DisplayName
	case !errors.Is(err, mautrix.MNotFound): // no reason not to start: each chat that is described again gets the name as well
		zerolog.Ctx(ctx).Warn().Err(explain("read the owner's profile", err)).Msg("The owner's name in the chats stays as it is")
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.NameOwner(ctx, tx, name); err != nil {
			return err
		}
		known, err := store.ChatsByRoom(ctx, tx, joined.JoinedRooms)
		if err != nil {
			return err
		}
		var ask []jobs.Args
		for _, room := range joined.JoinedRooms {
			if _, ok := known[room]; !ok {
				ask = append(ask, jobs.DescribeArgs{RoomID: room})
			}
		}
		return jobs.Enqueue(ctx, tx, ask...)
	})
}
