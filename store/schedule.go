package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/store/row"
)

// ScheduleAction is the action of a schedule.
type ScheduleAction string

// The actions.
const (
	ActionSay       ScheduleAction = "say"       // sends its body
	ActionAsk       ScheduleAction = "ask"       // gives its body to the assistant
	ActionUpkeep    ScheduleAction = "upkeep"    // does the upkeep that its body names
	ActionHeartbeat ScheduleAction = "heartbeat" // does the heartbeat of the agent that its body names
)

// CatchUp is what happens with times that were missed.
type CatchUp string

// The ways to catch up.
const (
	CatchOnce CatchUp = "once" // only the first missed time, within a day
	CatchSkip CatchUp = "skip" // none
	CatchAll  CatchUp = "all"  // each of them
)

// Valid reports whether c is one of the ways.
func (c CatchUp) Valid() bool { return c == CatchOnce || c == CatchSkip || c == CatchAll }

// Schedule is an action at one or several times. Kind, Spec and Zone are those of package schedule.
type Schedule struct {
	ID           ScheduleID
	Kind         string
	Spec         string
	Zone         string
	NextAt       *time.Time     // nil if there is none
	Action       ScheduleAction `json:"Does"`
	Body         string
	ChatID       *ChatID    // nil for the admin room
	MessageID    *MessageID // the message that set it, with which it goes; nil for none
	CatchUp      CatchUp
	Keep         bool
	PausedAt     *time.Time
	FailingSince *time.Time
	CreatedBy    id.UserID // empty for multis itself
	CreatedAt    time.Time
	Session      Session
	Tools        []string // the tools that the assistant may use: those it had when the schedule was set
	Tell         bool     `db:"notify"` // notifies the admin room of a message to a chat
	BestEffort   bool     // a message that is not delivered is no failure
	UnlessReply  bool     // the message is not sent if the contact has written since the schedule was set
}

// Session is the conversation that the assistant works in.
type Session string

// The sessions.
const (
	SessionMain     Session = "main"     // the admin room's
	SessionIsolated Session = "isolated" // a new one for each execution
)

// Valid reports whether s is one of the sessions.
func (s Session) Valid() bool { return s == SessionMain || s == SessionIsolated }

// Waits reports whether the schedule has a next time and is not paused.
func (s Schedule) Waits() bool { return s.NextAt != nil && s.PausedAt == nil }

const scheduleColumns = `s.id, s.kind, s.spec, s.zone, s.next_at, s.action, s.body, s.chat_id, s.catch_up, s.keep, s.paused_at, s.failing_since,
	s.created_by, s.created_at, s.session, s.tools, s.notify, s.best_effort, s.message_id, s.unless_reply`

const nextScheduleIDSQL = "select nextval(pg_get_serial_sequence('schedules', 'id'))"

// NextScheduleID reserves the id of a new schedule, so that it can be shown before the schedule is stored.
func NextScheduleID(ctx context.Context, db DB) (ScheduleID, error) {
	var n ScheduleID
	if err := db.QueryRow(ctx, nextScheduleIDSQL).Scan(&n); err != nil {
		return 0, fmt.Errorf("number schedule: %w", err)
	}
	return n, nil
}

const insertScheduleSQL = `insert into schedules (id, kind, spec, zone, next_at, action, body, chat_id, catch_up, keep, created_by, created_at,
		session, tools, notify, best_effort, message_id, unless_reply)
	values (@id, @kind, @spec, @zone, @next, @action, @body, @chat, @catch, @keep, @by, @at, @session, coalesce(@tools::text[], '{}'), @notify, @effort, @message, @unless)`

// InsertSchedule stores a new schedule under its id.
func InsertSchedule(ctx context.Context, tx Tx, s Schedule) error {
	return row.Exec(ctx, tx, "write schedule", insertScheduleSQL, pgx.NamedArgs{
		"id": s.ID, "kind": s.Kind, "spec": s.Spec, "zone": s.Zone, "next": s.NextAt, "action": s.Action, "body": text.Storable(s.Body),
		"chat":  s.ChatID,
		"catch": s.CatchUp, "keep": s.Keep, "by": s.CreatedBy, "at": s.CreatedAt, "session": cmp.Or(s.Session, SessionIsolated), "tools": s.Tools,
		"notify": s.Tell,
		"effort": s.BestEffort, "message": s.MessageID, "unless": s.UnlessReply,
	})
}

