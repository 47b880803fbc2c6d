package appservice

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/store"
)

// MakeAdminRoom creates the room from which multis is administered, unless it exists, and invites the owner and the operators. Several
// processes may call it at once, and again after a crash.
func (h *Homeserver) MakeAdminRoom(ctx context.Context) error {
	lock, err := h.lockSetup(ctx)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	_, err = store.AdminChat(ctx, h.store.DB())
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	room, err := h.findAdminRoom(ctx)
	if err != nil {
		return err
	}
	if room == "" {
		if room, err = h.createAdminRoom(ctx); err != nil {
			return err
		}
	}
	state, err := h.bot.session().state(ctx, room)
	if err != nil {
		return explain("read the state of the admin room", err)
	}
	return h.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat(room, encryptionOf(state)))
		return err
	})
}

// lockSetup waits for the lock that lets only one process at a time create rooms and devices.
func (h *Homeserver) lockSetup(ctx context.Context) (*store.Lock, error) {
	for {
		lock, ok, err := h.store.TryLock(ctx, store.LockSetup, 0)
		if ok || err != nil {
			return lock, err
		}
		sleep(ctx, 200*time.Millisecond)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// adminMarkerType is the state event that marks a room as the bot's admin room.
var adminMarkerType = event.Type{Type: "ai.multis.admin", Class: event.StateEventType}

// adminMarker is the content of an adminMarkerType event. Owner is the user whose multis the room administers.
type adminMarker struct {
	Owner id.UserID `json:"owner"`
}

// findAdminRoom returns a marked admin room of the bot that the owner is in or invited to, for example one created before a crash. It
// skips replaced rooms and rooms with strangers. Empty means that there is none.
func (h *Homeserver) findAdminRoom(ctx context.Context) (id.RoomID, error) {
	joined, err := h.bot.session().JoinedRooms(ctx)
	if err != nil {
		return "", explain("list the bot's rooms", err)
	}
	for _, room := range joined.JoinedRooms {
		var m adminMarker
		if err := h.bot.session().StateEvent(ctx, room, adminMarkerType, "", &m); err != nil || m.Owner != h.access.Owner {
			continue
		}
		var tombstone event.TombstoneEventContent
		if err := h.bot.session().StateEvent(ctx, room, event.StateTombstone, "", &tombstone); err == nil {
			continue
		}
		var member event.MemberEventContent
		if err := h.bot.session().StateEvent(ctx, room, event.StateMember, h.access.Owner.String(), &member); err != nil {
			continue
		}
		if member.Membership != event.MembershipJoin && member.Membership != event.MembershipInvite {
			continue
		}
		members, err := h.bot.session().JoinedMembers(ctx, room)
		if err != nil {
			return "", explain("read who is in the admin room", err)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Keys(members.Joined)), h.isStranger) {
			return room, nil
		}
	}
	return "", nil
}

// isStranger reports whether a user may not be in the admin room: everyone but the owner, the bot and the operators.
func (h *Homeserver) isStranger(who id.UserID) bool {
	return who != h.access.Owner && who != h.access.Bot && !slices.Contains(h.access.Operators, who)
}

// createAdminRoom creates the admin room with its marker and sends the invitations.
func (h *Homeserver) createAdminRoom(ctx context.Context) (id.RoomID, error) {
	resp, err := h.bot.session().CreateRoom(ctx, &mautrix.ReqCreateRoom{
		// The preset gives the owner the bot's power level, so that the owner can turn encryption on.
		Preset: "trusted_private_chat", Name: h.access.BotName, Topic: "multis: ask, decide, look after your chats. /help",
		Invite: []id.UserID{h.access.Owner}, IsDirect: len(h.access.Operators) == 0,
		InitialState: []*event.Event{{Type: adminMarkerType, Content: event.Content{Parsed: adminMarker{Owner: h.access.Owner}}}},
	})
	if err != nil {
		return "", explain("make the admin room", err)
	}
	for _, operator := range h.access.Operators {
		if _, err := h.bot.session().InviteUser(ctx, resp.RoomID, &mautrix.ReqInviteUser{UserID: operator}); err != nil {
			return "", explain("invite "+operator.String(), err)
		}
	}
	return resp.RoomID, nil
}
