package appservice

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/internal/sleep"
	"multis/policy"
	"multis/store"
)

// MakeAdminRoom creates the room from which multis is administered and, if it is configured, the room for operators, unless they exist. It
// invites the owner and the operators. Several processes may call it at once, and again after a crash.
func (h *Homeserver) MakeAdminRoom(ctx context.Context) error {
	lock, err := h.lockSetup(ctx)
	if err != nil {
		return err
	}
	defer lock.Release(ctx)
	if err := h.makeRoom(ctx, adminMarker{Owner: h.access.Owner}); err != nil {
		return err
	}
	if err := h.describeCommands(ctx); err != nil { // only the menus of some clients need them
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot describe the commands in the admin room")
	}
	if !h.access.OperatorsRoom {
		return h.inviteOperators(ctx, store.AdminChat)
	}
	if err := h.makeRoom(ctx, adminMarker{Owner: h.access.Owner, ForOperators: true}); err != nil {
		return err
	}
	return h.inviteOperators(ctx, store.OperatorsChat)
}

// makeRoom creates the room that marker describes and stores it, unless it exists.
func (h *Homeserver) makeRoom(ctx context.Context, marker adminMarker) error {
	stored := store.AdminChat
	if marker.ForOperators {
		stored = store.OperatorsChat
	}
	_, err := stored(ctx, h.store.DB())
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	room, err := h.findAdminRoom(ctx, marker)
	if err != nil {
		return err
	}
	if room == "" {
		if room, err = h.createAdminRoom(ctx, marker); err != nil {
			return err
		}
	}
	state, err := h.bot.session().state(ctx, room)
	if err != nil {
		return explain("read the state of the admin room", err)
	}
	chat := adminChat(room, encryptionOf(state))
	chat.IsOperatorsRoom = marker.ForOperators
	return h.store.InTx(ctx, func(tx store.Tx) error {
		_, err := upsertChat(ctx, tx, chat)
		return err
	})
}

// inviteOperators invites each operator who was never invited to the operators' room, such as one who was added to the
// configuration since the last start. Operators who left the room, were removed or did not accept are not invited again.
// If the homeserver refuses an invitation, that is logged and found by the doctor, and the next start tries it again.
func (h *Homeserver) inviteOperators(ctx context.Context, roomOf func(context.Context, store.DB) (store.Chat, error)) error {
	if len(h.access.Operators) == 0 {
		return nil
	}
	room, err := roomOf(ctx, h.store.DB())
	if err != nil {
		return err
	}
	if room.RoomID == nil {
		return nil
	}
	state, err := h.bot.session().state(ctx, *room.RoomID)
	if err != nil {
		return explain("read who is in the room for operators", err)
	}
	known := map[id.UserID]bool{}
	for _, evt := range state {
		if evt.Type == event.StateMember && evt.StateKey != nil {
			known[id.UserID(*evt.StateKey)] = true
		}
	}
	for _, operator := range h.access.Operators {
		if known[operator] {
			continue
		}
		_, err := h.bot.session().InviteUser(ctx, *room.RoomID, &mautrix.ReqInviteUser{UserID: operator})
		if failed, answered := errors.AsType[mautrix.HTTPError](err); answered && failed.RespError != nil &&
			!errors.Is(err, mautrix.MUnknownToken) {
			zerolog.Ctx(ctx).Warn().Err(err).Stringer("user_id", operator).Msg("The homeserver refused to invite an operator")
			continue
		}
		if err != nil {
			return explain("invite "+operator.String(), err)
		}
	}
	return nil
}

