//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
	"multis/policy"
	"multis/store"
)

func TestPresence_WaitsForOwner(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("owner-lea", "owner-max")
	ways := map[string]func(room id.RoomID) id.EventID{
		"owner-lea": func(id.RoomID) id.EventID {
			said, err := a.OwnerOnPhone(t.Context(), "owner-lea", "I call you back")
			require.NoError(t, err)
			return said.Event
		},
		"owner-max": func(room id.RoomID) id.EventID {
			sent, err := a.Owner.SendText(t.Context(), room, "I write to you")
			require.NoError(t, err)
			return sent.EventID
		},
	}
	authors := map[string]policy.Author{"owner-lea": policy.AuthorOwnerPhone, "owner-max": policy.AuthorOwnerClient}
	for contact, write := range ways {
		t.Run(contact, func(_ *testing.T) {
			a.step(string(authors[contact]), func(t *testing.T) {
				room := *a.chat(contact).RoomID
				require.Equal(t, authors[contact], a.awaitMessage(write(room)).Author)
				_, message := a.say(contact, question)
				require.Equal(t, policy.CodeOwnerActive, message.Code, "the chat is the owner's now")
				a.awaitIdle()
				require.Empty(t, a.back.sentTo(room))

				require.Contains(t, a.command("/resume "+a.chat(contact).Name), "I answer again")
				a.say(contact, question)
				a.awaitIdle()
				require.Len(t, a.back.sentTo(room), 1)
			})
		})
	}

	a.step("the owner writes while the answer waits to be sent", func(t *testing.T) {
		a.switchToBusiness("owner-nia")
		room := *a.chat("owner-nia").RoomID
		a.back.onSend(dropSends(room))
		said, err := a.Say(t.Context(), "owner-nia", question)
		require.NoError(t, err)
		a.await("the first try to send", func(context.Context) (bool, error) { return len(a.back.sentTo(room)) > 0, nil })
		sent, err := a.Owner.SendText(t.Context(), room, "I am here")
		require.NoError(t, err)
		a.awaitMessage(sent.EventID)
		a.awaitNoTurn() // an attempt that was allowed before may still be on its way to the proxy
		a.back.onSend(nil)
		out := a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxDropped)
		require.Equal(t, policy.CodeOwnerActive, out.Code)
		require.Len(t, a.awaitDeliveries("owner-nia", 1), 1, "the owner's own words")
	})
}

// dropSends loses every send into a room.
func dropSends(room id.RoomID) func(sendRequest) verdict {
	return func(s sendRequest) verdict {
		if s.Room == room {
			return lost
		}
		return passed
	}
}

func TestTurn_WaitsForTypingAndReading(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	for contact, sign := range map[string]struct {
		column string
		give   func(said demonet.Said) error
	}{
		"signs-abe": {"typing_until", func(said demonet.Said) error {
			_, err := a.ghost(t, "signs-abe").UserTyping(t.Context(), said.Room, true, 30*time.Second)
			return err
		}},
		"signs-bob": {"owner_active_until", func(said demonet.Said) error {
			return a.Owner.SendReceipt(t.Context(), said.Room, said.Event, event.ReceiptTypeReadPrivate, nil)
		}},
		"signs-cem": {"owner_active_until", func(said demonet.Said) error {
			_, err := a.Owner.UserTyping(t.Context(), said.Room, true, 30*time.Second)
			return err
		}},
	} {
		t.Run(contact, func(_ *testing.T) {
			a.step(contact+" has "+sign.column, func(t *testing.T) {
				hello, _ := a.say(contact, "hi")
				require.Contains(t, a.command("/mode business "+a.chat(contact).Name), "is now business")
				require.NoError(t, sign.give(hello))
				var until *time.Time
				a.await("the sign", func(ctx context.Context) (bool, error) {
					err := a.db.DB().QueryRow(ctx, "select "+sign.column+" from chats where id = $1", a.chat(contact).ID).Scan(&until)
					return until != nil, err
				})
				said, asked := a.say(contact, question)
				a.await("the turn to wait", func(ctx context.Context) (bool, error) { return a.exists(ctx, waitingTurnSQL, asked.ChatID) })
				require.Nil(t, a.awaitMessage(said.Event).AnsweredAt)
				left := time.Until(*until)
				require.Positive(t, left)
				a.shiftTimes(left)
				a.awaitDeliveries(contact, 1)
				require.False(t, a.awaitMessage(said.Event).AnsweredAt.Before(until.Add(-left)))
			})
		})
	}
}

