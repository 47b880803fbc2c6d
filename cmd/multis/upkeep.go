package main

import (
	"context"
	"fmt"
	"time"

	"multis/agent"
	"multis/clock"
	"multis/jobs"
	"multis/memory"
	"multis/store"
)

const (
	// historyTime is how long it is known when schedules ran, usageTime what a call cost.
	historyTime = 30 * 24 * time.Hour
	usageTime   = 400 * 24 * time.Hour
)

// upkeep returns the maintenance that multis does by itself: most of it at different times of the night, some every six hours, and some at each
// start too.
func upkeep(st *store.Store, mem *memory.Memory, ag *agent.Agent) []clock.Upkeep {
	return []clock.Upkeep{
		{Name: "retention", Summary: "deletes what was said longer ago than memory.retention_days", Cron: "15 3 * * *", AtStart: true, Run: func(ctx context.Context) (string, error) {
			gone, err := mem.Retain(ctx)
			return fmt.Sprintf("%d messages, %d notes, %d things said and %d tasks deleted", gone.Messages, gone.Notes, gone.OutboxMessages, gone.Tasks), err
		}},
		{Name: "history", Summary: "forgets runs older than 30 days", Cron: "10 4 * * *", Run: func(ctx context.Context) (text string, err error) {
			err = st.InTx(ctx, func(tx store.Tx) error {
				runs, schedules, err := store.PruneRuns(ctx, tx, time.Now().Add(-historyTime))
				text = fmt.Sprintf("%d runs and %d finished jobs forgotten", runs, schedules)
				return err
			})
			return text, err
		}},
		{Name: "events", Summary: "forgets the ids of events that cannot come again", Cron: "20 */6 * * *", Run: func(ctx context.Context) (string, error) {
			n, err := store.DropOldEvents(ctx, st.Writer())
			return fmt.Sprintf("%d ids forgotten", n), err
		}},
		{Name: "tasks", Summary: "forgets what agents did long ago", Cron: "25 */6 * * *", Run: func(ctx context.Context) (string, error) {
			return "looked", store.DropOldTasks(ctx, st.Writer())
		}},
		{Name: "usage", Summary: "forgets what calls cost more than 13 months ago", Cron: "30 4 * * 1", Run: func(ctx context.Context) (string, error) {
			n, err := store.PruneUsage(ctx, st.Writer(), time.Now().Add(-usageTime))
			return fmt.Sprintf("%d calls forgotten", n), err
		}},
		{Name: "matters", Summary: "forgets what the heartbeat judged long ago", Cron: "35 4 * * *", Run: func(ctx context.Context) (string, error) {
			n, err := store.PruneMatters(ctx, st.Writer(), time.Now().Add(-historyTime))
			return fmt.Sprintf("%d matters forgotten", n), err
		}},
		{Name: "deliveries", Summary: "forgets what hooks were told more than 30 days ago", Cron: "45 4 * * *", Run: func(ctx context.Context) (string, error) {
			return "looked", store.PruneDeliveries(ctx, st.Writer(), time.Now().Add(-historyTime))
		}},
		{Name: "statistics", Summary: "has the database look at what it holds", Cron: "40 4 * * *", Run: func(ctx context.Context) (string, error) {
			return "looked", store.Analyze(ctx, st.Writer())
		}},
		{Name: "leases", Summary: "frees chats that an interrupted turn still names", Cron: "50 4 * * *", Run: func(ctx context.Context) (string, error) {
			n, err := store.FreeLeases(ctx, st.Writer())
			return fmt.Sprintf("%d chats freed", n), err
		}},
		{Name: "skills", Summary: "looks whether the files of skills can be read", Cron: "5 5 * * *", AtStart: true, Run: func(ctx context.Context) (string, error) {
			ag.CheckSkills(ctx)
			return "looked", nil
		}},
		{Name: "orphans", Summary: "gives waiting work without a job a job, as happens every minute", Cron: "0 5 * * *", Run: func(ctx context.Context) (string, error) {
			return "looked", jobs.Sweep(ctx, st)
		}},
	}
}
