//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// upgraded is the room version that rooms are upgraded to: their ids have no server.
const upgraded = id.RoomV12

// A chat moves while an answer is on its way there: the room is gone that the answer was meant for.
func TestMove_MidConversation(t *testing.T) {
	for name, way := range map[string]struct {
		contact string
		move    func(t *testing.T, a *app, contact string, old id.RoomID)
		locked  bool
	}{
		"the owner upgrades the room":             {"move-ada", upgradedByOwner, false},
		"the portal is made anew":                 {"move-cai", madeAnew, false},
		"the owner upgrades a room that encrypts": {"move-dee", upgradedByOwner, true},
		"a portal that encrypts is made anew":     {"move-eli", madeAnew, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t, setup{Locked: way.locked})
			a.learn()
			contact := way.contact
			a.switchToBusiness(contact)
			chat := a.chat(contact)
			old := *chat.RoomID
			a.say(contact, question)
			a.awaitDeliveries(contact, 1)

			a.back.onSend(dropSends(old))
			asked, err := a.Say(t.Context(), contact, "What does delivery cost?")
			require.NoError(t, err)
			a.await("the first try to send", func(context.Context) (bool, error) { return len(a.back.sentTo(old)) > 1, nil })
			way.move(t, a, contact, old)
			said, err := a.Say(t.Context(), contact, question)
			require.NoError(t, err)
			require.NotEqual(t, old, said.Room)

			require.Equal(t, chat.ID, a.awaitMessage(said.Event).ChatID)
			a.awaitDeliveries(contact, 3)
			for _, event := range []id.EventID{asked.Event, said.Event} {
				message := a.awaitMessage(event)
				require.Equal(t, said.Room, a.awaitOutbox(*message.OutboxID, store.OutboxDelivered).RoomID)
			}
			now := a.chat(contact)
			require.Equal(t, chat.ID, now.ID)
			require.True(t, now.HasRoom())
			require.Equal(t, policy.ModeBusiness, *now.Mode)
			require.Equal(t, old, *now.FormerRoom)
			require.Equal(t, 4, a.count("select count(*) from messages where chat_id = $1 and author = 'contact'", chat.ID),
				"nothing lost, nothing twice")
			const echoesSQL = "select count(*) from messages where chat_id = $1 and author = 'multis_owner'"
			a.await("multis' own words", func(context.Context) (bool, error) { return a.count(echoesSQL, chat.ID) >= 3, nil })
			require.Equal(t, 3, a.count(echoesSQL, chat.ID))
			require.Zero(t, a.count("select count(*) from pending_events where room_id in ($1, $2)", old, said.Room))
			if way.locked {
				a.requireOnlyEncrypted(t, old)
				a.requireOnlyEncrypted(t, said.Room)
			}
		})
	}
}

// upgradedByOwner replaces a room as a client does for its user: a new room that names the old one, everybody invited, and a
// tombstone. The bridge follows.
func upgradedByOwner(t *testing.T, a *app, contact string, old id.RoomID) {
	t.Helper()
	a.openManagementRoom(t)
	empowerOwner(t, a, old)
	made := a.successor(t, a.Owner, old)
	if a.setup.Locked { // as an upgrade by the homeserver keeps it
		_, err := a.Owner.SendStateEvent(t.Context(), made, event.StateEncryption, "",
			event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
		require.NoError(t, err)
	}
	_, err := a.Owner.SendStateEvent(t.Context(), old, event.StateTombstone, "",
		event.TombstoneEventContent{Body: "upgraded", ReplacementRoom: made})
	require.NoError(t, err)
	a.awaitBridgeMove(contact, made)
}

// openManagementRoom opens the owner's chat with the bridge's bot, as owners of a bridge have, until the end of the test. Without
// one, the bridge would choose the next room to which the owner invites the bot, and take all messages there for commands.
func (a *app) openManagementRoom(t *testing.T) {
	t.Helper()
	made, err := a.Owner.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{
		Preset:   "trusted_private_chat",
		IsDirect: true,
		Invite:   []id.UserID{bridge},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := a.Owner.LeaveRoom(context.WithoutCancel(t.Context()), made.RoomID)
		require.NoError(t, err)
	})
	a.await("the bridge's welcome", func(ctx context.Context) (bool, error) {
		timeline, err := a.Timeline(ctx, made.RoomID)
		return slices.ContainsFunc(timeline, func(evt *event.Event) bool {
			return evt.Sender == bridge && (evt.Type == event.EventMessage || evt.Type == event.EventEncrypted)
		}), err
	})
}