const ensureScheduleSQL = `insert into schedules (kind, spec, zone, next_at, action, body, catch_up, created_by)
	values (@kind, @spec, @zone, @next, @action, @body, @catch, '')
	on conflict (action, body) where created_by = '' do update set kind = excluded.kind, spec = excluded.spec, zone = excluded.zone,
		next_at = case when (schedules.kind, schedules.spec, schedules.zone) = (excluded.kind, excluded.spec, excluded.zone)
			then coalesce(schedules.next_at, excluded.next_at) else excluded.next_at end`

// EnsureSchedule stores or updates one of multis' own schedules.
func EnsureSchedule(ctx context.Context, tx Tx, s Schedule) error {
	return row.Exec(ctx, tx, "write own schedule", ensureScheduleSQL, pgx.NamedArgs{
		"kind": s.Kind, "spec": s.Spec, "zone": s.Zone, "next": s.NextAt, "action": s.Action, "body": s.Body, "catch": s.CatchUp,
	})
}

const deleteOwnSchedulesSQL = "delete from schedules where created_by = '' and action = $1 and not body = any ($2)"

// DeleteOwnSchedules deletes multis' own schedules of an action, except the named ones.
func DeleteOwnSchedules(ctx context.Context, tx Tx, does ScheduleAction, but []string) error {
	return row.Exec(ctx, tx, "delete own schedules", deleteOwnSchedulesSQL, does, but)
}

const scheduleByIDSQL = "select " + scheduleColumns + " from schedules s where s.id = $1"

// ScheduleByID returns one schedule, or ErrNotFound.
func ScheduleByID(ctx context.Context, db DB, schedule ScheduleID) (Schedule, error) {
	return row.One[Schedule](ctx, db, "schedule", scheduleByIDSQL, schedule)
}

// LockSchedule is ScheduleByID with a lock until the end of the transaction.
func LockSchedule(ctx context.Context, tx Tx, schedule ScheduleID) (Schedule, error) {
	return row.One[Schedule](ctx, tx, "schedule", scheduleByIDSQL+" for update", schedule)
}

const listSchedulesSQL = "select " + scheduleColumns + ` from schedules s
	where (s.created_by = '') = $1 and (s.next_at is not null or s.keep or s.failing_since is not null)
	order by s.paused_at is not null, s.next_at nulls last, s.id limit $2`

// ListSchedules returns the schedules that have a next time or are kept, the next first: those of people, or multis' own.
func ListSchedules(ctx context.Context, db DB, own bool, limit int) ([]Schedule, error) {
	return row.All[Schedule](ctx, db, "schedules", listSchedulesSQL, own, limit)
}

const updateScheduleSQL = `update schedules set kind = @kind, spec = @spec, zone = @zone, next_at = @next, body = @body, paused_at = @paused, created_at = @at,
	failing_since = null where id = @id`

// UpdateSchedule stores an edited schedule. A job for the time before the edit does nothing. The failures are reset.
func UpdateSchedule(ctx context.Context, tx Tx, s Schedule) error {
	return row.Exec(ctx, tx, "change schedule", updateScheduleSQL, pgx.NamedArgs{
		"id": s.ID, "kind": s.Kind, "spec": s.Spec, "zone": s.Zone, "next": s.NextAt, "body": text.Storable(s.Body), "paused": s.PausedAt,
		"at": s.CreatedAt,
	})
}

const setNextTimeSQL = "update schedules set next_at = $2 where id = $1"

// SetNextTime sets the next time of a schedule. nil means never.
func SetNextTime(ctx context.Context, tx Tx, schedule ScheduleID, next *time.Time) error {
	return row.Exec(ctx, tx, "move schedule", setNextTimeSQL, schedule, next)
}

const deleteScheduleSQL = "delete from schedules where id = $1"

// DeleteSchedule deletes a schedule with its executions.
func DeleteSchedule(ctx context.Context, tx Tx, schedule ScheduleID) error {
	return row.Exec(ctx, tx, "delete schedule", deleteScheduleSQL, schedule)
}

const schedulesOfMessageSQL = `select s.id from schedules s join messages m on m.id = s.message_id
	where m.chat_id = $1 and m.event_id = $2 and (s.next_at is not null or s.keep) order by s.id`

// SchedulesOfMessage returns the schedules that a message set and that have not ended.
func SchedulesOfMessage(ctx context.Context, db DB, chat ChatID, event id.EventID) ([]ScheduleID, error) {
	return row.Values[ScheduleID](ctx, db, "schedules of a message", schedulesOfMessageSQL, chat, event)
}

const deleteSchedulesOfSQL = "delete from schedules where message_id = $1"

