//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
	"multis/policy"
	"multis/store"
)

func TestEncryptedMessage_IsAnsweredAndDelivered(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	a.switchToBusiness("sealed-anna")
	room := *a.chat("sealed-anna").RoomID
	element := a.element(t)

	said, message := a.say("sealed-anna", question)
	require.Equal(t, event.EventEncrypted, a.kindOf(t, room, said.Event), "the bridge encrypts")
	require.Equal(t, question, message.Body)
	require.Equal(t, policy.AuthorContact, message.Author)
	require.Equal(t, policy.CodeAnswer, message.Code)

	got := a.awaitDeliveries("sealed-anna", 1)
	require.Contains(t, got[0].Text, "80 EUR")
	out := a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxDelivered)
	require.Equal(t, got[0].EventID, out.EventID.String())
	read, err := element.Read(t.Context(), *out.EventID)
	require.NoError(t, err, "the owner reads it in Element")
	require.Equal(t, got[0].Text, read.Content.AsMessage().Body)

	echo := a.awaitMessage(*out.EventID)
	require.Equal(t, policy.AuthorMultisOwner, echo.Author, "our own event is recognised once it is decrypted")
	require.Equal(t, policy.CodeEcho, echo.Code)
	require.Nil(t, a.chat("sealed-anna").OwnerWroteAt, "our own words are not the owner's")
	require.Len(t, a.back.sentTo(room), 1)
	a.requireOnlyEncrypted(t, room)
	require.Equal(t, 1, a.count(turnsSQL, a.chat("sealed-anna").ID), "the answer starts no turn")

	for _, text := range []string{question, "80 EUR", "is now business"} {
		t.Run(text, func(t *testing.T) {
			require.NotContains(t, a.log(), text)
		})
	}
}

const turnsSQL = "select count(*) from river.river_job where kind = 'turn' and (args->>'chat')::bigint = $1"

func TestPresence_EncryptedRoomWaitsForOwner(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	a.switchToBusiness("sealed-bea", "sealed-cid")
	element := a.element(t)
	ways := map[policy.Author]struct {
		contact string
		write   func(room id.RoomID) (id.EventID, error)
	}{
		policy.AuthorOwnerPhone: {"sealed-bea", func(id.RoomID) (id.EventID, error) {
			said, err := a.OwnerOnPhone(t.Context(), "sealed-bea", "I call you back")
			return said.Event, err
		}},
		policy.AuthorOwnerClient: {"sealed-cid", func(room id.RoomID) (id.EventID, error) {
			return element.Say(t.Context(), room, "I write to you")
		}},
	}
	for author, way := range ways {
		t.Run(fmt.Sprint(author), func(_ *testing.T) {
			a.step(string(author), func(t *testing.T) {
				room := *a.chat(way.contact).RoomID
				wrote, err := way.write(room)
				require.NoError(t, err)
				require.Equal(t, event.EventEncrypted, a.kindOf(t, room, wrote))
				require.Equal(t, author, a.awaitMessage(wrote).Author)
				_, message := a.say(way.contact, question)
				require.Equal(t, policy.CodeOwnerActive, message.Code, "the chat is the owner's now")
				a.awaitIdle()
				require.Empty(t, a.back.sentTo(room))
			})
		})
	}
}

func TestKeys_ComeLate(t *testing.T) {
	a := start(t, setup{Locked: true, Profile: "business"})
	a.learn()
	// A new chat has a key of its own, which comes with the sync; the message itself comes with the push as well. That a key has
	// not come is said after half a minute.
	for contact, given := range map[string]string{"sealed-dan": "waiting for its key", "sealed-eve": "has not come"} {
		t.Run(contact, func(_ *testing.T) {
			a.step("a key that comes when the message is said to be "+given, func(t *testing.T) {
				release := a.back.holdSync()
				defer release()
				said, err := a.Say(t.Context(), contact, question)
				require.NoError(t, err)
				if given == "has not come" {
					a.await("the key to be waited for", func(ctx context.Context) (bool, error) { return a.exists(ctx, keyDeadlineSQL, said.Event) })
					a.shiftTimes(keyDeadline)
				}
				a.await("the message without its key", func(ctx context.Context) (bool, error) {
					return a.exists(ctx,
						"select exists (select from messages where event_id = $1 and parked is not null and reason like '%' || $2 || '%')",
						said.Event, given)
				})
				require.Empty(t, a.back.sentTo(said.Room))
				require.Contains(t, a.command("/why "+a.chat(contact).Name), given)
				release()
				require.Equal(t, policy.CodeAnswer, a.awaitMessage(said.Event).Code)
				require.Contains(t, a.awaitDeliveries(contact, 1)[0].Text, "80 EUR")
				a.requireOnlyEncrypted(t, said.Room)
			})
		})
	}
}

// keyDeadlineSQL is true when multis has asked for a key and looks again half a minute after it got the message.
const keyDeadlineSQL = `select exists (select from river.river_job j join messages m on m.id = (j.args->>'message')::bigint
	where m.event_id = $1 and j.kind = 'decrypt' and j.scheduled_at >= m.received_at + interval '30 s')`

func TestKeys_ArriveWhileDown(t *testing.T) {
	a := start(t, setup{Locked: true, Profile: "business"})
	a.learn()
	a.say("sealed-flo", "hi")
	require.NoError(t, a.process.Term())
	var said []id.EventID
	for _, contact := range []string{"sealed-flo", "sealed-gus"} { // one has a new key
		s, err := a.Say(t.Context(), contact, question)
		require.NoError(t, err)
		said = append(said, s.Event)
	}
	a.run()
	for _, event := range said {
		require.Equal(t, question, a.awaitMessage(event).Body)
	}
	require.Contains(t, a.awaitDeliveries("sealed-gus", 1)[0].Text, "80 EUR")
}

// element opens a session of the owner's that encrypts.
func (s *scene) element(t *testing.T) *rig.Element {
	t.Helper()
	element, err := s.OpenElement(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, element.Close()) })
	return element
}

// kindOf is the type of an event as it is in the room.
func (a *app) kindOf(t *testing.T, room id.RoomID, wanted id.EventID) event.Type {
	t.Helper()
	evt, err := a.Owner.GetEvent(t.Context(), room, wanted)
	require.NoError(t, err)
	evt.Type.Class = event.MessageEventType
	return evt.Type
}

// requireOnlyEncrypted checks that all that multis sent into a room was encrypted.
func (a *app) requireOnlyEncrypted(t *testing.T, room id.RoomID) {
	t.Helper()
	for _, put := range a.back.sentTo(room) {
		require.Equal(t, event.EventEncrypted.Type, put.Type)
	}
}