const waitingTurnSQL = `select exists (select from river.river_job where kind = 'turn' and (args->>'chat')::bigint = $1
	and metadata ? 'snoozes' and scheduled_at > now())`

func TestPauseAll_StopsNextSend(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("pause-ole")
	room := *a.chat("pause-ole").RoomID

	a.back.onSend(dropSends(room))
	said, err := a.Say(t.Context(), "pause-ole", question)
	require.NoError(t, err)
	a.await("the first try to send", func(context.Context) (bool, error) { return len(a.back.sentTo(room)) > 0, nil })
	require.Contains(t, a.command("/pause all"), "Everything is paused")
	a.awaitNoTurn() // an attempt that was allowed before may still be on its way to the proxy
	a.back.onSend(nil)
	out := a.awaitOutbox(*a.awaitMessage(said.Event).OutboxID, store.OutboxDropped)
	require.Equal(t, policy.CodePausedAll, out.Code, "what waited is not sent any more")

	_, message := a.say("pause-ole", question)
	require.Equal(t, policy.CodePausedAll, message.Code)
	a.awaitDeliveries("pause-ole", 0)
	require.Contains(t, a.command("/resume"), "I'm back")
	a.say("pause-ole", question)
	a.awaitDeliveries("pause-ole", 1)
}

func TestGroup_AnsweredOnMentionOnly(t *testing.T) {
	a := start(t, setup{Profile: "business"})
	a.learn()
	require.NoError(t, a.Network.SetChat(t.Context(), "group-club", demonet.Group, "Book club",
		demonet.Contact{ID: "group-pia"}, demonet.Contact{ID: "group-rob"}))
	chat := a.chat("group-club")
	require.Equal(t, policy.KindGroup, chat.Kind)
	say := func(text string) store.Message {
		said, err := a.Network.Say(t.Context(), "group-club", demonet.Line{Sender: "group-pia", Text: text})
		require.NoError(t, err)
		return a.awaitMessage(said.Event)
	}
	require.Equal(t, policy.CodeSilent, say("Nora, "+question).Code, "groups are silent by default, in the business profile too")

	require.Contains(t, a.command("/mode business Book club"), "When somebody there calls me Nora")
	require.Equal(t, policy.CodeNotAddressed, say(question).Code)
	require.Equal(t, policy.CodeNotAddressed, say("Norah said: "+question).Code)
	a.awaitDeliveries("group-club", 0)
	require.Empty(t, a.back.sentTo(*chat.RoomID))
	require.Equal(t, policy.CodeAnswer, say("Nora, "+question).Code)
	require.Contains(t, a.awaitDeliveries("group-club", 1)[0].Text, "80 EUR")
}

func TestEncryptedRoom_GetsNoPlainText(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("locked-sam")
	room := *a.chat("locked-sam").RoomID
	sent, err := a.bridged(t, bridge).SendStateEvent(t.Context(), room, event.StateEncryption, "",
		event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1})
	require.NoError(t, err)
	a.awaitBothPaths(sent.EventID)

	// A bridge without encryption refuses to write here. What a contact says in plain text all the same is no reason to
	// answer in plain text.
	asked, err := a.ghost(t, "locked-sam").SendText(t.Context(), room, question)
	require.NoError(t, err)
	a.awaitMessage(asked.EventID)
	a.await("the answer", func(context.Context) (bool, error) { return len(a.back.sentTo(room)) > 0, nil })
	for _, put := range a.back.sentTo(room) {
		require.Equal(t, event.EventEncrypted.Type, put.Type)
	}
}
