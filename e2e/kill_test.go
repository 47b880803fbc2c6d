//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
	"multis/llm/llmtest"
	"multis/policy"
)

// draft is a model's answer with a quote from the price list.
const draft = `{"sentences": [{"text": "It costs 80 EUR.", "source": 1, "quote": "A consultation costs 80 EUR"}]}`

// killer kills multis once per contact, at a moment that depends on the contact's number.
type killer struct {
	a     *app
	mu    sync.Mutex
	done  map[string]bool // by contact
	rooms map[id.RoomID]string
	dead  chan struct{} // gets a value after each kill
}

// The moments of a kill, in turn.
const (
	whileModelThinks = iota // the answer is not even known
	beforeTheSend           // the outbox row is committed, Synapse has nothing
	afterTheSend            // Synapse has it, multis does not know
	moments
)

func stormContact(round int) string { return fmt.Sprintf("kill-%d", round) }

var stormQuestion = regexp.MustCompile(`consultation cost, for (kill-\d+)\?\n=== \w+ end`)

func (k *killer) strike(contact string, moment int) bool {
	var round int
	if _, err := fmt.Sscanf(contact, "kill-%d", &round); err != nil || round%moments != moment {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.done[contact] {
		return false
	}
	k.done[contact] = true
	if err := k.a.process.Kill(); err != nil {
		panic(err) // a child of ours that cannot be killed
	}
	k.dead <- struct{}{}
	return true
}

func (k *killer) model(ctx context.Context, r llmtest.Request) llmtest.Reply {
	if found := stormQuestion.FindStringSubmatch(r.Last()); found != nil && k.strike(found[1], whileModelThinks) {
		<-ctx.Done()
	}
	return llmtest.Reply{Text: draft}
}

func (k *killer) send(s sendRequest) verdict {
	k.mu.Lock()
	contact := k.rooms[s.Room]
	k.mu.Unlock()
	switch {
	case contact == "" || s.Sender != rig.OwnerID:
		return passed
	case k.strike(contact, beforeTheSend):
		return lost
	default:
		return passed
	}
}

func (k *killer) sent(s sendRequest) {
	k.mu.Lock()
	contact := k.rooms[s.Room]
	k.mu.Unlock()
	if contact != "" && s.Sender == rig.OwnerID {
		k.strike(contact, afterTheSend)
	}
}

func TestKill_BetweenModelAndSend(t *testing.T) {
	k := &killer{done: map[string]bool{}, rooms: map[id.RoomID]string{}, dead: make(chan struct{}, 1)}
	model := llmtest.Start(t, k.model)
	k.a = start(t, setup{Profile: "business", Model: model.URL})
	a := k.a
	a.learn()
	a.back.onSend(k.send)
	a.back.afterSend(k.sent)

	asked := map[string]time.Time{}
	for round := range kills {
		contact := stormContact(round)
		room := a.portal(contact)
		k.mu.Lock()
		k.rooms[room] = contact
		k.mu.Unlock()
		a.awaitNoTurn()
		asked[contact] = time.Now()
		_, err := a.Say(t.Context(), contact, "What does a consultation cost, for "+contact+"?")
		require.NoError(t, err)
		select {
		case <-k.dead:
		case <-time.After(rig.AwaitTimeout):
			require.Fail(t, "multis was not killed", contact)
		}
		a.run()
	}
	for contact, at := range asked {
		got := a.awaitDeliveries(contact, 1)
		t.Log(contact, "waited", got[0].Time.Sub(at).Round(time.Millisecond))
		require.Contains(t, got[0].Text, "80 EUR")
		require.Less(t, got[0].Time.Sub(at), patience, "how long %s waited", contact)
	}
	require.Equal(t, kills, a.count("select count(*) from outbox where purpose = $1", policy.PurposeReply))
}

// portal creates the chat of a contact by a message that is too old to be answered.
func (a *app) portal(contact string) id.RoomID {
	a.t.Helper()
	said, err := a.Network.Say(a.t.Context(), contact, tooOldLine("hi"))
	require.NoError(a.t, err)
	a.awaitMessage(said.Event)
	return said.Room
}

const workingSQL = `select exists (select from river.river_job where kind in ('turn', 'send') and state = 'running')`

// awaitNoTurn waits until no turn or send is running, so that a kill hits the intended one only. Turns that wait for the lease of a
// killed process may remain.
func (a *app) awaitNoTurn() {
	a.t.Helper()
	a.await("no turn to be under way", func(ctx context.Context) (bool, error) {
		working, err := a.exists(ctx, workingSQL)
		return !working, err
	})
}