const markScheduleFailedSQL = `with before as (select id, failing_since from schedules where id = $1 for update)
	update schedules s set failing_since = coalesce(s.failing_since, now()) from before b where s.id = b.id returning b.failing_since is null`

// MarkScheduleFailed stores that a schedule failed. first is true for the first failure since the last success.
func MarkScheduleFailed(ctx context.Context, tx Tx, schedule ScheduleID) (first bool, err error) {
	if err := tx.QueryRow(ctx, markScheduleFailedSQL, schedule).Scan(&first); err != nil {
		return false, fmt.Errorf("mark schedule: %w", err)
	}
	return first, nil
}

const resetFailuresSQL = "update schedules set failing_since = null where id = $1 and failing_since is not null"

// MarkScheduleSucceeded stores that a schedule succeeded.
func MarkScheduleSucceeded(ctx context.Context, tx Tx, schedule ScheduleID) error {
	return row.Exec(ctx, tx, "mark schedule", resetFailuresSQL, schedule)
}

const failuresSQL = `select count(*) from schedule_executions r join schedules s on s.id = r.schedule_id
	where s.id = $1 and r.state = 'failed' and r.ended_at >= s.failing_since`

// Failures returns how often a schedule failed since it last succeeded, was edited or resumed.
func Failures(ctx context.Context, db DB, schedule ScheduleID) (int, error) {
	return row.Value[int](ctx, db, "count failures", failuresSQL, schedule)
}

const pauseScheduleSQL = "update schedules set paused_at = $2 where id = $1 and paused_at is null"

// PauseSchedule pauses a schedule until it is resumed.
func PauseSchedule(ctx context.Context, tx Tx, schedule ScheduleID, at time.Time) error {
	return row.Exec(ctx, tx, "pause schedule", pauseScheduleSQL, schedule, at)
}

const takeOverSchedulesSQL = `update schedules s set created_by = @owner, paused_at = coalesce(s.paused_at, @at)
	where s.created_by not in ('', @owner) and not s.created_by = any (@operators::text[]) and s.next_at is not null returning ` +
	scheduleColumns

// TakeOverSchedules pauses the schedules of people who are neither owner nor operator, makes the owner their creator, and returns them.
func TakeOverSchedules(ctx context.Context, tx Tx, owner id.UserID, operators []id.UserID, at time.Time) ([]Schedule, error) {
	if operators == nil {
		operators = []id.UserID{}
	}
	return row.All[Schedule](ctx, tx, "schedules of others", takeOverSchedulesSQL,
		pgx.NamedArgs{"owner": owner, "operators": operators, "at": at})
}

// ExecutionState is the state of an execution.
type ExecutionState string

// The states of an execution.
const (
	ExecutionRunning ExecutionState = "running"
	ExecutionDone    ExecutionState = "done"
	ExecutionFailed  ExecutionState = "failed"
	ExecutionSkipped ExecutionState = "skipped"
)

// Execution is what is done at one due time of a schedule. There is one for each due time.
type Execution struct {
	ID         ExecutionID
	ScheduleID ScheduleID
	DueAt      time.Time
	State      ExecutionState
	Note       string
	OutboxID   *uuid.UUID
	StartedAt  time.Time
	EndedAt    *time.Time
	Worked     time.Duration // the time that the attempts took so far
}

const executionColumns = "r.id, r.schedule_id, r.due_at, r.state, r.note, r.outbox_id, r.started_at, r.ended_at, r.worked"

const startExecutionSQL = `insert into schedule_executions (schedule_id, due_at, state, started_at) values ($1, $2, 'running', $3)
	on conflict (schedule_id, due_at) do nothing returning id`

