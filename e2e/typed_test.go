//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/policy"
	"multis/store"
)

// configure replaces the configuration file. A running multis loads the new one.
func (a *app) configure(text string) {
	a.t.Helper()
	partial := a.process.Config + ".new"
	require.NoError(a.t, os.WriteFile(partial, []byte(text), 0o600))
	require.NoError(a.t, os.Rename(partial, a.process.Config))
}

// commandIn writes into a room as somebody and returns the reply.
func (a *app) commandIn(who *mautrix.Client, room id.RoomID, text string) string {
	a.t.Helper()
	sent, err := who.SendText(a.t.Context(), room, text)
	require.NoError(a.t, err)
	return a.read(room, a.answerEvent(sent.EventID))
}

// Labels are configured, given and taken while multis runs, an operator is named later, and a contact says whether it helped.
func TestDesk_TypedByHand(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.say("typed-ida", "hi")
	require.Contains(t, a.command("/label"), "There are no labels yet.")
	require.Contains(t, a.command("/label Typed-ida wholesale"), "Typed-ida · Demonet has wholesale now. The chat is silent.")

	a.setup.Operators = fmt.Sprintf("[\"@una:%[1]s\"]", devstack.Domain)
	labelled := strings.Replace(string(a.config(a.port)), "chats:\n", `chats:
  labels:
    wholesale: {mode: business, delivery: draft, follow_up_days: 3}
    angry: {words: [lawyer], delivery: shadow}
`, 1)
	a.configure(labelled)
	a.await("the labels of the changed configuration", func(context.Context) (bool, error) {
		return strings.Contains(a.command("/label"), "mode business"), nil
	})
	all := a.command("/label")
	require.Contains(t, all, "wholesale: 1 chat · mode business, delivery draft, follow-up after 3 days")
	require.Contains(t, all, "angry: 0 chats · delivery shadow, also given by a rule")
	require.Contains(t, a.command("/label Typed-ida"), "has wholesale. The chat is business, on draft.")
	require.Contains(t, a.command("/followup Typed-ida"), "after 3 days without an answer")

	a.step("an operator who was named later is invited, and not again after leaving", func(t *testing.T) {
		una := a.person(t, "una")
		a.await("the invitation", func(ctx context.Context) (bool, error) {
			_, err := una.JoinRoomByID(ctx, a.adminRoom())
			return err == nil, nil
		})
		require.Contains(t, a.commandIn(una, a.adminRoom(), "/desk"), "Desk, the last 24 hours")
		require.Contains(t, a.commandIn(una, a.adminRoom(), "/label Typed-ida vip"), "Only the owner")
		_, err := una.LeaveRoom(t.Context(), a.adminRoom())
		require.NoError(t, err)
		require.NoError(t, a.process.Kill())
		a.run()
		a.configure(labelled)
		a.await("the labels after a restart", func(context.Context) (bool, error) {
			return strings.Contains(a.command("/label"), "mode business"), nil
		})
		_, err = una.JoinRoomByID(t.Context(), a.adminRoom())
		require.ErrorIs(t, err, mautrix.MForbidden)
	})

	a.step("the label makes drafts", func(t *testing.T) {
		a.say("typed-ida", question)
		var card id.EventID
		a.await("the draft", func(ctx context.Context) (bool, error) {
			err := a.db.DB().QueryRow(ctx,
				"select coalesce(max(o.event_id), '') from dialogs d join outbox o on o.id = d.outbox_id where d.kind = 'draft'").Scan(&card)
			return card != "", err
		})
		_, err := a.Owner.SendReaction(t.Context(), a.adminRoom(), card, "👍")
		require.NoError(t, err)
		a.await("the approved answer", func(context.Context) (bool, error) { return len(a.deliveriesSoFar("typed-ida")) == 1, nil })
		require.Contains(t, a.deliveriesSoFar("typed-ida")[0].Text, "80 EUR")
	})

	a.step("the contact's reaction is counted", func(t *testing.T) {
		chat := a.chat("typed-ida")
		var asked id.EventID
		a.await("the event of the answer", func(ctx context.Context) (bool, error) { // multis may learn of it after the contact
			err := a.db.DB().QueryRow(ctx,
				"select coalesce(max(event_id), '') from outbox where chat_id = $1 and state in ('sent', 'delivered') and send_as = 'owner'",
				chat.ID).Scan(&asked)
			return asked != "", err
		})
		ghost := a.ghost(t, "typed-ida")
		require.NoError(t, a.db.InTx(t.Context(), func(tx store.Tx) error {
			out, err := store.OutboxMessageByEvent(t.Context(), tx, asked)
			if err != nil {
				return err
			}
			return store.MarkRatingAsked(t.Context(), tx, out.ID, chat.ID, ghost.UserID, out.CreatedAt)
		}))
		given, err := ghost.SendReaction(t.Context(), *chat.RoomID, asked, "👍🏼")
		require.NoError(t, err)
		rated := func(value policy.Rating) func(context.Context) (bool, error) {
			return func(ctx context.Context) (bool, error) {
				return a.exists(ctx, "select exists (select from ratings where value = $1)", value)
			}
		}
		a.await("the rating", rated(policy.RatingGood))
		require.Contains(t, a.command("/desk"), "1 👍")
		require.Contains(t, a.command("/desk good"), "Typed-ida · Demonet")
		_, err = ghost.RedactEvent(t.Context(), *chat.RoomID, given.EventID)
		require.NoError(t, err)
		a.await("the rating that is taken back", rated(""))
	})

	a.step("labels are taken", func(t *testing.T) {
		require.Contains(t, a.command("/label remove Typed-ida wholesale"), "has wholesale no longer. The chat is silent.")
		require.Contains(t, a.command("/label remove Typed-ida wholesale"), "does not have wholesale")
		require.Contains(t, a.command("/label Typed-ida Two Words"), "A label is one word, such as two-words.")
		a.say("typed-ida", "You will hear from my lawyer")
		require.Contains(t, a.command("/label Typed-ida"), "has angry")
		require.Contains(t, a.command("/label Nobody wholesale"), "I know no chat called")
	})
}