// lockSetup waits for the lock that lets only one process at a time create rooms and devices.
func (h *Homeserver) lockSetup(ctx context.Context) (*store.Lock, error) {
	for {
		lock, ok, err := h.store.TryLock(ctx, store.LockSetup, 0)
		if ok || err != nil {
			return lock, err
		}
		if err := sleep.For(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// adminMarkerType is the state event that marks a room as the bot's admin room.
var adminMarkerType = event.Type{Type: "ai.multis.admin", Class: event.StateEventType}

// adminMarker is the content of an adminMarkerType event. Owner is the user whose multis the room administers.
type adminMarker struct {
	Owner        id.UserID `json:"owner"`
	ForOperators bool      `json:"for_operators,omitempty"` // the room holds the threads of escalations and nothing else
}

// findAdminRoom returns a room of the bot with a marker that the owner is in or invited to, for example one created before a crash. It
// skips replaced rooms, and rooms with strangers or open to them. Empty means that there is none.
func (h *Homeserver) findAdminRoom(ctx context.Context, marker adminMarker) (id.RoomID, error) {
	joined, err := h.bot.session().JoinedRooms(ctx)
	if err != nil {
		return "", explain("list the bot's rooms", err)
	}
	for _, room := range joined.JoinedRooms {
		var m adminMarker
		if err := h.bot.session().StateEvent(ctx, room, adminMarkerType, "", &m); err != nil || m != marker {
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
		state, err := h.bot.session().state(ctx, room)
		if err != nil {
			return "", explain("read who is in the admin room", err)
		}
		if !slices.ContainsFunc(membersOf(state), h.isStranger) && !slices.ContainsFunc(state, isOpenToOthers) {
			return room, nil
		}
	}
	return "", nil
}

// membersOf returns the users who are in a room or invited to it, according to the room's state.
func membersOf(state []*event.Event) []id.UserID {
	var members []id.UserID
	for _, evt := range state {
		if evt.Type != event.StateMember || evt.StateKey == nil {
			continue
		}
		if membership := evt.Content.AsMember().Membership; membership == event.MembershipJoin || membership == event.MembershipInvite {
			members = append(members, id.UserID(*evt.StateKey))
		}
	}
	return members
}

// OtherReaders returns who is in a room or invited to it besides a person and the bot.
func (h *Homeserver) OtherReaders(ctx context.Context, room id.RoomID, person id.UserID) ([]id.UserID, error) {
	state, err := h.bot.session().state(ctx, room)
	if err != nil {
		return nil, explain("read who is in the admin room", err)
	}
	return slices.DeleteFunc(membersOf(state), func(who id.UserID) bool { return who == person || who == h.access.Bot }), nil
}

// isStranger reports whether a user is not allowed in the admin room: anybody but the owner, the bot and the operators.
func (h *Homeserver) isStranger(who id.UserID) bool {
	return who != h.access.Owner && who != h.access.Bot && !slices.Contains(h.access.Operators, who)
}

// createAdminRoom creates a room with its marker and invites the owner. The room for operators is encrypted if the admin room is.
func (h *Homeserver) createAdminRoom(ctx context.Context, marker adminMarker) (id.RoomID, error) {
	name, topic := h.access.BotName, "Your assistant. Ask a question, send a document, or type !help"
	state := []*event.Event{
		{Type: adminMarkerType, Content: event.Content{Parsed: marker}},
		{Type: event.StateJoinRules, Content: event.Content{Parsed: &event.JoinRulesEventContent{JoinRule: event.JoinRuleInvite}}},
		{
			Type:    event.StateGuestAccess,
			Content: event.Content{Parsed: &event.GuestAccessEventContent{GuestAccess: event.GuestAccessForbidden}},
		},
	}
	if marker.ForOperators {
		name, topic = name+": customers", "One thread per customer who needs a person. What you write there is sent to the customer."
		admin, err := store.AdminChat(ctx, h.store.DB())
		if err != nil {
			return "", err
		}
		if admin.Encryption == policy.EncryptionYes {
			encryption := &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}
			state = append(state, &event.Event{Type: event.StateEncryption, Content: event.Content{Parsed: encryption}})
		}
	} else {
		state = append(state, h.descriptions()...)
	}
	resp, err := h.bot.session().CreateRoom(ctx, &mautrix.ReqCreateRoom{
		// The preset gives the owner the bot's power level, so that the owner can turn encryption on.
		Preset: "trusted_private_chat", Name: name, Topic: topic,
		Invite: []id.UserID{h.access.Owner}, IsDirect: len(h.access.Operators) == 0 && !marker.ForOperators, InitialState: state,
	})
	if err != nil {
		return "", explain("make the admin room", err)
	}
	return resp.RoomID, nil
}
