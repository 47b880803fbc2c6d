//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// The bridge tells it in its own room, which it encrypts where it encrypts everything.
func TestBridgeState_LostLoginIsNoticedOnce(t *testing.T) {
	for name, locked := range map[string]bool{"in plain text": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			a := start(t, setup{Locked: locked})
			a.learn()
			a.switchToBusiness("login-noa")
			const down, up, state = "I may not hear what is said to you", "works again", "says “logged out”"
			downs, ups := a.countNotices(down), a.countNotices(up)
			t.Cleanup(func() { require.NoError(t, a.Network.EndLogin(context.WithoutCancel(t.Context()), false)) })

			require.NoError(t, a.Network.EndLogin(t.Context(), true))
			a.await("a word about the login", func(context.Context) (bool, error) { return a.countNotices(down) > downs, nil })
			require.Contains(t, a.command("/status"), state)

			said, err := a.Say(t.Context(), "login-noa", question) // it is heard, and the answer does not get through
			require.NoError(t, err)
			a.await("the failure", func(ctx context.Context) (bool, error) {
				return a.exists(ctx,
					"select exists (select from messages m join outbox o on o.id = m.outbox_id where m.event_id = $1 and o.state = $2)", said.Event,
					store.OutboxFailed)
			})
			a.await("a word about it", func(context.Context) (bool, error) {
				return strings.Contains(last(a.notices()), "Not sent to Login-noa"), nil
			})
			require.NoError(t, a.process.Kill()) // a restart is no reason to tell it again
			a.run()
			a.awaitIdle()
			require.Equal(t, downs+1, a.countNotices(down), "told once, by the bridge's word or by the message's verdict")

			require.NoError(t, a.Network.EndLogin(t.Context(), false))
			a.await("a word that it is over", func(context.Context) (bool, error) { return a.countNotices(up) > ups, nil })
			require.NotContains(t, a.command("/status"), state)
			_, message := a.say("login-noa", question)
			require.Nil(t, message.RedactedAt)
			a.awaitDeliveries("login-noa", 1)
			require.Equal(t, ups+1, a.countNotices(up))
			require.Equal(t, downs+1, a.countNotices(down))
		})
	}
}
