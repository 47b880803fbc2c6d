package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"multis/store/row"
)

// The queries over the job queue's own tables, which are in the schema river. The kinds and arguments of jobs that they name are
// those of package jobs.

// deadClientsSQL is the beginning of a query. Its table gone holds the client ids of dead processes that left running
// jobs or the leadership behind. $1 is the client that asks, $2 is whether its own leftovers count, and $3 is LockClient.
const deadClientsSQL = `with dead as (
		select distinct split_part(client, '-', 2)::int as num, client
		from (select attempted_by[array_upper(attempted_by, 1)] as client from river.river_job where state = 'running'
			union select leader_id from river.river_leader) c
		where client ~ '^multis-[0-9]+$' and (client <> $1 or $2)),
	gone as materialized (select num, client from dead where client = $1 or not exists (
		select from pg_locks l where l.locktype = 'advisory' and l.classid = $3 and l.objid = dead.num and l.granted
			and l.database = (select oid from pg_database where datname = current_database())))`

// takeOverJobsSQL also tells the other processes that a dead leader resigned, because River itself looks for a dead
// leader every five seconds only. A process that is alive after all finds its lease gone and writes nothing.
const takeOverJobsSQL = deadClientsSQL + `,
	led as (delete from river.river_leader where leader_id in (select client from gone) returning leader_id),
	notified as (select led.leader_id from led cross join lateral
		pg_notify('river.river_leadership', json_build_object('leader_id', led.leader_id, 'action', 'resigned')::text)),
	taken as (update river.river_job set state = 'available', scheduled_at = now(), attempt = greatest(attempt - 1, 0)
		where state = 'running' and attempted_by[array_upper(attempted_by, 1)] in (select client from gone) returning id),
	freed as (update chats set locked_by = '', locked_until = '-infinity' where split_part(locked_by, '.', 1) in (select id::text from taken))
	select count(*) from taken where (select count(*) from notified) >= 0`

// TakeOverJobs makes the running jobs of dead processes available again, frees the chats that they had leased, and
// returns their number. A process is dead if nobody holds the lock LockClient of its client id. own also takes the jobs
// that run under client itself, for the start of a process.
func TakeOverJobs(ctx context.Context, tx Tx, client string, own bool) (int, error) {
	return row.Value[int](ctx, tx, "take over jobs of dead processes", takeOverJobsSQL, client, own, int32(LockClient))
}

// QueueState is what a process needs to know about the job queue.
type QueueState struct {
	HasAbandonedJobs     bool           `db:"abandoned"` // whether TakeOverJobs would take something over
	HasUnindexedMessages bool           `db:"unindexed"` // whether there are messages that are not in the message index
	NextDue              *time.Duration // until the next job is due; nil without one
}

// pollQueueSQL makes due jobs available; a trigger notifies the processes of them. It notifies again of available jobs
// that no process took, because a process that is just reconnecting misses notifications.
const pollQueueSQL = deadClientsSQL + `,
	due as (update river.river_job set state = 'available' where state in ('retryable', 'scheduled') and scheduled_at <= now()),
	notified as (select pg_notify('river.river_insert', '{"queue": "' || queue || '"}')
		from (select distinct queue from river.river_job where state = 'available' and scheduled_at <= now()) q)
	select exists (select from gone) as abandoned, (` + hasUnindexedSQL + `) as unindexed,
		(select min(scheduled_at) - clock_timestamp() from river.river_job where state in ('available', 'retryable', 'scheduled') and scheduled_at > now()) as next_due
	where (select count(*) from notified) >= 0`

// PollQueue starts the jobs that are due, and returns the state for the process with the given client id and lock. It
// uses the connection of the lock, so an error may mean that the lock is lost.
func PollQueue(ctx context.Context, lock *Lock, client string) (QueueState, error) {
	lock.mu.Lock()
	defer lock.mu.Unlock()
	return row.One[QueueState](ctx, lock.conn, "state of the job queue", pollQueueSQL, client, false, int32(LockClient))
}

// WorkKind is a kind of work that needs a job.
type WorkKind string

// The kinds of work. Each but WorkLostTask is also the kind of the job that does it.
const (
	WorkSend         WorkKind = "send"          // an outbox message that is queued
	WorkDraft        WorkKind = "present_draft" // a draft to show to the owner
	WorkTurn         WorkKind = "turn"          // a chat with messages to answer
	WorkCommand      WorkKind = "command"       // a message with a command
	WorkTranscribe   WorkKind = "transcribe"    // a voice message without its text
	WorkRun          WorkKind = "execution"     // an execution of a schedule
	WorkForget       WorkKind = "forget"        // a deletion that was asked for
	WorkTask         WorkKind = "task"          // a task of the owner's
	WorkChild        WorkKind = "subtask"       // a task that another task waits for
	WorkLostTask     WorkKind = "lost"          // a task that is too old or was tried too often: it can only fail
	WorkLateMessages WorkKind = "late_messages" // messages for the next digest; without an id
	WorkWatch        WorkKind = "check_page"    // a page to fetch again
	WorkMonitor      WorkKind = "check_monitor" // a monitor to check again
)

