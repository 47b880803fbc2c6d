package store

import (
	"context"
	"time"

	"multis/store/row"
)

// Activity counts the events of one kind.
type Activity struct {
	What   string // "message", "written" (an outbox message), "tool", "approval" or "task"
	Name   string // the reason, the purpose, the tool or the outcome
	Times  int
	Failed int
}

const activitySinceSQL = `select what, name, times, failed from (
		select 1 as place, 'message' as what, code as name, count(*) as times, 0 as failed from messages where received_at >= $1 and author = 'contact' group by code
		union all select 2, 'written', purpose, count(*), count(*) filter (where state in ('failed', 'dropped')) from outbox where created_at >= $1 group by purpose
		union all select 3, 'tool', name, count(*), count(*) filter (where is_error) from task_steps where started_at >= $1 and kind = 'tool' group by name
		union all select 4, 'approval', case when allowed then 'allowed' when not allowed then 'refused' else 'not answered' end, count(*), 0
			from approvals where created_at >= $1 group by 3
		union all select 5, 'task', kind || ' ' || state, count(*), 0 from tasks where created_at >= $1 group by kind, state) a
	order by place, times desc, name limit 100`

// ActivitySince counts what happened since a time. It returns numbers only, no texts.
func ActivitySince(ctx context.Context, db DB, since time.Time) ([]Activity, error) {
	return row.All[Activity](ctx, db, "what was done", activitySinceSQL, since)
}
