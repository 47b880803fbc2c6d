package memory

import (
	"context"
	"time"

	"multis/clock/schedule"
	"multis/store"
)

// expireBatch is how many messages, and how many captures, one transaction deletes.
const expireBatch = 5000

// ApplyRetention deletes what is older than the rules allow, and returns how much that was. Days end at midnight in the owner's time zone.
func (m *Memory) ApplyRetention(ctx context.Context) (store.DeletionCounts, error) {
	var all store.DeletionCounts
	cut := store.Cutoffs{Chats: m.midnightDaysAgo(m.Settings.Days), Owner: m.midnightDaysAgo(m.Settings.OwnerDays)}
	for _, expire := range []func(context.Context, store.Tx, store.Cutoffs, int) (store.DeletionCounts, error){
		store.ExpireMessages,
		store.ExpireRest,
	} {
		for more := true; more; {
			var gone store.DeletionCounts
			err := m.Store.InTx(ctx, func(tx store.Tx) (err error) {
				gone, err = expire(ctx, tx, cut, expireBatch)
				return err
			})
			if err != nil {
				return all, err
			}
			all = all.Add(gone)
			more = !gone.IsZero()
		}
	}
	return all, nil
}

// midnightDaysAgo returns the midnight at which the day a number of days ago began.
func (m *Memory) midnightDaysAgo(days int) time.Time {
	now := m.Now().In(m.Zone)
	return schedule.DayStart(now.Year(), now.Month(), now.Day()-days, m.Zone)
}
