//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
)

// operator is the client of an operator in the admin room. The operator leaves at the end, because the next test has none.
func (a *app) operator(t *testing.T, name string) *mautrix.Client {
	t.Helper()
	client, room := a.person(t, name), a.adminRoom()
	// the room may be older than the configuration
	_, err := a.Owner.InviteUser(t.Context(), room, &mautrix.ReqInviteUser{UserID: client.UserID})
	require.NoError(t, err)
	_, err = client.JoinRoomByID(t.Context(), room)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := client.LeaveRoom(context.WithoutCancel(t.Context()), room)
		require.NoError(t, err)
	})
	return client
}

// inThread writes in the thread of a card.
func (a *app) inThread(t *testing.T, who *mautrix.Client, card id.EventID, text string) id.EventID {
	t.Helper()
	content := &event.MessageEventContent{MsgType: event.MsgText, Body: text, RelatesTo: (&event.RelatesTo{}).SetThread(card, card)}
	sent, err := who.SendMessageEvent(t.Context(), a.adminRoom(), event.EventMessage, content)
	require.NoError(t, err)
	return sent.EventID
}

// awaitLine waits until the thread shows a text, once.
func (a *app) awaitLine(text string) {
	a.t.Helper()
	a.await("the line "+text, func(ctx context.Context) (bool, error) {
		return a.exists(ctx,
			`select exists (select from escalation_lines l join outbox o on o.id = l.outbox_id join messages m on m.id = l.message_id
			where o.event_id is not null and m.body = $1 and o.content->>'body' like '%' || $1 || '%')`, text)
	})
}

func TestThread_OperatorsAndOwnerAnswer(t *testing.T) {
	a := start(t, setup{Operators: fmt.Sprintf("[\"@eva:%[1]s\", \"@bob:%[1]s\"]", devstack.Domain)})
	a.learn()
	a.switchToBusiness("thread-ida")
	eva, bob := a.operator(t, "eva"), a.operator(t, "bob")
	_, err := a.Say(t.Context(), "thread-ida", "I want to speak to a person, my lamp is broken")
	require.NoError(t, err)
	var card id.EventID
	a.await("the card", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx, "select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id").Scan(&card)
		return card != "", err
	})
	require.Contains(t, a.read(a.adminRoom(), card), "my lamp is broken")
	a.awaitDeliveries("thread-ida", 1) // that a person will answer

	_, err = eva.SendReaction(t.Context(), a.adminRoom(), card, "✋")
	require.NoError(t, err)
	a.inThread(t, bob, card, "note: she buys a lot here")
	sorry := a.inThread(t, eva, card, "I am sorry! Which lamp is it?")
	require.Equal(t, "I am sorry! Which lamp is it?", a.awaitDeliveries("thread-ida", 2)[1].Text)

	require.NoError(t, a.process.Kill())
	_, err = a.Say(t.Context(), "thread-ida", "What does delivery cost? It is the blue one")
	require.NoError(t, err)
	_, err = a.OwnerOnPhone(t.Context(), "thread-ida", "I send you a new one")
	require.NoError(t, err)
	a.inThread(t, bob, card, "📝 the owner is on it")
	a.run()
	a.awaitLine("What does delivery cost? It is the blue one")
	a.awaitLine("I send you a new one")
	a.inThread(t, bob, card, "It goes out today.")
	require.Equal(t, "It goes out today.", a.awaitDeliveries("thread-ida", 3)[2].Text, "and nothing of the assistant's in between")

	stays := a.inThread(t, eva, card, "You pay nothing.")
	got := a.awaitDeliveries("thread-ida", 4)
	a.deletedByAnOperatorAndAFormerOne(t, eva, [2]id.EventID{sorry, stays},
		[2]id.EventID{id.EventID(got[1].EventID), id.EventID(got[3].EventID)})

	_, err = bob.SendReaction(t.Context(), a.adminRoom(), card, "✅")
	require.NoError(t, err)
	a.await("the end", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select exists (select from escalations where closed_by like '@bob:%')")
	})
	_, err = a.Say(t.Context(), "thread-ida", question)
	require.NoError(t, err)
	got = a.awaitDeliveries("thread-ida", 5)
	require.Contains(t, got[4].Text, "80 EUR", "the assistant answers again")
	for _, d := range got {
		require.False(t, strings.Contains(d.Text, "she buys") || strings.Contains(d.Text, "on it"), d.Text)
	}
}

// deletedByAnOperatorAndAFormerOne has an operator delete a reply, and another one after the configuration no longer
// names the operator: only the first is deleted at the contact. replies are the messages in the thread, sent what the
// contact's room got.
func (a *app) deletedByAnOperatorAndAFormerOne(t *testing.T, eva *mautrix.Client, replies, sent [2]id.EventID) {
	t.Helper()
	isDeleted := func(ctx context.Context, event id.EventID) (bool, error) {
		evt, err := a.Owner.GetEvent(ctx, *a.chat("thread-ida").RoomID, event)
		return err == nil && evt.Unsigned.RedactedBecause != nil, err
	}
	_, err := eva.RedactEvent(t.Context(), a.adminRoom(), replies[0])
	require.NoError(t, err)
	a.await("the deletion at the contact", func(ctx context.Context) (bool, error) { return isDeleted(ctx, sent[0]) })

	require.NoError(t, a.process.Kill())
	a.setup.Operators = fmt.Sprintf("[\"@bob:%s\"]", devstack.Domain)
	a.run()
	_, err = eva.RedactEvent(t.Context(), a.adminRoom(), replies[1])
	require.NoError(t, err)
	a.await("the refusal", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select exists (select from audit_entries where kind = 'deletion' and outcome = 'refused')")
	})
	a.awaitIdle()
	deleted, err := isDeleted(t.Context(), sent[1])
	require.NoError(t, err)
	require.False(t, deleted, "a former operator takes nothing back from the contact")
}
