package store

import (
	"context"
	"fmt"
	"time"
)

// number reads the one number of a query.
func number(ctx context.Context, db DB, what, sql string, args ...any) (int, error) {
	var n int
	if err := db.QueryRow(ctx, sql, args...).Scan(&n); err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return n, nil
}

// pruneUsageSQL keeps the budget of a run for as long as one of its calls: it belongs to no day.
const pruneUsageSQL = `with gone as (delete from usage where created_at < $1 returning 1),
	days as (delete from budgets where day < $1::date and cap <> 'run'),
	runs as (delete from budgets b where b.cap = 'run' and not exists (select from usage u where u.run = b.subject and u.run <> '' and u.created_at >= $1))
	select count(*) from gone`

// PruneUsage forgets what calls from before a time cost.
func PruneUsage(ctx context.Context, db DB, before time.Time) (int, error) {
	return number(ctx, db, "prune usage", pruneUsageSQL, before)
}

const freeLeasesSQL = `with freed as (update chats set locked_by = '', locked_until = '-infinity'
	where locked_by <> '' and locked_until < now() - interval '10 minutes' returning 1) select count(*) from freed`

// FreeLeases takes chats back from turns that are long over. Their leases had ended already; this tidies the names.
func FreeLeases(ctx context.Context, db DB) (int, error) {
	return number(ctx, db, "free leases", freeLeasesSQL)
}

const analyzeSQL = "analyze chats, messages, message_index, notes, note_sections, outbox, chunks, chunk_index, term_stats, message_terms, documents, schedules, schedule_runs"

// Analyze has Postgres look at what the tables hold, so that it plans well after a quiet growth.
func Analyze(ctx context.Context, db DB) error {
	return exec(ctx, db, "analyze", analyzeSQL)
}