// Work is something that waits and has no job.
type Work struct {
	Kind     WorkKind
	ID       int64     // of its row; 0 for WorkSend, WorkDraft and WorkLateMessages
	OutboxID uuid.UUID `db:"out"` // the outbox message of WorkSend and WorkDraft
}

const workWithoutJobSQL = `with live as (select kind, args from river.river_job where state not in ('completed', 'cancelled', 'discarded'))
	select kind, id, coalesce(out, '00000000-0000-0000-0000-000000000000') as out from (
	select 'send' as kind, 0 as id, o.id as out from outbox o where o.state = 'queued' and o.created_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'send' and l.args->>'outbox' = o.id::text)
	union all
	select 'present_draft', 0, o.id from outbox o where o.state = 'draft' and coalesce(o.part_of = o.id, true) and o.created_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'present_draft' and l.args->>'outbox' = o.id::text)
	union all
	select 'present_draft', 0, o.id from outbox o where ` + withdrawnCardSQL +
	` and not exists (select from live l where l.kind = 'present_draft' and l.args->>'outbox' = o.id::text)
	union all
	select distinct 'turn', m.chat_id, null::uuid from messages m
		where m.answered_at is null and m.action in ('answer', 'escalate') and m.received_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'turn' and l.args->>'chat' = m.chat_id::text)
	union all
	select 'command', m.id, null from messages m where m.answered_at is null and m.action = 'command' and m.received_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind in ('command', 'ask') and l.args->>'message' = m.id::text)
	union all
	select 'transcribe', m.id, null from messages m where m.action = 'transcribe' and m.received_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'transcribe' and l.args->>'message' = m.id::text)
	union all
	select 'execution', r.id, null from schedule_executions r where r.state = 'running' and r.started_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'execution' and l.args->>'execution' = r.id::text)
	union all
	select 'forget', f.id, null from forgettings f where f.done_at is null and f.created_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'forget' and l.args->>'forgetting' = f.id::text)
	union all
	-- A task that has crashed its process 20 times, or is older than a day, is not retried: it fails, and the owner is notified.
	select case when t.state = 'running' and not retriable then 'lost' when t.parent_id is null then 'task' else 'subtask' end, t.id, null
		from tasks t, lateral (select t.attempt < 20 and t.created_at > now() - interval '1 day' as retriable) h
		where t.finished_at is null and t.kind <> all ($1) and t.state <> 'pending' and (retriable or t.state = 'running')
		and coalesce(t.started_at, t.created_at) < now() - interval '1 minute'
		and not exists (select from live l where (l.kind in ('task', 'subtask') and l.args->>'task' = t.id::text)
			or (l.kind in ('command', 'ask') and l.args->>'message' = t.message_id::text) or (l.kind = 'execution' and l.args->>'execution' = t.execution_id::text))
	union all
	select 'late_messages', 0, null where exists (select from messages where code = 'stale' and notified_at is null and received_at < now() - interval '1 minute')
		and not exists (select from live l where l.kind = 'late_messages')
	union all
	select 'check_page', w.id, null from watches w where w.kind = 'page' and w.next_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'check_page' and l.args->>'watch' = w.id::text)
	union all
	select 'check_monitor', m.id, null from monitors m where not m.paused and m.next_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'check_monitor' and l.args->>'monitor' = m.id::text)) w`

// WorkWithoutJob returns the work that has been without a job for a minute, because its job was given up while the
// database was away, or was not inserted because another of its kind was just ending.
func WorkWithoutJob(ctx context.Context, db DB) ([]Work, error) {
	return row.All[Work](ctx, db, "work without a job", workWithoutJobSQL, taskKinds(TaskTurn, TaskHeartbeat, TaskExec))
}

// NextExecution is the next time of a schedule.
type NextExecution struct {
	ID ScheduleID
	At time.Time
}

const schedulesWithoutJobSQL = `with live as (select (args->>'schedule')::bigint as schedule, (args->>'at')::timestamptz as at from river.river_job
		where kind = 'tick' and state not in ('completed', 'cancelled', 'discarded'))
	select s.id, s.next_at as at from schedules s where s.next_at is not null and s.paused_at is null
		and not exists (select from live l where l.schedule = s.id and l.at = s.next_at)`

// SchedulesWithoutJob returns the schedules that have no job for their next time.
func SchedulesWithoutJob(ctx context.Context, db DB) ([]NextExecution, error) {
	return row.All[NextExecution](ctx, db, "schedules without a job", schedulesWithoutJobSQL)
}

const hasRoomsToDescribeSQL = "select exists (select from river.river_job where kind = 'describe' and state in ('available', 'running'))"

// HasRoomsToDescribe reports whether rooms wait for their description. Those whose description failed and is retried later do not count.
func HasRoomsToDescribe(ctx context.Context, db DB) (bool, error) {
	return row.Value[bool](ctx, db, "rooms without a description", hasRoomsToDescribeSQL)
}
