package appservice

import (
	"cmp"
	"context"
	"encoding/json"
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

// Describer reads the state of rooms to find out which chats they are.
type Describer struct {
	inbox *Inbox
	hs    *Homeserver
}

// NewDescriber returns a describer that reads rooms through hs and stores through inbox.
func NewDescriber(inbox *Inbox, hs *Homeserver) *Describer { return &Describer{inbox: inbox, hs: hs} }

// Describe reads a room's state as the owner and stores the room's chat, or closes the chat if the room is no longer one. Then it fetches
// and stores the events that waited for the description. An empty room means all rooms that are not described yet.
func (d *Describer) Describe(ctx context.Context, room id.RoomID) error {
	if room == "" {
		return d.DescribeNewRooms(ctx)
	}
	// Only one description of a room runs at a time: otherwise an older one that ends later would overwrite the newer one.
	lock, ok, err := d.inbox.store.TryLock(ctx, store.LockRoom, store.LockNumber(room.String()))
	if err != nil {
		return err
	}
	if !ok {
		return jobs.Snooze(describeRetryDelay)
	}
	defer lock.Release(ctx)
	d.inbox.ignored.startWatching(room)
	defer d.inbox.ignored.stopWatching(room)
	return d.describeLocked(ctx, room)
}

// describeRetryDelay is how long a job waits before it retries, while another job describes the same room or the room just changed.
const describeRetryDelay = 200 * time.Millisecond

// describeLocked implements Describe. The caller holds the room's lock.
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
		awaits, err := d.awaitsBridge(ctx, room, state)
		if err != nil || awaits {
			d.inbox.ignored.remove(room)
			return err // no bridge has claimed the room yet: its events wait
		}
		if err := d.storeSpace(ctx, room, state); err != nil {
			return err
		}
		return d.closeRoom(ctx, room, waiting, "the bridge no longer claims the room")
	}
	chat, err := d.storeChat(ctx, found, state)
	if errors.Is(err, store.ErrOtherRoom) {
		zerolog.Ctx(ctx).Warn().Stringer("room_id", room).Stringer("bridge_bot_id",
			found.BridgeBot).Msg("A room claims a chat that lives elsewhere; left alone")
		d.inbox.ignored.addFor(room, otherRoomRetryDelay)
		return d.deleteWaiting(ctx, room, waiting)
	}
	if err != nil {
		return err
	}
	d.inbox.ignored.recordChange(room)
	if !d.inbox.isOff(chat) {
		for part := range slices.Chunk(waiting, pendingBatchSize) {
			if err := d.receivePending(ctx, room, part); err != nil {
				return err
			}
			if err := d.deletePending(ctx, room, part); err != nil {
				return err
			}
		}
		return d.fillGaps(ctx, room)
	}
	return d.deleteWaiting(ctx, room, waiting)
}

// pendingBatchSize is the number of waiting events that are fetched and stored together. A job that is interrupted continues after the
// last batch.
const pendingBatchSize = 100

// parseChat turns a room's state into a chat. It returns false if the room is neither a bridged chat nor an admin room.
func (d *Describer) parseChat(ctx context.Context, room id.RoomID, state []*event.Event) (store.Chat, bool, error) {
	rules := d.inbox.settings
	portal, ok := bridgebridge.Describe(state, rules.Owner, rules.Bot)
	if ok && portal.BridgeBot.Homeserver() == rules.Owner.Homeserver() { // the owner's bridges run on the owner's homeserver
		known, err := store.EvidenceFor(ctx, d.inbox.store.DB(), room, portal)
		if err != nil {
			return store.Chat{}, false, err
		}
		portal, _ = bridgebridge.DescribeWith(state, rules.Owner, rules.Bot, known)
		return store.Chat{
			Protocol:     portal.Protocol,
			ChannelID:    portal.ChannelID,
			Login:        portal.Login,
			RoomID:       &room,
			Kind:         portal.Kind,
			Name:         portal.Name,
			OwnerName:    portal.OwnerName,
			Contact:      portal.Contact,
			BridgeBot:    portal.BridgeBot,
			SelfGhost:    portal.SelfGhost,
			Encryption:   portal.Encryption,
			ClosedReason: closedWhy(portal),
			ClaimedAt:    portal.ClaimedAt,
			Features:     portal.Features,
		}, true, nil
	}
	join, ok := parseAdminRoom(state, rules)
	var err error
	if !ok {
		return store.Chat{}, false, nil
	}
	if join {
		if _, err = d.hs.bot.session().JoinRoomByID(ctx, room); err != nil {
			return store.Chat{}, false, explain("join the owner's room", err)
		}
	}
	chat := adminChat(room, encryptionOf(state))
	chat.IsOperatorsRoom, err = d.isForOperators(ctx, state)
	return chat, true, err
}

// isForOperators reports whether an admin room is for operators: its marker says so, or it replaces an operators' room.
// Which room it replaces is only its own claim, but a false claim does no harm: an operators' room can do less than other
// admin rooms.
func (d *Describer) isForOperators(ctx context.Context, state []*event.Event) (bool, error) {
	for _, evt := range state {
		if evt.Type.Type != adminMarkerType.Type || evt.Sender != d.inbox.settings.Bot {
			continue
		}
		var marker adminMarker
		if err := json.Unmarshal(evt.Content.VeryRaw, &marker); err == nil && marker.ForOperators {
			return true, nil
		}
	}
	old := bridgebridge.Predecessor(state)
	if old == "" {
		return false, nil
	}
	chats, err := store.ChatsByRoom(ctx, d.inbox.store.DB(), []id.RoomID{old})
	return chats[old].IsOperatorsRoom, err
}

