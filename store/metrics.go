package store

import (
	"context"
	"time"

	"multis/store/row"
)

// Measurement is a number about the work of multis. A and B are two words that tell the numbers of a family apart; they are names of states,
// kinds, codes, queues, models and tools, and empty where one is not needed.
type Measurement struct {
	Family string
	A, B   string
	Value  float64
}

// measurementsSQL counts what happened since $1, which is the begin of the day $2, and what waits now. Each part reads an index, or the
// messages of the day.
const measurementsSQL = `with yesterday as (select coalesce(max(id), 0) as id from (select id from messages where received_at < $1 order by id desc limit 1) m),
	live as (select queue, state::text as state, attempt, scheduled_at from river.river_job where state in ('available', 'running', 'retryable', 'scheduled')),
	done as (select id, state, extract(epoch from finished_at - coalesce(started_at, created_at))::float8 as seconds from tasks where finished_at >= $1),
	calls as (select s.name, s.code, s.is_error from task_steps s join done t on t.id = s.task_id where s.kind = 'tool'),
	paid as (select split_part(model, '/', 1) as provider, substr(model, strpos(model, '/') + 1) as model, purpose, tokens_in, tokens_out, coalesce(cost, reserved) as cost
		from usage where day = $2::date)
	select 'decisions' as family, action as a, code as b, count(*)::float8 as value from messages
		where id > (select id from yesterday) and parked is null and action <> 'transcribe' group by action, code
	union all select 'sends', 'sent', '', count(*) from outbox where created_at >= $1::timestamptz - interval '2 days' and sent_at >= $1
	union all select 'sends', 'delivered', '', count(*) from outbox where created_at >= $1::timestamptz - interval '2 days' and delivered_at >= $1
	union all select 'sends', state, '', count(*) from outbox where created_at >= $1 and state in ('failed', 'dropped') group by state
	union all select 'suppressed', code, '', count(*) from outbox where created_at >= $1 and state = 'dropped' group by code
	union all select 'waiting', 'queued', '', count(*) from outbox where state = 'queued'
	union all select 'waiting', 'draft', '', count(*) from outbox where state = 'draft' and coalesce(part_of = id, true)
	union all select 'waiting', 'escalation', '', count(*) from escalations where closed_at is null
	union all select 'waiting', 'key', '', count(*) from messages where parked is not null
	union all select 'waiting_age', 'queued', '', coalesce(extract(epoch from now() - min(created_at)), 0) from outbox where state = 'queued'
	union all select 'waiting_age', 'draft', '', coalesce(extract(epoch from now() - min(created_at)), 0) from outbox where state = 'draft'
	union all select 'waiting_age', 'escalation', '', coalesce(extract(epoch from now() - min(opened_at)), 0) from escalations where closed_at is null
	union all select 'escalations', cause, '', count(*) from escalations where opened_at >= $1 group by cause
	union all select 'unsupported', '', '', count(*) from escalations where opened_at >= $1 and cause = 'unsupported'
	union all select 'jobs', queue, state, count(*) from live group by queue, state
	union all select 'job_age', queue, '', extract(epoch from now() - min(scheduled_at)) from live where state = 'available' and scheduled_at <= now() group by queue
	union all select 'job_attempts', queue, '', max(attempt) from live group by queue
	union all select 'tasks', state, '', count(*) from tasks where finished_at is null group by state
	union all select 'task_seconds', state, '', sum(seconds) from done group by state
	union all select 'task_bucket', state, le, count(*) filter (where seconds <= le::float8) from done, unnest(array['0.5', '1', '2', '5', '10', '30', '60', '300', '+Inf']) le group by state, le
	union all select 'tool_calls', name, '', count(*) from calls group by name
	union all select 'tool_errors', name, code, count(*) from calls where is_error group by name, code
	union all select 'requests', provider, model, count(*) from paid group by provider, model
	union all select 'tokens', provider, 'in', sum(tokens_in) from paid group by provider
	union all select 'tokens', provider, 'out', sum(tokens_out) from paid group by provider
	union all select 'cost', purpose, '', sum(cost) / 1e6 from paid group by purpose
	union all select 'committed', '', '', coalesce(sum(committed), 0) / 1e6 from budgets where day = $2::date and cap = 'day'
	union all select 'monitors', state, '', count(*) from (select case when paused then 'paused' when failures > 0 then 'failing' else 'good' end as state from monitors) m group by state
	union all select 'monitor_alerts', '', '', coalesce(sum(alerts), 0) from monitors
	union all select 'door_age', 'sync', '', extract(epoch from now() - updated_at) from settings where key = '` + string(SettingSyncToken) + `'
	union all select 'door_age', 'push', '', extract(epoch from now() - (value #>> '{}')::timestamptz) from settings where key = '` + string(SettingPushedAt) + `'`

// Measurements counts what happened since the begin of a day, and what waits now.
func Measurements(ctx context.Context, db DB, begin time.Time) ([]Measurement, error) {
	return row.All[Measurement](ctx, db, "measurements", measurementsSQL, begin, begin.Format(time.DateOnly))
}

// PoolUse is the use of the connections of an open Store.
type PoolUse struct {
	InUse, Idle, Max int
	Waits            int64         // how often nobody got a connection at once
	Waited           time.Duration // for how long, all together
}

// PoolUse returns the use of the connections.
func (s *Store) PoolUse() PoolUse {
	p := s.pool.Stat()
	return PoolUse{int(p.AcquiredConns()), int(p.IdleConns()), int(p.MaxConns()), p.EmptyAcquireCount(), p.EmptyAcquireWaitTime()}
}
