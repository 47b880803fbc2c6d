package main

import (
	"context"
	"fmt"
	"time"

	"multis/clock"
	"multis/jobs"
	"multis/outbox"
	"multis/safety/audit"
	"multis/store"
)

// upkeepTasks returns the maintenance tasks with the cron expressions by which they run. Some also run at each start.
func upkeepTasks(a *assistant) []clock.Upkeep {
	st, mem := a.store, a.memory
	var prune []clock.Upkeep
	for _, r := range retentions(st) {
		prune = append(prune, r.upkeep())
	}
	return append(prune, []clock.Upkeep{
		{
			Name:    "retention",
			Summary: "deletes what was said longer ago than memory.retention_days",
			Cron:    "15 3 * * *",
			AtStart: true,
			Run: func(ctx context.Context) (string, error) {
				gone, err := mem.ApplyRetention(ctx)
				return fmt.Sprintf("%d messages, %d notes, %d things said and %d tasks deleted", gone.Messages, gone.Notes, gone.OutboxMessages,
					gone.Tasks), err
			},
		},
		{
			Name:    "audit",
			Summary: "posts the last link of the audit log and prunes what is older than audit.retention_days",
			Cron:    "0 8 * * *",
			Run:     a.keepAudit,
		},
		{
			Name: "shadow", Summary: "posts how close the shadow answers of the week were to the owner's", Cron: "0 8 * * 1",
			Run: func(ctx context.Context) (string, error) {
				n, err := a.admin.Shadows.Report(ctx)
				return fmt.Sprintf("%d chats with shadow answers", n), err
			},
		},
		{
			Name: "judge", Summary: "has the model compare shadow answers with the owner's, where their words do not tell", Cron: "40 * * * *",
			Run: func(ctx context.Context) (string, error) {
				n, err := a.agent.Shadows.Judge(ctx)
				return fmt.Sprintf("%d shadow answers compared", n), err
			},
		},
		{
			Name: "desk", Summary: "posts the numbers of the business of the last 24 hours", Cron: "0 8 * * *",
			Run: func(ctx context.Context) (string, error) {
				n, err := a.admin.Desk.Report(ctx)
				return fmt.Sprintf("%d things counted", n), err
			},
		},
		{
			Name: "statistics", Summary: "brings the statistics of the query planner up to date", Cron: "40 4 * * *",
			Run: func(ctx context.Context) (string, error) {
				return "analyzed", store.Analyze(ctx, st.Writer())
			},
		},
		{
			Name: "leases", Summary: "frees chats that an interrupted turn still names", Cron: "50 4 * * *",
			Run: func(ctx context.Context) (string, error) {
				n, err := store.ClearExpiredLeases(ctx, st.Writer())
				return fmt.Sprintf("%d chats freed", n), err
			},
		},
		{
			Name:    "skills",
			Summary: "checks whether the files of skills can be read",
			Cron:    "5 5 * * *",
			AtStart: true,
			Run: func(ctx context.Context) (string, error) {
				a.agent.CheckSkills(ctx)
				return "checked", nil
			},
		},
		{
			Name: "orphans", Summary: "gives waiting work without a job a job, as happens every minute", Cron: "0 5 * * *",
			Run: func(ctx context.Context) (string, error) {
				return "checked", jobs.Sweep(ctx, st)
			},
		},
	}...)
}

// keepAudit prunes the audit log and posts the hash of its last entry into the admin room, so that a later change of the
// log can be detected.
func (a *assistant) keepAudit(ctx context.Context) (done string, err error) {
	err = a.store.InTx(ctx, func(tx store.Tx) error { // without an admin room as well
		pruned, err := a.audit.Prune(ctx, tx, time.Now().AddDate(0, 0, -a.cfg.Audit.RetentionDays))
		done = fmt.Sprintf("%d entries pruned", pruned)
		return err
	})
	if err != nil {
		return "", err
	}
	err = a.store.InTx(ctx, func(tx store.Tx) error {
		head, err := store.AuditHead(ctx, tx)
		if err != nil {
			return err
		}
		return a.box.NotifyOwner(ctx, tx, outbox.Quiet,
			fmt.Sprintf("Audit log: link %[1]d is `%[2]x`. `/audit verify %[1]d %[2]x` checks the log, and that it is still this one.", head.Seq,
				audit.ShortHash(head)))
	})
	return done, err
}
