//go:build e2e

package rig_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
	"multis/e2e/rig"
)

// downRegistration registers a service for the owner's events that is never
// running. Nothing may wait for it.
const downRegistration = `
id: down
url: http://127.0.0.1:%d
as_token: down-as
hs_token: down-hs
sender_localpart: as_down
rate_limited: false
namespaces:
  users:
    - {regex: '^@owner:multis\.localhost$', exclusive: false}
`

// The subtests share a rig and use chats of their own.
func TestRig_RunsStack(t *testing.T) {
	t.Parallel()
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	r, err := rig.Start(t.Context(), rig.Options{
		Dir: t.TempDir(), Out: t.Output(),
		Registrations: [][]byte{fmt.Appendf(nil, downRegistration, ports[0])},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Stop()) })

	t.Run("what a contact says appears in the portal as its ghost", func(t *testing.T) {
		said, err := r.Say(t.Context(), "anna", "What does a consultation cost?")
		require.NoError(t, err)
		evt := find(t, r, said.Room, said.Event)
		require.Equal(t, id.UserID("@demo_anna:multis.localhost"), evt.Sender)
		require.Equal(t, "What does a consultation cost?", evt.Content.AsMessage().Body)
		require.Equal(t, said.Room, portal(t, r, "anna"))
	})

	t.Run("what the owner types in Element reaches the network", func(t *testing.T) {
		said, err := r.Say(t.Context(), "berta", "Hello?")
		require.NoError(t, err)
		sent, err := r.Owner.SendText(t.Context(), said.Room, "Good morning!")
		require.NoError(t, err)
		status, err := r.AwaitStatus(t.Context(), said.Room, sent.EventID)
		require.NoError(t, err)
		require.Equal(t, event.MessageStatusSuccess, status.Status)
		delivered, err := r.Delivered(t.Context(), "berta")
		require.NoError(t, err)
		require.Len(t, delivered, 1)
		require.Equal(t, "Good morning!", delivered[0].Text)
		require.Equal(t, sent.EventID.String(), delivered[0].EventID)
	})

	t.Run("what the owner types on the phone carries the double puppet key", func(t *testing.T) {
		said, err := r.OwnerOnPhone(t.Context(), "carla", "I'll call you back")
		require.NoError(t, err)
		evt := find(t, r, said.Room, said.Event)
		require.Equal(t, rig.OwnerID, evt.Sender)
		require.Equal(t, "mautrix-demonet", evt.Content.Raw["fi.mau.double_puppet_source"])
		delivered, err := r.Delivered(t.Context(), "carla")
		require.NoError(t, err)
		require.Empty(t, delivered, "it was on the network already")
	})

	t.Run("a refused message fails and a later one is delivered", func(t *testing.T) {
		said, err := r.Say(t.Context(), "dora", "Hi")
		require.NoError(t, err)
		require.NoError(t, r.Network.Fail(t.Context(), "dora", true))
		sent, err := r.Owner.SendText(t.Context(), said.Room, "lost")
		require.NoError(t, err)
		status, err := r.AwaitStatus(t.Context(), said.Room, sent.EventID)
		require.NoError(t, err)
		require.Equal(t, event.MessageStatusRetriable, status.Status)

		require.NoError(t, r.Network.Fail(t.Context(), "dora", false))
		sent, err = r.Owner.SendText(t.Context(), said.Room, "found")
		require.NoError(t, err)
		status, err = r.AwaitStatus(t.Context(), said.Room, sent.EventID)
		require.NoError(t, err)
		require.Equal(t, event.MessageStatusSuccess, status.Status)
	})

	t.Run("a contact edits, deletes and changes the name", func(t *testing.T) { testChanges(t, r) })
	t.Run("chats are of the kind that their network says", func(t *testing.T) { testKinds(t, r) })
	t.Run("a new portal brings its history with the old times", func(t *testing.T) { testHistory(t, r) })
	t.Run("the network remembers over a restart of the bridge", func(t *testing.T) { testRestart(t, r) })
}

func testChanges(t *testing.T, r *rig.Rig) {
	ctx := t.Context()
	said, err := r.Say(ctx, "emma", "at nine")
	require.NoError(t, err)
	require.NoError(t, r.Network.Edit(ctx, "emma", said.Message, "at ten"))
	edit := await(t, r, said.Room, func(evt *event.Event) bool {
		return evt.Content.AsMessage().RelatesTo.GetReplaceID() == said.Event
	})
	require.Equal(t, "at ten", edit.Content.AsMessage().NewContent.Body)

	require.NoError(t, r.Network.Delete(ctx, "emma", said.Message))
	await(t, r, said.Room, func(evt *event.Event) bool {
		return evt.ID == said.Event && len(evt.Content.Raw) == 0
	})

	require.NoError(t, r.Network.Rename(ctx, demonet.Contact{ID: "emma", Name: "Emma Stone"}))
	require.NoError(t, rig.Await(ctx, "the new name of the room", func(ctx context.Context) (bool, error) {
		var name event.RoomNameEventContent
		err := r.Owner.StateEvent(ctx, said.Room, event.StateRoomName, "", &name)
		return name.Name == "Emma Stone", err
	}))
}