func madeAnew(t *testing.T, a *app, contact string, _ id.RoomID) {
	t.Helper()
	require.NoError(t, a.Network.Forget(t.Context(), contact))
}

// empowerOwner gives the owner all rights in a portal.
func empowerOwner(t *testing.T, a *app, room id.RoomID) {
	t.Helper()
	as := a.bridged(t, bridge)
	var levels event.PowerLevelsEventContent
	require.NoError(t, as.StateEvent(t.Context(), room, event.StatePowerLevels, "", &levels))
	levels.SetUserLevel(owner, 100)
	_, err := as.SendStateEvent(t.Context(), room, event.StatePowerLevels, "", &levels)
	require.NoError(t, err)
}

// successor creates a room that claims to replace another one, and invites the bridge's bot.
func (a *app) successor(t *testing.T, who *mautrix.Client, old id.RoomID) id.RoomID {
	t.Helper()
	made, err := who.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{
		Preset: "private_chat", RoomVersion: upgraded, Invite: []id.UserID{bridge},
		CreationContent:    map[string]any{"predecessor": map[string]any{"room_id": old}},
		PowerLevelOverride: &event.PowerLevelsEventContent{Users: map[id.UserID]int{bridge: 100}},
	})
	require.NoError(t, err)
	require.NotContains(t, made.RoomID, ":", "a room id as version 12 has them")
	return made.RoomID
}

// awaitBridgeMove waits until the bridge has moved a chat to another room.
func (a *app) awaitBridgeMove(contact string, to id.RoomID) {
	a.t.Helper()
	a.await("the bridge to follow", func(ctx context.Context) (bool, error) {
		room, err := a.Network.Room(ctx, contact)
		return room == to, err
	})
}

func TestMove_UnprovenUpgradeIsIgnored(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("move-fay")
	chat := a.chat("move-fay")
	stranger := a.person(t, "movestranger")
	made := a.successor(t, stranger, *chat.RoomID)
	_, err := stranger.InviteUser(t.Context(), made, &mautrix.ReqInviteUser{UserID: owner})
	require.NoError(t, err)
	_, err = a.Owner.JoinRoomByID(t.Context(), made)
	require.NoError(t, err)
	for _, who := range []id.UserID{bridge, stranger.UserID} {
		_, err := stranger.SendStateEvent(t.Context(), made, event.StateBridge, who.Localpart(), map[string]any{
			"bridgebot": who, "protocol": map[string]any{"id": chat.Protocol}, "com.beeper.room_type.v2": "dm",
			"channel": map[string]any{"id": chat.ChannelID, "fi.mau.receiver": chat.Login},
		})
		require.NoError(t, err)
	}
	lure, err := stranger.SendText(t.Context(), made, question)
	require.NoError(t, err)
	a.awaitBothPaths(lure.EventID)
	a.await("the owner to be asked", func(context.Context) (bool, error) {
		return a.countNotices(string(stranger.UserID)) > 0, nil
	})
	require.Equal(t, chat.RoomID, a.chat("move-fay").RoomID)
	a.requireAnswerIn(t, "move-fay", *chat.RoomID)
	require.Empty(t, a.back.sentTo(made))
	require.Zero(t, a.count("select count(*) from messages where event_id = $1", lure.EventID))
}

// requireAnswerIn makes a contact ask for the first time and checks the room of the answer.
func (a *app) requireAnswerIn(t *testing.T, contact string, room id.RoomID) {
	t.Helper()
	said, _ := a.say(contact, question)
	require.Contains(t, a.awaitDeliveries(contact, 1)[0].Text, "80 EUR")
	require.Equal(t, room, said.Room)
	require.Equal(t, room, a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxDelivered).RoomID)
}