// What people type in the room for operators, besides the threads.
func TestOperatorRoom_TypedByHand(t *testing.T) {
	a := start(t, setup{Operators: fmt.Sprintf("[\"@nina:%[1]s\"]", devstack.Domain), OperatorsRoom: true})
	a.learn()
	a.switchToBusiness("hand-ida")
	chat, err := store.OperatorsChat(t.Context(), a.db.DB())
	require.NoError(t, err)
	room := *chat.RoomID
	nina := a.person(t, "nina")
	for _, who := range []*mautrix.Client{nina, a.Owner} {
		_, err := who.JoinRoomByID(t.Context(), room)
		require.NoError(t, err)
	}
	require.Equal(t, "No open escalations.", a.commandIn(nina, room, "/escalations"))
	require.Contains(t, a.commandIn(nina, room, "/handoff Hand-ida"), "is yours: answer in its thread")
	require.Contains(t, a.commandIn(a.Owner, room, "/handoff Hand-ida"), "✋ nina has claimed it already. You can answer in its thread as well.")
	require.Contains(t, a.commandIn(nina, room, "/escalations"), "✋ nina")
	require.Contains(t, a.commandIn(nina, room, "/help"), "All other commands are the owner's")
	for _, typed := range []string{"/label Hand-ida vip", "/why Hand-ida", "/nonsense", "/resume Hand-ida"} {
		t.Run(typed, func(t *testing.T) {
			require.Contains(t, a.commandIn(a.Owner, room, typed), "All other commands belong in the admin room.", typed)
		})
	}
	for _, typed := range []string{"What does a consultation cost?", "✋"} {
		t.Run(typed, func(t *testing.T) { // people talk there
			sent, err := nina.SendText(t.Context(), room, typed)
			require.NoError(t, err)
			a.await("the end of "+typed, func(ctx context.Context) (bool, error) {
				return a.exists(ctx, "select exists (select from messages where event_id = $1 and answered_at is not null and outbox_id is null)",
					sent.EventID)
			})
		})
	}
	var card id.EventID
	a.await("the card", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx,
			"select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id where o.chat_id = $1", chat.ID).Scan(&card)
		return card != "", err
	})
	inThread := func(who *mautrix.Client, text string) id.EventID {
		content := &event.MessageEventContent{MsgType: event.MsgText, Body: text, RelatesTo: (&event.RelatesTo{}).SetThread(card, card)}
		sent, err := who.SendMessageEvent(t.Context(), room, event.EventMessage, content)
		require.NoError(t, err)
		return sent.EventID
	}
	inThread(nina, "✋")
	inThread(nina, "note: she buys a lot here")
	inThread(nina, "@owner do you know her?")
	inThread(nina, "Hello, this is Nina. How can I help?")
	require.Equal(t, "Hello, this is Nina. How can I help?", a.awaitDeliveries("hand-ida", 1)[0].Text)
	inThread(a.Owner, "I am here, too.")
	require.Equal(t, "I am here, too.", a.awaitDeliveries("hand-ida", 2)[1].Text)
	inThread(nina, "✅")
	a.await("the end", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select exists (select from escalations where closed_by like '@nina:%')")
	})
	_, err = a.Say(t.Context(), "hand-ida", question)
	require.NoError(t, err)
	got := a.awaitDeliveries("hand-ida", 3)
	require.Contains(t, got[2].Text, "80 EUR", "and nothing of what was said among people")
}
