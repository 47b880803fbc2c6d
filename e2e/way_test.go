//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
	"multis/policy"
	"multis/store"
)

const question = "What does a consultation cost?"

func TestMessage_IsAnsweredAndDelivered(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("way-anna")

	said, message := a.say("way-anna", question)
	require.Equal(t, policy.AuthorContact, message.Author, "the message is stored with who wrote it")
	require.Equal(t, question, message.Body)
	require.Equal(t, policy.ActionAnswer, message.Action, "and with what is done about it")

	got := a.awaitDeliveries("way-anna", 1)
	require.Contains(t, got[0].Text, "[Nora]", "the answer says who speaks")
	require.Contains(t, got[0].Text, "80 EUR")
	require.Contains(t, got[0].Text, "(from Prices)", "and from where it is")

	message = a.awaitMessage(said.Event)
	require.NotNil(t, message.OutboxID, "the message knows its answer")
	out := a.awaitOutbox(*message.OutboxID, store.OutboxDelivered)
	require.Equal(t, policy.PurposeReply, out.Purpose)
	require.Equal(t, got[0].EventID, out.EventID.String(), "what was delivered is what was sent")
	require.NotNil(t, out.DeliveredAt)
	require.NotEmpty(t, out.Citations)
	require.Contains(t, string(prices), out.Citations[0].Quote, "the quote stands in the document")

	echo := a.awaitMessage(*out.EventID)
	require.Equal(t, policy.AuthorMultisOwner, echo.Author, "our own event is recognised")
	require.Equal(t, policy.CodeEcho, echo.Code)
	puts := a.back.sentTo(said.Room)
	require.Len(t, puts, 1)
	require.Equal(t, out.ID.String(), puts[0].Txn)
	require.NotEmpty(t, puts[0].Device, "a send without a device is repeated when Synapse restarts")
	for _, text := range []string{question, "80 EUR", "is now business"} {
		t.Run(text, func(t *testing.T) {
			require.NotContains(t, a.log(), text)
		})
	}
}

func TestEvent_IsTakenOnce(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("once-bert", "once-carl")

	a.step("pushed first, then synced, then pushed again under the same and another id", func(t *testing.T) {
		release := a.back.holdSync()
		defer release()
		said, err := a.Say(t.Context(), "once-bert", question)
		require.NoError(t, err)
		a.awaitDeliveries("once-bert", 1)
		require.False(t, a.back.receivedBySync(said.Event))
		release()
		a.await("the event through the second door", func(context.Context) (bool, error) { return a.back.receivedBySync(said.Event), nil })
		txns := a.front.acknowledged(said.Event)
		require.NotEmpty(t, txns)
		a.push(t, txns[0], txns[0].Path)
		a.push(t, txns[0], txns[0].Path+"-again")
		a.requireTakenOnce(t, "once-bert", said.Event)
	})

	a.step("synced first, then pushed late", func(t *testing.T) {
		a.front.shut(true)
		said, err := a.Say(t.Context(), "once-carl", question)
		require.NoError(t, err)
		a.awaitDeliveries("once-carl", 1)
		require.Empty(t, a.front.acknowledged(said.Event))
		a.front.shut(false)
		a.ping(t)
		a.await("the event through the first door", func(context.Context) (bool, error) { return len(a.front.acknowledged(said.Event)) > 0, nil })
		a.requireTakenOnce(t, "once-carl", said.Event)
	})
}

// requireTakenOnce checks that an event has one row, one turn's answer and one delivery.
func (a *app) requireTakenOnce(t *testing.T, contact string, event id.EventID) {
	t.Helper()
	a.awaitDeliveries(contact, 1)
	require.Equal(t, 1, a.count("select count(*) from messages where event_id = $1", event))
	require.Equal(t, 1, a.count("select count(*) from outbox where chat_id = $1", a.chat(contact).ID))
}

// push sends multis a transaction as Synapse did.
func (a *app) push(t *testing.T, txn transaction, path string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, a.tokens.Address+path, bytes.NewReader(txn.Body))
	require.NoError(t, err)
	req.Header = txn.Header.Clone()
	resp, err := slowClient().Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}

// ping has Synapse call multis, which makes it send what it kept. Synapse answers 502 while it is just about to do that by itself.
func (a *app) ping(t *testing.T) {
	t.Helper()
	require.NoError(t, rig.Await(t.Context(), "Synapse to reach multis", func(ctx context.Context) (bool, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Stack.HomeserverURL+"/_matrix/client/v1/appservice/multis/ping",
			strings.NewReader("{}"))
		if err != nil {
			return false, err
		}
		req.Header.Set("Authorization", "Bearer "+a.tokens.ASToken.Value())
		resp, err := slowClient().Do(req)
		if err != nil {
			return false, err
		}
		return resp.StatusCode == http.StatusOK, resp.Body.Close()
	}))
}

// awaitOutbox waits for an outbox row to come into a state.
func (a *app) awaitOutbox(row uuid.UUID, state store.OutboxState) (out store.OutboxMessage) {
	a.t.Helper()
	a.await("outbox "+row.String()+" to be "+string(state), func(ctx context.Context) (_ bool, err error) {
		out, err = store.OutboxMessageByID(ctx, a.db.DB(), row)
		return out.State == state, err
	})
	return out
}

// notices are what multis said in the admin room and the owner can read there, oldest first.
func (a *app) notices() (texts []string) {
	a.t.Helper()
	timeline, err := a.Timeline(a.t.Context(), a.adminRoom())
	require.NoError(a.t, err)
	for _, evt := range timeline {
		if evt.Sender != rig.OwnerID && evt.Type == event.EventMessage {
			texts = append(texts, bodyOf(a.t, evt))
		}
	}
	return texts
}