func testKinds(t *testing.T, r *rig.Rig) {
	ctx := t.Context()
	require.NoError(t, r.Network.SetChat(ctx, "book-club", demonet.Group, "Book club",
		demonet.Contact{ID: "anna"}, demonet.Contact{ID: "berta", Name: "Berta"}))
	require.NoError(t, r.Network.SetChat(ctx, "status@broadcast", demonet.Status, "Status updates"))
	_, err := r.Say(ctx, "frida", "Hi")
	require.NoError(t, err)
	said, err := r.Network.Say(ctx, "book-club", demonet.Line{Sender: "anna", Text: "Next week?"})
	require.NoError(t, err)
	require.Equal(t, id.UserID("@demo_anna:multis.localhost"), find(t, r, said.Room, said.Event).Sender)

	require.Equal(t, "dm", bridgeInfo(t, r, "frida").BeeperRoomTypeV2)
	require.Equal(t, "phone", bridgeInfo(t, r, "frida").Channel.Receiver)
	require.NotEqual(t, "dm", bridgeInfo(t, r, "book-club").BeeperRoomTypeV2)
	require.Equal(t, "status@broadcast", bridgeInfo(t, r, "status@broadcast").Channel.ID)
}

func testHistory(t *testing.T, r *rig.Rig) {
	ctx := t.Context()
	lastYear := time.Now().AddDate(-1, 0, 0).Truncate(time.Second)
	require.NoError(t, r.Network.Backfill(ctx, "gerda", []demonet.Line{
		{Text: "Happy new year", Time: lastYear},
		{Text: "You too", Time: lastYear.Add(time.Hour), OnPhone: true},
	}))
	room := portal(t, r, "gerda")
	var found []*event.Event
	require.NoError(t, rig.Await(ctx, "the history", func(ctx context.Context) (bool, error) {
		timeline, err := r.Timeline(ctx, room)
		found = slices.DeleteFunc(timeline, func(evt *event.Event) bool { return evt.Type != event.EventMessage })
		return len(found) == 2, err
	}))
	require.Equal(t, lastYear.UnixMilli(), found[0].Timestamp)
	require.Equal(t, rig.OwnerID, found[1].Sender)

	said, err := r.Network.Say(ctx, "gerda", demonet.Line{Text: "late", Time: lastYear.Add(2 * time.Hour)})
	require.NoError(t, err)
	require.Equal(t, lastYear.Add(2*time.Hour).UnixMilli(), find(t, r, said.Room, said.Event).Timestamp)
}

func testRestart(t *testing.T, r *rig.Rig) {
	ctx := t.Context()
	before, err := r.Say(ctx, "hanna", "one")
	require.NoError(t, err)
	sent, err := r.Owner.SendText(ctx, before.Room, "two")
	require.NoError(t, err)
	_, err = r.AwaitStatus(ctx, before.Room, sent.EventID)
	require.NoError(t, err)

	require.NoError(t, r.StopBridge())
	require.NoError(t, r.StartBridge(ctx))
	delivered, err := r.Delivered(ctx, "hanna")
	require.NoError(t, err)
	require.Len(t, delivered, 1)
	after, err := r.Say(ctx, "hanna", "three")
	require.NoError(t, err)
	require.Equal(t, before.Room, after.Room)
	require.NotEqual(t, before.Event, after.Event)
}

func portal(t *testing.T, r *rig.Rig, chat string) id.RoomID {
	t.Helper()
	room, err := r.PortalRoom(t.Context(), chat)
	require.NoError(t, err)
	return room
}

func bridgeInfo(t *testing.T, r *rig.Rig, chat string) *event.BridgeEventContent {
	t.Helper()
	state, err := r.Owner.State(t.Context(), portal(t, r, chat))
	require.NoError(t, err)
	require.Len(t, state[event.StateBridge], 1)
	for _, evt := range state[event.StateBridge] {
		require.Equal(t, rig.BridgeBotID, evt.Sender)
		return evt.Content.AsBridge()
	}
	return nil
}

// find waits for an event and returns it as the owner sees it.
func find(t *testing.T, r *rig.Rig, room id.RoomID, wanted id.EventID) *event.Event {
	t.Helper()
	return await(t, r, room, func(evt *event.Event) bool { return evt.ID == wanted })
}

func await(t *testing.T, r *rig.Rig, room id.RoomID, wanted func(*event.Event) bool) (found *event.Event) {
	t.Helper()
	require.NoError(t, rig.Await(t.Context(), "an event in "+room.String(), func(ctx context.Context) (bool, error) {
		timeline, err := r.Timeline(ctx, room)
		for _, evt := range timeline {
			if wanted(evt) {
				found = evt
			}
		}
		return found != nil, err
	}))
	return found
}