// closedWhy returns why the chat of a portal is closed; empty if it is open.
func closedWhy(p bridgebridge.Portal) string {
	if p.Tombstoned {
		return store.ClosedTombstone
	}
	return ""
}

// adminChat returns the chat row of an admin room.
func adminChat(room id.RoomID, enc policy.Encryption) store.Chat {
	return store.Chat{
		Protocol:   "matrix",
		ChannelID:  room.String(),
		RoomID:     &room,
		Kind:       policy.KindAdmin,
		Name:       "multis",
		Encryption: enc,
	}
}

// parseAdminRoom reports in ok whether a room is an admin room: only the owner, the bot and operators are members, and
// nobody else can join or read it without an invitation. join is true if the bot still has to accept the owner's
// invitation.
func parseAdminRoom(state []*event.Event, settings Settings) (join, ok bool) {
	var owner, bot event.Membership
	if slices.ContainsFunc(state, isOpenToOthers) {
		return false, false
	}
	for _, evt := range state {
		if evt.Type != event.StateMember || evt.StateKey == nil {
			continue
		}
		membership := evt.Content.AsMember().Membership
		if membership != event.MembershipJoin && membership != event.MembershipInvite {
			continue
		}
		switch who := id.UserID(*evt.StateKey); {
		case who == settings.Owner:
			owner = membership
		case who == settings.Bot:
			bot = membership
			join = membership == event.MembershipInvite
			if join && evt.Sender != settings.Owner {
				return false, false
			}
		case !slices.Contains(settings.Operators, who):
			return false, false
		}
	}
	return join, owner == event.MembershipJoin && bot != ""
}

// encryptionOf returns whether a room is encrypted, according to its state.
func encryptionOf(state []*event.Event) policy.Encryption {
	for _, evt := range state {
		if evt.Type == event.StateEncryption {
			return policy.EncryptionYes
		}
	}
	return policy.EncryptionNo
}

// closeRoom handles a room that is not, or no longer, a chat. It drops the events that waited for the description, and closes the room's
// chat, if it has one. Stored messages stay.
func (d *Describer) closeRoom(ctx context.Context, room id.RoomID, waiting []id.EventID, why string) error {
	if d.inbox.ignored.hasChanged(room) {
		return jobs.Snooze(describeRetryDelay) // the room changed after its state was read
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		chats, err := store.ChatsByRoom(ctx, tx, []id.RoomID{room})
		if err != nil {
			return err
		}
		chat, known := chats[room]
		switch {
		case !known && d.isAgentSpace(room):
			// Not ignored, because its events trigger a new description of the space.
		case !known:
			d.inbox.ignored.add(room)
		case chat.Kind == policy.KindAdmin:
			// The owner may not have accepted the invitation yet. If the owner leaves later, that is an event, which closes the room.
		default:
			if err := store.CloseChat(ctx, tx, chat.ID, why); err != nil {
				return err
			}
		}
		return deleteWaiting(ctx, tx, room, waiting)
	})
}

// receivePending fetches events by id and stores them. It skips events that the homeserver no longer returns.
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
	// Pending ids have no order. Sort by time, then by content size, so that a longer edit follows its message.
	slices.SortStableFunc(events, func(a, b *event.Event) int {
		return cmp.Or(cmp.Compare(a.Timestamp, b.Timestamp), cmp.Compare(len(a.Content.Raw), len(b.Content.Raw)))
	})
	return d.inbox.Receive(ctx, events, "")
}

// deletePending deletes the ids of events that waited for the description.
func (d *Describer) deletePending(ctx context.Context, room id.RoomID, ids []id.EventID) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error { return store.DeletePending(ctx, tx, room, ids) })
}

// deleteWaiting calls the function deleteWaiting in a transaction of its own.
func (d *Describer) deleteWaiting(ctx context.Context, room id.RoomID, ids []id.EventID) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error { return deleteWaiting(ctx, tx, room, ids) })
}

// deleteWaiting deletes the event ids and timeline gaps that waited for a room's description.
func deleteWaiting(ctx context.Context, tx store.Tx, room id.RoomID, ids []id.EventID) error {
	if err := store.DeleteGaps(ctx, tx, room); err != nil {
		return err
	}
	return store.DeletePending(ctx, tx, room, ids)
}

// DescribeNewRooms enqueues a Describe job for each of the owner's rooms that is not described yet, and stores the
// owner's display name in all chats.
func (d *Describer) DescribeNewRooms(ctx context.Context) error {
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
	case !errors.Is(err, mautrix.MNotFound): // the start does not need the name: each new description of a chat reads it too
		zerolog.Ctx(ctx).Warn().Err(explain("read the owner's profile", err)).Msg("The owner's name in the chats stays as it is")
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.SetOwnerName(ctx, tx, name); err != nil {
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
