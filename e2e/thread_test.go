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
	_, err := a.Owner.InviteUser(t.Context(), room, &mautrix.ReqInviteUser{UserID: client.UserID}) // the room may be older than the configuration
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
		return a.exists(ctx, `select exists (select from escalation_lines l join outbox o on o.id = l.outbox_id join messages m on m.id = l.message_id
			where o.event_id is not null and m.body = $1 and o.content->>'body' like '%' || $1 || '%')`, text)
	})
}

func TestOperatorsAndTheOwnersPhoneAnswerInOneThread(t *testing.T) {
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
	a.inThread(t, eva, card, "I am sorry! Which lamp is it?")
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

	_, err = bob.SendReaction(t.Context(), a.adminRoom(), card, "✅")
	require.NoError(t, err)
	a.await("the end", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select exists (select from escalations where closed_by like '@bob:%')")
	})
	_, err = a.Say(t.Context(), "thread-ida", question)
	require.NoError(t, err)
	got := a.awaitDeliveries("thread-ida", 4)
	require.Contains(t, got[3].Text, "80 EUR", "the assistant answers again")
	for _, d := range got {
		require.False(t, strings.Contains(d.Text, "she buys") || strings.Contains(d.Text, "on it"), d.Text)
	}
}
