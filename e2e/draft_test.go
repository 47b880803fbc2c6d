//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
)

func TestADraftGoesAfterAYesThatComesPastAKill(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("draft-ida")
	require.Contains(t, a.command("/delivery draft Draft-ida"), "once you say yes")
	_, err := a.Say(t.Context(), "draft-ida", question)
	require.NoError(t, err)
	a.await("the draft", func(context.Context) (bool, error) {
		return strings.Contains(last(a.notices()), "Draft for Draft-ida"), nil
	})
	require.Contains(t, last(a.notices()), "80 EUR")
	require.Empty(t, a.deliveriesSoFar("draft-ida"))
	require.NoError(t, a.process.Kill())
	a.run()
	var shown id.EventID
	a.await("the event that shows it", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx, "select coalesce(max(o.event_id), '') from dialogs d join outbox o on o.id = d.outbox_id where d.kind = 'draft'").Scan(&shown)
		return shown != "", err
	})
	yes, err := a.Owner.SendReaction(t.Context(), a.adminRoom(), shown, "👍")
	require.NoError(t, err)
	require.Contains(t, a.answer(yes.EventID), "It goes to")
	a.await("the answer", func(context.Context) (bool, error) { return len(a.deliveriesSoFar("draft-ida")) > 0, nil })
	a.await("the end of all sends", func(ctx context.Context) (bool, error) {
		var open int
		err := a.db.DB().QueryRow(ctx, "select count(*) from river.river_job where kind = 'send' and finalized_at is null").Scan(&open)
		return open == 0, err
	})
	var sent int
	require.NoError(t, a.db.DB().QueryRow(t.Context(), "select count(*) from outbox where send_as = 'owner' and event_id is not null").Scan(&sent))
	require.Equal(t, 1, sent, "one event for the contact")
	require.Len(t, a.deliveriesSoFar("draft-ida"), 1)
	require.Contains(t, a.deliveriesSoFar("draft-ida")[0].Text, "80 EUR")
}

// deliveriesSoFar is what has reached a contact's phone by now.
func (a *app) deliveriesSoFar(contact string) []demonet.Delivery {
	a.t.Helper()
	got, err := a.Delivered(a.t.Context(), contact)
	require.NoError(a.t, err)
	return got
}
