//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
	"multis/e2e/rig"
)

// awaitSends waits until nothing is being sent. Beside a draft multis is never idle, because a job waits for the time when it is dropped.
func (a *app) awaitSends() {
	a.t.Helper()
	a.await("the end of all sends", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select not exists (select from river.river_job where kind in ('turn', 'send', 'command') and finalized_at is null)")
	})
}

// deliveriesSoFar is what has reached a contact's phone by now.
func (a *app) deliveriesSoFar(contact string) []demonet.Delivery {
	a.t.Helper()
	got, err := a.Delivered(a.t.Context(), contact)
	require.NoError(a.t, err)
	return got
}

// The steps of a draft between which multis is killed.
const (
	beforeTheCard   = iota // the draft is stored, the admin room has nothing
	afterTheCard           // the admin room has it, multis does not know
	afterTheYes            // the owner has said yes, multis may not have handled it
	beforeTheAnswer        // the yes is stored, the contact has nothing
	afterTheAnswer         // the contact has it, multis does not know
	draftSteps
)

// assassin kills multis once, when it sends an event to a room.
type assassin struct {
	a       *app
	mu      sync.Mutex
	room    id.RoomID
	sender  id.UserID
	before  bool // Synapse never sees the event
	isArmed bool
	dead    chan struct{}
}

func (k *assassin) arm(room id.RoomID, sender id.UserID, before bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.room = room
	k.sender = sender
	k.before = before
	k.isArmed = true
}

// strike kills multis if s is the event that it waits for.
func (k *assassin) strike(s sendRequest, before bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.isArmed || s.Room != k.room || s.Sender != k.sender || before != k.before || s.Type != "m.room.message" {
		return false
	}
	k.isArmed = false
	if err := k.a.process.Kill(); err != nil {
		panic(err) // a child of ours that cannot be killed
	}
	k.dead <- struct{}{}
	return true
}

func (k *assassin) await() {
	k.a.t.Helper()
	select {
	case <-k.dead:
	case <-time.After(rig.AwaitTimeout):
		require.Fail(k.a.t, "multis was not killed")
	}
	k.a.run()
}

// Whichever step of a draft multis is killed at, there is one card, and the contact gets the answer once.
func TestDraft_SurvivesKillAtEachStep(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	k := &assassin{a: a, dead: make(chan struct{}, 1)}
	a.back.onSend(func(s sendRequest) verdict {
		if k.strike(s, true) {
			return lost
		}
		return passed
	})
	a.back.afterSend(func(s sendRequest) { k.strike(s, false) })
	bot := id.UserID("@multis:" + devstack.Domain)
	for step := range draftSteps {
		contact := fmt.Sprintf("steps-%d", step)
		a.switchToBusiness(contact)
		chat := a.chat(contact)
		require.Contains(t, a.command("/delivery draft "+chat.Name), "once you say yes")
		a.awaitSends()
		if step == beforeTheCard || step == afterTheCard {
			k.arm(a.adminRoom(), bot, step == beforeTheCard)
		}
		_, err := a.Say(t.Context(), contact, question)
		require.NoError(t, err)
		if step == beforeTheCard || step == afterTheCard {
			k.await()
		}
		var card id.EventID
		a.await("the card", func(ctx context.Context) (bool, error) {
			err := a.db.DB().QueryRow(ctx,
				"select coalesce(max(o.event_id), '') from dialogs d join outbox o on o.id = d.outbox_id join outbox r on r.id = d.draft_id where d.kind = 'draft' and r.chat_id = $1", chat.ID).Scan(&card)
			return card != "", err
		})
		a.awaitSends()
		require.Empty(t, a.deliveriesSoFar(contact), "nothing goes out without a yes")
		if step == beforeTheAnswer || step == afterTheAnswer {
			k.arm(*chat.RoomID, rig.OwnerID, step == beforeTheAnswer)
		}
		_, err = a.Owner.SendReaction(t.Context(), a.adminRoom(), card, "👍")
		require.NoError(t, err)
		switch step {
		case afterTheYes:
			require.NoError(t, a.process.Kill())
			a.run()
		case beforeTheAnswer, afterTheAnswer:
			k.await()
		}
		a.await("the answer", func(context.Context) (bool, error) { return len(a.deliveriesSoFar(contact)) > 0, nil })
		a.awaitSends()
		require.Len(t, a.deliveriesSoFar(contact), 1)
		require.Contains(t, a.deliveriesSoFar(contact)[0].Text, "80 EUR")
		require.Equal(t, 1, a.count("select count(*) from outbox where chat_id = $1 and event_id is not null", chat.ID))
		require.Equal(t, 1, a.cards(chat.Name), "cards at step %d", step)
	}
}

// cards counts the drafts for a chat that the admin room shows, without edits.
func (a *app) cards(chat string) (n int) {
	a.t.Helper()
	timeline, err := a.Timeline(a.t.Context(), a.adminRoom())
	require.NoError(a.t, err)
	for _, evt := range timeline {
		if content, ok := evt.Content.Parsed.(*event.MessageEventContent); ok && content.RelatesTo.GetReplaceID() == "" &&
			strings.Contains(content.Body, "Draft for "+chat) {
			n++
		}
	}
	return n
}
