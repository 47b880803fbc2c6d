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

// MakeAdminRoom makes the room from which multis is administered, unless there is one, and invites the owner and the
// operators. It is safe to call from several processes and after a crash half-way.
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

// adminMarkerType is the state event by which the bot knows its own admin room again.
var adminMarkerType = event.Type{Type: "ai.multis.admin", Class: event.StateEventType}

// adminMarker names the owner that an admin room is for.
type adminMarker struct {
	Owner id.UserID `json:"owner"`
}

// findAdminRoom looks for a room that was made before a crash, or by an earlier database, and that the owner has not left.
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

// isStranger tells whether somebody has no business in the admin room.
func (h *Homeserver) isStranger(who id.UserID) bool {
	return who != h.access.Owner && who != h.access.Bot && !slices.Contains(h.access.Operators, who)
}

func (h *Homeserver) createAdminRoom(ctx context.Context) (id.RoomID, error) {
	resp, err := h.bot.session().CreateRoom(ctx, &mautrix.ReqCreateRoom{
		// The owner rules the room as the bot does, and can turn encryption on.
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
