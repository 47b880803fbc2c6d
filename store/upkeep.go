package store

import (
	"context"
	"time"

	"multis/store/row"
)

// pruneUsageSQL deletes the costs of calls and the budgets of days before a time. The budget of a task has no day: it is
// deleted with the last of its calls.
const pruneUsageSQL = `with gone as (delete from usage where created_at < $1 returning 1),
	days as (delete from budgets where day < $1::date and cap <> 'run'),
	runs as (delete from budgets b where b.cap = 'run' and not exists (select from usage u where u.run = b.subject and u.run <> '' and u.created_at >= $1))
	select count(*) from gone`

// PruneUsage deletes the costs of calls from before a time, and returns their number.
func PruneUsage(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Value[int](ctx, w, "prune usage", pruneUsageSQL, before)
}

const clearExpiredLeasesSQL = `with freed as (update chats set locked_by = '', locked_until = '-infinity'
	where locked_by <> '' and locked_until < now() - interval '10 minutes' returning 1) select count(*) from freed`

// ClearExpiredLeases clears leases on chats that expired more than 10 minutes ago, and returns how many.
func ClearExpiredLeases(ctx context.Context, w Writer) (int, error) {
	return row.Value[int](ctx, w, "free leases", clearExpiredLeasesSQL)
}

const analyzeSQL = "analyze chats, messages, message_index, notes, note_sections, outbox, chunks, chunk_index, term_stats, message_terms, documents, schedules, schedule_executions"

// Analyze updates the planner's statistics, which Postgres does not do for slow growth.
func Analyze(ctx context.Context, w Writer) error {
	return row.Exec(ctx, w, "analyze", analyzeSQL)
}