// StartExecution stores the execution of a schedule for a time. first is false if that time had one before.
func StartExecution(ctx context.Context, tx Tx, schedule ScheduleID, due, now time.Time) (execution ExecutionID, first bool, err error) {
	rows, err := tx.Query(ctx, startExecutionSQL, schedule, due, now)
	if err != nil {
		return 0, false, fmt.Errorf("start execution: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[ExecutionID])
	if err != nil {
		return 0, false, fmt.Errorf("start execution: %w", err)
	}
	if len(ids) == 0 {
		return 0, false, nil
	}
	return ids[0], true, nil
}

const endExecutionSQL = "update schedule_executions set state = $2, note = $3, outbox_id = $4, ended_at = now() where id = $1 and state = 'running'"

// EndExecution stores how an execution ended. It returns false if it had ended before.
func EndExecution(ctx context.Context, tx Tx, execution ExecutionID, state ExecutionState, note string, out *uuid.UUID) (bool, error) {
	tag, err := tx.Exec(ctx, endExecutionSQL, execution, state, text.Storable(note), out)
	if err != nil {
		return false, fmt.Errorf("end execution: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const addExecutionTimeSQL = "update schedule_executions set worked = worked + $2 where id = $1 and state = 'running'"

// AddExecutionTime adds the time that an attempt at an execution took.
func AddExecutionTime(ctx context.Context, w Writer, execution ExecutionID, took time.Duration) error {
	return row.Exec(ctx, w, "note time of an execution", addExecutionTimeSQL, execution, took)
}

const executionByIDSQL = "select " + executionColumns + " from schedule_executions r where r.id = $1"

// ExecutionByID returns one execution, or ErrNotFound.
func ExecutionByID(ctx context.Context, db DB, execution ExecutionID) (Execution, error) {
	return row.One[Execution](ctx, db, "execution", executionByIDSQL, execution)
}

const scheduleOfExecutionSQL = "select " + scheduleColumns +
	" from schedules s join schedule_executions r on r.schedule_id = s.id where r.id = $1"

// ScheduleOfExecution returns the schedule of an execution, or ErrNotFound.
func ScheduleOfExecution(ctx context.Context, db DB, execution ExecutionID) (Schedule, error) {
	return row.One[Schedule](ctx, db, "schedule of an execution", scheduleOfExecutionSQL, execution)
}

const failUndeliveredExecutionSQL = `update schedule_executions r set state = 'failed', note = $2 from schedules s
	where r.outbox_id = $1 and s.id = r.schedule_id and s.chat_id is not null and not s.best_effort and r.state = 'done' returning ` +
	executionColumns

// FailUndeliveredExecution fails the execution whose message was not delivered, unless its schedule is best effort. It
// returns the execution, or ErrNotFound if there is none to fail.
func FailUndeliveredExecution(ctx context.Context, tx Tx, out uuid.UUID, why string) (Execution, error) {
	return row.One[Execution](ctx, tx, "execution whose message did not arrive", failUndeliveredExecutionSQL, out, text.Storable(why))
}

// isReplySQL is the condition that m is what a contact wrote, and not before multis was there.
const isReplySQL = "m.author = 'contact' and m.kind <> 'reaction' and m.code <> 'backfill'"

const replySinceSQL = "select " + messageColumns + " from messages m where m.chat_id = $1 and " + isReplySQL + " and m.received_at > $2 order by m.id limit 1"

// ReplySince returns the first message of a contact in a chat that came after a time, deleted or not, or ErrNotFound.
func ReplySince(ctx context.Context, db DB, chat ChatID, since time.Time) (Message, error) {
	return oneMessage(ctx, db, replySinceSQL, chat, since)
}

const executionByEventSQL = "select " + executionColumns +
	" from schedule_executions r join outbox o on o.id = r.outbox_id where o.chat_id = $1 and o.event_id = $2"

// ExecutionByEvent returns the execution whose message is an event in a chat, or ErrNotFound.
func ExecutionByEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Execution, error) {
	return row.One[Execution](ctx, db, "execution", executionByEventSQL, chat, event)
}

const lastExecutionInSQL = "select " + executionColumns + ` from schedule_executions r join outbox o on o.id = r.outbox_id
	where o.chat_id = $1 and r.started_at > $2 order by r.id desc limit 1`

// LastExecutionIn returns the last execution since a time that sent a message to a chat, or ErrNotFound.
func LastExecutionIn(ctx context.Context, db DB, chat ChatID, since time.Time) (Execution, error) {
	return row.One[Execution](ctx, db, "execution", lastExecutionInSQL, chat, since)
}

const executionsOfSQL = "select " + executionColumns + " from schedule_executions r where r.schedule_id = $1 order by r.id desc limit $2"

// ExecutionsOf returns the last executions of a schedule, the newest first.
func ExecutionsOf(ctx context.Context, db DB, schedule ScheduleID, limit int) ([]Execution, error) {
	return row.All[Execution](ctx, db, "executions", executionsOfSQL, schedule, limit)
}

const pruneExecutionsSQL = `with old as (delete from schedule_executions where started_at < $1 and state <> 'running' returning 1),
	gone as (delete from schedules s where s.next_at is null and not s.keep and s.created_at < $1 and not exists (
		select from schedule_executions r where r.schedule_id = s.id and r.started_at >= $1) returning 1)
	select (select count(*) from old) + (select count(*) from gone)`

// PruneExecutions deletes the executions from before a time, and the schedules that ended before it. It returns their number.
func PruneExecutions(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Value[int](ctx, w, "prune executions", pruneExecutionsSQL, before)
}
