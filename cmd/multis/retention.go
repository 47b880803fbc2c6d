package main

import (
	"context"
	"fmt"
	"time"

	"multis/clock"
	"multis/internal/text"
	"multis/store"
)

// retention is how long a kind of rows is stored, and what deletes older ones.
type retention struct {
	name    string // of the upkeep that prunes
	what    string // as docs/memory.md lists it
	period  time.Duration
	cron    string
	atStart bool
	prune   func(ctx context.Context, before time.Time) (int, error)
}

// retentions lists everything that is deleted after a fixed period. What people said is deleted by settings: see the
// upkeep named retention. The audit log is pruned by keepAudit.
func retentions(st *store.Store) []retention {
	w := st.Writer()
	return []retention{
		{
			name: "history", what: "executions of schedules, and schedules that ended", period: store.ExecutionRetention, cron: "10 4 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneExecutions(ctx, w, before) },
		},
		{
			name: "events", what: "ids of events, which tell a repeated event", period: store.SeenEventRetention, cron: "20 */6 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneSeenEvents(ctx, w, before) },
		},
		{
			name: "pending", what: "events and gaps of rooms that could not be read", period: store.PendingEventRetention, cron: "22 */6 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PrunePending(ctx, w, before) },
		},
		{
			name: "tasks", what: "tasks of agents, with their steps and approvals", period: store.TaskRetention, cron: "25 */6 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneTasks(ctx, w, before) },
		},
		{
			name: "usage", what: "costs of calls of models", period: store.UsageRetention, cron: "30 4 * * 1",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneUsage(ctx, w, before) },
		},
		{
			name: "matters", what: "findings of heartbeats", period: store.FindingRetention, cron: "35 4 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneJudgements(ctx, w, before) },
		},
		{
			name: "holds", what: "model holds that have ended", period: store.ModelHoldRetention, cron: "37 4 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneModelHolds(ctx, w, before) },
		},
		{
			name:    "deliveries",
			what:    "deliveries of webhooks",
			period:  store.DeliveryRetention,
			cron:    "45 4 * * *",
			atStart: true,
			prune:   func(ctx context.Context, before time.Time) (int, error) { return store.PruneDeliveries(ctx, w, before) },
		},
		{
			name: "requests", what: "ids of requests to incoming webhooks", period: store.WebhookRequestRetention, cron: "47 4 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) {
				return store.PruneWebhookRequests(ctx, w, before)
			},
		},
		{
			name: "dialogs", what: "questions to you that have expired", period: store.DialogRetention, cron: "48 4 * * *",
			prune: func(ctx context.Context, before time.Time) (int, error) { return store.PruneDialogs(ctx, w, before) },
		},
		{
			name: "files", what: "kept files of contacts that have expired", cron: "49 */6 * * *",
			prune: func(ctx context.Context, now time.Time) (int, error) { return store.DeleteExpiredFiles(ctx, w, now) },
		},
	}
}

// upkeep returns the maintenance that prunes.
func (r retention) upkeep() clock.Upkeep {
	summary := "deletes " + r.what
	if r.period > 0 {
		summary += ", after " + text.Duration(r.period)
	}
	return clock.Upkeep{
		Name:    r.name,
		Summary: summary,
		Cron:    r.cron,
		AtStart: r.atStart,
		Run: func(ctx context.Context) (string, error) {
			n, err := r.prune(ctx, time.Now().Add(-r.period))
			return fmt.Sprintf("%d deleted", n), err
		},
	}
}
