//go:build e2e

package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
	"multis/store"
)

// startLocked starts multis in an encrypted world, beside a session of the owner's that made his keys. It makes them
// before, because multis trusts the keys that it sees first.
func startLocked(t *testing.T, s setup) (*app, *rig.Element) {
	t.Helper()
	around := encryptedWorlds.claim(t)
	leaveAdminRooms(t.Context(), t, around)
	verified := around.element(t)
	_, err := verified.SetUpEncryption(t.Context())
	require.NoError(t, err)
	s.Locked = true
	a := start(t, s)
	t.Cleanup(func() { leaveAdminRooms(context.WithoutCancel(t.Context()), t, around) }) // the other tests' owner does not encrypt
	return a, verified
}

func TestAdminRoom_Encrypted(t *testing.T) {
	a, verified := startLocked(t, setup{})
	unverified, room := a.element(t), a.adminRoom()
	turnOn := event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}
	sent, err := verified.SendStateEvent(t.Context(), room, event.StateEncryption, "", turnOn)
	require.NoError(t, err, "the owner turns encryption on")
	a.awaitBothPaths(sent.EventID)
	open := len(a.sentTexts(room))

	a.step("a verified session is obeyed, and the answer is for the owner's eyes", func(t *testing.T) {
		require.Contains(t, a.commandEncrypted(t, verified, room, "/help"), "/mode")
		require.Contains(t, a.commandEncrypted(t, verified, room, "/pause all"), "Everything is paused")
		require.Contains(t, a.commandEncrypted(t, verified, room, "/resume"), "I'm back")
	})
	a.step("a session that nobody vouches for is not", func(t *testing.T) {
		require.Contains(t, a.commandEncrypted(t, unverified, room, "/pause all"), "did not come encrypted from a verified session")
		paused, err := store.PausedAll(t.Context(), a.db.DB())
		require.NoError(t, err)
		require.False(t, paused)
	})
	a.step("and plain text proves nothing either", func(t *testing.T) {
		asked, err := a.Owner.SendText(t.Context(), room, "/pause all")
		require.NoError(t, err)
		read, err := verified.Read(t.Context(), a.answerEvent(asked.EventID))
		require.NoError(t, err)
		require.Contains(t, read.Content.AsMessage().Body, "did not come encrypted from a verified session")
		paused, err := store.PausedAll(t.Context(), a.db.DB())
		require.NoError(t, err)
		require.False(t, paused)
	})
	a.step("nor is a stranger who made the owner's keys anew, until the owner proves them", func(t *testing.T) {
		recovery, err := verified.SetUpEncryption(t.Context())
		require.NoError(t, err)
		require.Contains(t, a.commandEncrypted(t, verified, room, "/help"), "did not come encrypted from a verified session")
		printed, err := a.RunMultis(t.Context(), a.config(a.port), recovery+"\n", "verify")
		require.NoError(t, err, printed)
		require.Contains(t, a.commandEncrypted(t, verified, room, "/help"), "/mode")
	})
	for _, put := range a.sentTexts(room)[open:] {
		require.Equal(t, event.EventEncrypted.Type, put.Type)
	}
}

func TestPIN_InEncryptedAdminRoom(t *testing.T) {
	a, verified := startLocked(t, setup{})
	room := a.adminRoom()
	sent, err := verified.SendStateEvent(t.Context(), room, event.StateEncryption, "",
		event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
	require.NoError(t, err)
	a.awaitBothPaths(sent.EventID)

	const digits, wrong = "804639", "804638"
	var entered []id.EventID
	told := func(want string) {
		t.Helper()
		a.await(want, func(ctx context.Context) (bool, error) {
			var there bool
			err := a.db.DB().QueryRow(ctx, "select exists (select from outbox where state = 'sent' and content->>'body' like '%' || $1 || '%')",
				want).Scan(&there)
			return there, err
		})
	}
	enter := func(said, want string) {
		t.Helper()
		one, err := verified.Say(t.Context(), room, said)
		require.NoError(t, err)
		entered = append(entered, one)
		told(want)
	}
	require.Contains(t, a.commandEncrypted(t, verified, room, "/pin set"), "The new PIN")
	enter(digits, "Once more")
	enter(digits, "The PIN is set")
	require.Contains(t, a.commandEncrypted(t, verified, room, "/pin set"), "First the present PIN")
	plain, err := a.Owner.SendText(t.Context(), room, digits)
	require.NoError(t, err)
	entered = append(entered, plain.EventID)
	told("did not come encrypted from a verified session")
	enter(wrong, "That is not the PIN. 2 tries left")
	enter("/pim "+digits, "Digits never stand beside")
	for _, one := range entered {
		a.await("the message with the PIN to be deleted", func(ctx context.Context) (bool, error) {
			evt, err := a.Owner.GetEvent(ctx, room, one)
			if err != nil {
				return false, err
			}
			return evt.Unsigned.RedactedBecause != nil && len(evt.Content.Raw) == 0, nil
		})
	}
	var rows int
	require.NoError(t, a.db.DB().QueryRow(t.Context(),
		"select count(*) from messages where body like '%8046%' or parked is not null").Scan(&rows))
	require.Zero(t, rows, "neither the digits nor the ciphertext stays")
	require.NotContains(t, a.log(), digits)
}

func TestAdminRoom_OwnerOpensEncrypted(t *testing.T) {
	a := start(t, setup{Locked: true})
	verified := a.element(t)
	_, err := verified.SetUpEncryption(t.Context())
	require.NoError(t, err)
	made, err := verified.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{
		Preset: "trusted_private_chat", Invite: []id.UserID{bot}, IsDirect: true,
		InitialState: []*event.Event{{
			Type: event.StateEncryption, Content: event.Content{Parsed: event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}},
		}},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := verified.LeaveRoom(context.WithoutCancel(t.Context()), made.RoomID)
		require.NoError(t, err)
	})
	require.Contains(t, a.commandEncrypted(t, verified, made.RoomID, "/help"), "/mode")
	require.NotEmpty(t, a.sentTexts(made.RoomID))
	a.requireOnlyEncrypted(t, made.RoomID)
}

// commandEncrypted sends a command from a session of the owner's and returns the answer as that session decrypts it.
func (a *app) commandEncrypted(t *testing.T, session *rig.Element, room id.RoomID, text string) string {
	t.Helper()
	asked, err := session.Say(t.Context(), room, text)
	require.NoError(t, err)
	require.Equal(t, event.EventEncrypted, a.kindOf(t, room, asked))
	answer := a.answerEvent(asked)
	require.Equal(t, event.EventEncrypted, a.kindOf(t, room, answer))
	read, err := session.Read(t.Context(), answer)
	require.NoError(t, err)
	return read.Content.AsMessage().Body
}

// sentTexts lists what multis sent into a room but reactions, which are never encrypted.
func (a *app) sentTexts(room id.RoomID) (texts []sendRequest) {
	for _, put := range a.back.sentTo(room) {
		if put.Type != event.EventReaction.Type {
			texts = append(texts, put)
		}
	}
	return texts
}
