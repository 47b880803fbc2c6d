//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/store"
)

// reminders come due over remindFor, while multis is killed.
const (
	reminders = 60
	remindFor = 12 * time.Second
)

// Synapse takes some forty events a second; the storm of ten thousand has a homeserver that answers at once.
func TestReminder_ComesOnceDespiteKill(t *testing.T) {
	a := start(t, setup{})
	begin := time.Now().Add(2 * time.Second)
	require.NoError(t, a.db.InTx(t.Context(), func(tx store.Tx) error {
		for i := range reminders {
			number, err := store.NextScheduleID(t.Context(), tx)
			if err != nil {
				return err
			}
			at := begin.Add(remindFor * time.Duration(i) / reminders).Truncate(time.Microsecond)
			s := store.Schedule{
				ID:        number,
				Kind:      "at",
				Zone:      "UTC",
				NextAt:    &at,
				Action:    store.ActionSay,
				Body:      fmt.Sprintf("storm %d.", i),
				CatchUp:   store.CatchOnce,
				CreatedBy: a.Owner.UserID,
				CreatedAt: time.Now(),
			}
			if err := store.InsertSchedule(t.Context(), tx, s); err != nil {
				return err
			}
			if err := jobs.Enqueue(t.Context(), tx, jobs.NextTick(number, at)); err != nil {
				return err
			}
		}
		return nil
	}))
	a.await("some of them to have come", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select count(*) > $1 from schedule_executions where outbox_id is not null", 5+rand.IntN(reminders/2))
	})
	require.NoError(t, a.process.Kill())
	a.run()
	a.await("all of them to be sent", func(ctx context.Context) (bool, error) {
		return a.exists(ctx,
			"select count(*) = $1 from schedule_executions r join outbox o on o.id = r.outbox_id where o.state in ('sent', 'delivered')", reminders)
	})
	var came map[string]int
	a.await("the owner to see all of them", func(context.Context) (bool, error) {
		came = map[string]int{}
		for _, text := range a.notices() {
			if rest, found := strings.CutPrefix(text, "⏰ storm "); found {
				number, _, _ := strings.Cut(rest, ".")
				came[number]++
			}
		}
		return len(came) == reminders, nil
	})
	for number, times := range came {
		require.Equal(t, 1, times, "reminder %s", number)
	}
	require.Equal(t, reminders, a.count("select count(*) from schedule_executions where outbox_id is not null"))
}
