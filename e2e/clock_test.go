//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
)

// receiver is a program that is told of events, as a hook.
type receiver struct {
	mu     sync.Mutex
	events map[string]string // the text of the message, by webhook-id
}

func openReceiver(t *testing.T) (*receiver, string) {
	t.Helper()
	r := &receiver{events: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		var event struct{ Message struct{ Text string } }
		if json.NewDecoder(req.Body).Decode(&event) == nil {
			r.mu.Lock()
			r.events[req.Header.Get("Webhook-Id")] = event.Message.Text
			r.mu.Unlock()
		}
	}))
	t.Cleanup(server.Close)
	return r, server.URL
}

func (r *receiver) count(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, got := range r.events {
		if got == text {
			n++
		}
	}
	return n
}

// reaper kills multis once for each message that it sends to the admin room, while it is armed.
type reaper struct {
	a       *app
	mu      sync.Mutex
	isArmed bool
	before  bool            // Synapse sees the message only when it is sent again
	struck  map[string]bool // by transaction
	dead    chan struct{}
}

func (r *reaper) arm(on, before bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.isArmed, r.before = on, before
}

func (r *reaper) strike(s sendRequest, before bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isArmed || s.Sender != bot || s.Type != "m.room.message" || before != r.before || r.struck[s.Txn] {
		return false
	}
	r.struck[s.Txn] = true
	if err := r.a.process.Kill(); err != nil {
		panic(err) // a child of ours that cannot be killed
	}
	r.dead <- struct{}{}
	return true
}

// restart starts multis again if it was killed.
func (r *reaper) restart() {
	select {
	case <-r.dead:
		r.a.run()
	default:
	}
}

// Nobody takes an escalation, and multis is killed at each message about it, or is down when somebody is to be called.
// The operators, the owner and the hook are called once each, in that order.
func TestClock_CallsOnceDespiteKills(t *testing.T) {
	told, address := openReceiver(t)
	hook := fmt.Sprintf("{url: %q, private: true, events: [unclaimed], secret: whsec_Zm9ydHktdHdvIGJ5dGVzIGFyZSBlbm91Z2ggZm9yIGl0}", address)
	a := start(t, setup{
		Operators: fmt.Sprintf("[\"@ola:%s\"]", devstack.Domain),
		Extra:     "business: {escalation: {claim_within: 2s}}\nhooks: {desk: " + hook + "}",
	})
	a.operator(t, "ola")
	k := &reaper{a: a, struck: map[string]bool{}, dead: make(chan struct{}, 1)}
	a.back.onSend(func(s sendRequest) verdict {
		if k.strike(s, true) {
			return lost
		}
		return passed
	})
	a.back.afterSend(func(s sendRequest) { k.strike(s, false) })
	for _, name := range []string{"before", "after", "down"} {
		t.Run(name, func(t *testing.T) {
			contact, question := "clock-"+name, "I want to speak to a person about "+name
			a.switchToBusiness(contact)
			k.arm(name != "down", name == "before")
			_, err := a.Say(t.Context(), contact, question)
			require.NoError(t, err)
			if name == "down" {
				a.awaitDeliveries(contact, 1)
				require.NoError(t, a.process.Kill())
				a.await("the time of the owner's call", func(ctx context.Context) (bool, error) {
					return a.exists(ctx,
						"select exists (select from escalations e join messages m on m.id = e.message_id where m.body = $1 and e.opened_at + interval '4 seconds' < now())", question)
				})
				a.run()
			}
			a.await("the hook", func(context.Context) (bool, error) {
				k.restart()
				return told.count(question) > 0, nil
			})
			k.arm(false, false)
			k.restart()
			a.awaitDeliveries(contact, 1) // that a person will answer
			require.Equal(t, 1, told.count(question), name)
		})
	}
	timeline, err := a.Timeline(t.Context(), a.adminRoom())
	require.NoError(t, err)
	var called []id.UserID
	for _, evt := range timeline {
		if m := evt.Content.AsMessage(); evt.Sender == bot && strings.HasPrefix(m.Body, "🔔") && strings.Contains(m.Body, "Clock-") {
			called = append(called, m.Mentions.UserIDs...)
		}
	}
	ola := id.NewUserID("ola", devstack.Domain)
	require.Equal(t, []id.UserID{ola, owner, ola, owner, ola, owner}, called)
}
