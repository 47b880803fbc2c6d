package appservice

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/store"
)

// EnsureAdminRoom makes the room from which multis is administered, unless there is one, and invites the owner and the
// operators. made says that it is new. It is safe to call from several processes and after a crash half-way.
func (h *Homeserver) EnsureAdminRoom(ctx context.Context, operators []id.UserID) (made bool, err error) {
	lock, err := h.holdSetup(ctx)
	if err != nil {
		return false, err
	}
	defer lock.Release(ctx)
	_, err = store.AdminChat(ctx, h.store.DB())
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	room, err := h.findAdminRoom(ctx)
	if err != nil {
		return false, err
	}
	if room == "" {
		if room, err = h.createAdminRoom(ctx, operators); err != nil {
			return false, err
		}
	}
	state, err := h.bot.now().State(ctx, room)
	if err != nil {
		return false, explain("read the state of the admin room", err)
	}
	return true, h.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat(room, encryptionOf(flat(state))))
		return err
	})
}

func (h *Homeserver) holdSetup(ctx context.Context) (*store.Lock, error) {
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

// markerType is the state event by which the bot knows its own admin room again.
var markerType = event.Type{Type: "ai.multis.admin", Class: event.StateEventType}

// marker names the owner that an admin room is for.
type marker struct {
	Owner id.UserID `json:"owner"`
}

// findAdminRoom looks for a room that was made before a crash, or by an earlier database, and that the owner has not left.
func (h *Homeserver) findAdminRoom(ctx context.Context) (id.RoomID, error) {
	joined, err := h.bot.now().JoinedRooms(ctx)
	if err != nil {
		return "", explain("list the bot's rooms", err)
	}
	for _, room := range joined.JoinedRooms {
		var m marker
		if err := h.bot.now().StateEvent(ctx, room, markerType, "", &m); err != nil || m.Owner != h.access.Owner {
			continue
		}
		var member event.MemberEventContent
		if err := h.bot.now().StateEvent(ctx, room, event.StateMember, h.access.Owner.String(), &member); err != nil {
			continue
		}
		if member.Membership == event.MembershipJoin || member.Membership == event.MembershipInvite {
			return room, nil
		}
	}
	return "", nil
}

func (h *Homeserver) createAdminRoom(ctx context.Context, operators []id.UserID) (id.RoomID, error) {
	resp, err := h.bot.now().CreateRoom(ctx, &mautrix.ReqCreateRoom{
		// The owner rules the room as the bot does, and can turn encryption on.
		Preset: "trusted_private_chat", Name: h.access.BotName, Topic: "multis: ask, decide, look after your chats. /help",
		Invite: []id.UserID{h.access.Owner}, IsDirect: len(operators) == 0,
		InitialState: []*event.Event{{Type: markerType, Content: event.Content{Parsed: marker{Owner: h.access.Owner}}}},
	})
	if err != nil {
		return "", explain("make the admin room", err)
	}
	for _, operator := range operators {
		if _, err := h.bot.now().InviteUser(ctx, resp.RoomID, &mautrix.ReqInviteUser{UserID: operator}); err != nil {
			return "", explain("invite "+operator.String(), err)
		}
	}
	return resp.RoomID, nil
}
