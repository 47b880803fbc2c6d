package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/store/row"
)

// ErrTaskLost is returned by functions that write to a task which has ended or which another attempt works on. The caller stops and writes
// nothing.
var ErrTaskLost = errors.New("another attempt works on the task, or it has ended")

// TaskKind is what a task does.
type TaskKind string

// The kinds of tasks.
const (
	TaskTurn      TaskKind = "turn"      // answers a contact
	TaskAsk       TaskKind = "ask"       // answers a question of the owner's
	TaskPlan      TaskKind = "plan"      // has a goal, which its steps work for
	TaskStep      TaskKind = "step"      // is a step of a plan
	TaskChild     TaskKind = "child"     // is work that another agent gave
	TaskSchedule  TaskKind = "schedule"  // answers what a schedule asks
	TaskHeartbeat TaskKind = "heartbeat" // checks whether anything needs the owner
	TaskExec      TaskKind = "exec"      // runs a command that the owner typed; no model takes part
	TaskReplay    TaskKind = "replay"    // asks another model what another task asked; its input is the number of that task
)

// taskKinds returns kinds as a slice, for an argument of a query.
func taskKinds(kinds ...TaskKind) []TaskKind { return kinds }

// ExecutionKey returns the key of the task that works for an execution of a schedule.
func ExecutionKey(execution ExecutionID) string { return fmt.Sprintf("execution:%d", execution) }

// TaskState is the state of a task.
type TaskState string

// The states of a task. TaskWaiting waits for a tool or a person. The last four are final.
const (
	TaskPending   TaskState = "pending"
	TaskQueued    TaskState = "queued"
	TaskWaiting   TaskState = "waiting"
	TaskCompleted TaskState = "completed"
	TaskFailed    TaskState = "failed"
	TaskKilled    TaskState = "killed"
	TaskTimeout   TaskState = "timeout"
)

// IsOver reports whether the task has ended.
func (s TaskState) IsOver() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskKilled || s == TaskTimeout
}

// Task is a stored piece of work, usually of a model: see TaskKind.
type Task struct {
	ID            TaskID
	ParentID      *TaskID
	Key           string
	Kind          TaskKind
	ChatID        ChatID
	MessageID     *MessageID
	Sources       []MessageID // the messages that the task has read; the task is emptied when one of them is deleted
	Agent         string
	Model         string
	State         TaskState
	Attempt       int
	Input         string
	Request       json.RawMessage
	Answer        string
	Error         string
	ProgressEvent id.EventID
	StopReason    string
	Forgotten     bool
	Cost          int64
	CreatedAt     time.Time
	StartedAt     *time.Time
	EndedAt       *time.Time   `db:"finished_at"`
	Tools         []string     // patterns of the tools that it may use; nil for all that the agent has
	Continues     *TaskID      // the task that it continues; nil for none
	Target        *ChatID      // the chat that it may draft a message for; nil for none
	ExecutionID   *ExecutionID // the execution of a schedule that it works for; nil for none
	Tainted       bool         // the answer may repeat text of others; set when it ends
}

const taskColumns = `t.id, t.parent_id, t.key, t.kind, t.chat_id, t.message_id, t.sources, t.agent, t.model, t.state, t.attempt, t.input, t.request, t.answer, t.error,
	t.progress_event, t.stop_reason, t.forgotten, t.cost, t.created_at, t.started_at, t.finished_at, t.tools, t.continues, t.target, t.execution_id, t.tainted`

const insertTaskSQL = `with new as (insert into tasks as t (parent_id, key, kind, chat_id, message_id, sources, agent, model, input, state, tools, continues, target, execution_id)
		values (@parent, @key, @kind, @chat, @message, @sources, @agent, @model, @input, @state, @tools, @continues, @target, @run) on conflict (key) do nothing returning ` + taskColumns + `)
	select * from new union all select ` + taskColumns + ` from tasks t where t.key = @key limit 1`

// InsertTask stores a task, or returns the task that has its key. The state defaults to TaskQueued.
func InsertTask(ctx context.Context, w Writer, t Task) (Task, error) {
	if t.Sources == nil {
		t.Sources = []MessageID{}
	}
	return row.One[Task](ctx, w, "task", insertTaskSQL, pgx.NamedArgs{
		"parent": t.ParentID, "key": t.Key, "kind": t.Kind, "chat": t.ChatID, "message": t.MessageID, "sources": t.Sources, "agent": t.Agent,
		"model": t.Model,
		"input": text.Storable(t.Input), "state": cmp.Or(t.State, TaskQueued), "tools": t.Tools, "continues": t.Continues, "target": t.Target,
		"run": t.ExecutionID,
	})
}

const taskByIDSQL = "select " + taskColumns + " from tasks t where t.id = $1"

// TaskByID returns one task, or ErrNotFound.
func TaskByID(ctx context.Context, db DB, task TaskID) (Task, error) {
	return row.One[Task](ctx, db, "task", taskByIDSQL, task)
}

const taskByKeySQL = "select " + taskColumns + " from tasks t where t.key = $1"

// LockTask is TaskByID with a lock until the end of the transaction.
func LockTask(ctx context.Context, tx Tx, task TaskID) (Task, error) {
	return row.One[Task](ctx, tx, "task", taskByIDSQL+" for update", task)
}

// TaskByKey returns the task with a key, or ErrNotFound.
func TaskByKey(ctx context.Context, db DB, key string) (Task, error) {
	return row.One[Task](ctx, db, "task", taskByKeySQL, key)
}

const continuedTasksSQL = `with recursive thread as (select id, continues from tasks where id = $1
		union all select t.id, t.continues from thread th join tasks t on t.id = th.continues)
	select ` + taskColumns + " from thread join tasks t using (id) order by t.id desc limit $2"

// ContinuedTasks returns a task and the tasks that it continues, the newest first.
func ContinuedTasks(ctx context.Context, db DB, task TaskID, limit int) ([]Task, error) {
	return row.All[Task](ctx, db, "continued tasks", continuedTasksSQL, task, limit)
}

const childrenSQL = "select " + taskColumns + " from tasks t where t.parent_id = $1 order by t.id"

// Children returns the child tasks of a task in their order, also those that have not started.
func Children(ctx context.Context, db DB, task TaskID) ([]Task, error) {
	return row.All[Task](ctx, db, "tasks of a task", childrenSQL, task)
}

const recentTasksOfSQL = "select " + taskColumns +
	` from tasks t where t.kind <> all (@kinds) and not t.forgotten and t.agent = any (@agents) and t.id <> @excluded
	and coalesce(t.finished_at, now()) > @since order by t.id desc limit @limit`

// RecentTasksOf returns the newest tasks of agents for the owner that run or ended after a time, without the task excluded.
func RecentTasksOf(ctx context.Context, db DB, agents []string, excluded TaskID, since time.Time, limit int) ([]Task, error) {
	return row.All[Task](ctx, db, "sessions", recentTasksOfSQL, pgx.NamedArgs{
		"kinds": taskKinds(TaskTurn, TaskHeartbeat, TaskExec), "agents": agents, "excluded": excluded, "since": since, "limit": limit,
	})
}

const startChildSQL = "update tasks set state = 'queued', started_at = now() where id = $1 and state = 'pending'"

// StartChild authorizes a pending task.
func StartChild(ctx context.Context, tx Tx, task TaskID) error {
	return row.Exec(ctx, tx, "begin a task", startChildSQL, task)
}

const deletePendingChildrenSQL = "delete from tasks where parent_id = $1 and state = 'pending'"

// DeletePendingChildren deletes the child tasks of t that have not started.
func DeletePendingChildren(ctx context.Context, tx Tx, t Task) error {
	return row.Exec(ctx, tx, "take tasks back", deletePendingChildrenSQL, t.ID)
}

const stopChildrenSQL = `update tasks set stop_reason = $2, state = case state when 'pending' then 'killed' else state end,
		error = case state when 'pending' then $2 else error end, finished_at = case state when 'pending' then now() end
	where parent_id = $1 and finished_at is null`

// StopChildren stops the child tasks of a task. Those that have not started end at once.
func StopChildren(ctx context.Context, tx Tx, task TaskID, why string) error {
	return row.Exec(ctx, tx, "end tasks", stopChildrenSQL, task, text.Storable(why))
}

// ErrPlanStarted is returned by RevisePlan for a plan that has started or ended.
var ErrPlanStarted = errors.New("the plan is under way, or over")

const revisePlanSQL = `with unsaid as (delete from approvals where task_id = @id and allowed is null and expires_at > @now returning task_id),
	untold as (delete from task_steps s using unsaid u where s.task_id = u.task_id)
	update tasks t set input = input || E'\n' || @wish, sources = sources || @message::bigint, request = null, attempt = attempt + 1, state = 'queued'
	from unsaid u where t.id = u.task_id and t.finished_at is null and not t.forgotten`

// RevisePlan adds the owner's wish to a plan that waits for his approval, and authorizes it, so that it is made again.
func RevisePlan(ctx context.Context, tx Tx, task TaskID, message MessageID, wish string, now time.Time) error {
	tag, err := tx.Exec(ctx, revisePlanSQL, pgx.NamedArgs{"id": task, "message": message, "wish": text.Storable(wish), "now": now})
	if err != nil {
		return fmt.Errorf("revise a plan: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrPlanStarted
	}
	return nil
}

const taskByEventSQL = "select " + taskColumns + ` from tasks t left join messages m on m.id = t.message_id
	where t.chat_id = $1 and (t.progress_event = $2 or m.event_id = $2) order by t.id desc limit 1`

// TaskByEvent returns the newest task in a chat that an event asked for, or whose progress it shows, or ErrNotFound.
func TaskByEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Task, error) {
	return row.One[Task](ctx, db, "task", taskByEventSQL, chat, event)
}

const hasTaskSQL = "select exists (select from tasks where message_id = $1)"

// HasTask reports whether a message was given to a model, or to a program.
func HasTask(ctx context.Context, db DB, message MessageID) (bool, error) {
	return row.Value[bool](ctx, db, "tasks of a message", hasTaskSQL, message)
}

const claimTaskSQL = `update tasks t set attempt = attempt + 1, state = 'running', started_at = coalesce(started_at, now())
	where id = $1 and finished_at is null returning ` + taskColumns

// ClaimTask begins an attempt at a task: earlier attempts cannot write any more. It returns ErrTaskLost if the task has ended.
func ClaimTask(ctx context.Context, w Writer, task TaskID) (Task, error) {
	t, err := row.One[Task](ctx, w, "task", claimTaskSQL, task)
	if errors.Is(err, ErrNotFound) {
		return Task{}, ErrTaskLost
	}
	return t, err
}

const setTaskRequestSQL = `with gone as materialized (select exists (select from messages where id = any (@sources) and redacted_at is not null) as yes)
	update tasks set forgotten = forgotten or yes, request = case when forgotten or yes then null else @request::jsonb end, sources = @sources
	from gone where id = @id and attempt = @attempt and finished_at is null returning forgotten`

// SetTaskRequest stores the first request to the model and the messages in it. forgotten is true if one of them was deleted meanwhile:
// then nothing is stored and the model must not be asked.
func SetTaskRequest(ctx context.Context, w Writer, t Task, request json.RawMessage, sources []MessageID) (forgotten bool, err error) {
	forgotten, err = row.Value[bool](ctx, w, "store a task's request", setTaskRequestSQL,
		pgx.NamedArgs{"id": t.ID, "attempt": t.Attempt, "request": request, "sources": row.EmptyIfNil(sources)})
	if errors.Is(err, ErrNotFound) {
		err = ErrTaskLost
	}
	return forgotten, err
}

const setTaskProgressEventSQL = "update tasks set progress_event = @event where id = @id and attempt = @attempt"

// SetTaskProgressEvent stores the event that shows the progress.
func SetTaskProgressEvent(ctx context.Context, w Writer, t Task, event id.EventID) error {
	return execFenced(ctx, w, "note a task's message", setTaskProgressEventSQL,
		pgx.NamedArgs{"id": t.ID, "attempt": t.Attempt, "event": event})
}

const setTaskStateSQL = "update tasks set state = @state where id = @id and attempt = @attempt and finished_at is null"

// SetTaskState stores that a task continues or waits.
func SetTaskState(ctx context.Context, w Writer, t Task, state TaskState) error {
	return execFenced(ctx, w, "note a task's state", setTaskStateSQL, pgx.NamedArgs{"id": t.ID, "attempt": t.Attempt, "state": state})
}

const endTaskSQL = `update tasks set state = @state, answer = case when forgotten then '' else @answer end, error = @error, cost = @cost, tainted = @tainted, finished_at = now()
	where id = @id and attempt = @attempt and finished_at is null returning sources, forgotten`

// EndedTask is the result of EndTask.
type EndedTask struct {
	Sources   []MessageID // all messages whose words may be in the answer
	Forgotten bool        // one of them was deleted: the answer must not be sent
}

// EndTask ends a task, in the transaction that sends its answer.
func EndTask(ctx context.Context, tx Tx, t Task) (EndedTask, error) {
	e, err := row.One[EndedTask](ctx, tx, "end of a task", endTaskSQL, pgx.NamedArgs{
		"id": t.ID, "attempt": t.Attempt, "state": t.State, "answer": text.Storable(t.Answer), "error": text.Storable(t.Error), "cost": t.Cost,
		"tainted": t.Tainted,
	})
	if errors.Is(err, ErrNotFound) {
		err = ErrTaskLost
	}
	return e, err
}

const failTaskOfExecutionSQL = "update tasks set state = 'failed', error = $2, finished_at = now(), attempt = attempt + 1 where execution_id = $1 and finished_at is null"

// FailTaskOfExecution fails the task of an execution, unless it has ended.
func FailTaskOfExecution(ctx context.Context, tx Tx, execution ExecutionID, why string) error {
	return row.Exec(ctx, tx, "give up a task", failTaskOfExecutionSQL, execution, text.Storable(why))
}

const stopTaskSQL = `with began as (update tasks set stop_reason = $2 where parent_id = $1 and finished_at is null and stop_reason = '')
	update tasks t set stop_reason = $2 where id = $1 and finished_at is null and stop_reason = '' returning ` + taskColumns

// StopTask requests that a task and its children stop. It returns ErrNotFound if the task has ended or was to be stopped before.
func StopTask(ctx context.Context, tx Tx, task TaskID, why string) (Task, error) {
	return row.One[Task](ctx, tx, "task", stopTaskSQL, task, why)
}

const stopReasonSQL = "select stop_reason from tasks where id = $1"

// StopReason returns why a task is to be stopped, or an empty string if it is not.
func StopReason(ctx context.Context, db DB, task TaskID) (string, error) {
	var why string
	if err := db.QueryRow(ctx, stopReasonSQL, task).Scan(&why); err != nil {
		return "", fmt.Errorf("read whether a task shall end: %w", row.NotFound(err))
	}
	return why, nil
}

const openTasksSQL = "select " + taskColumns +
	" from tasks t where t.finished_at is null and t.kind <> $1 and t.parent_id is null order by t.id desc limit 20"

// OpenTasks returns the owner's tasks that have not ended, the newest first.
func OpenTasks(ctx context.Context, db DB) ([]Task, error) {
	return row.All[Task](ctx, db, "tasks", openTasksSQL, TaskTurn)
}

const pruneTasksSQL = "delete from tasks where coalesce(finished_at, created_at) < $1"

// PruneTasks deletes tasks that ended before a time, or that were made before it and have not ended. It returns their number.
func PruneTasks(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Changed(ctx, w, "delete old tasks", pruneTasksSQL, before)
}

// StepKind says whether a step is a call of a model or of a tool.
type StepKind string

// The kinds of steps.
const (
	StepModel StepKind = "model"
	StepTool  StepKind = "tool"
)

// Step is one call of a model or a tool.
type Step struct {
	Seq           int
	Kind          StepKind
	Name          string
	CallID        string
	Arguments     string
	HasEffect     bool `db:"effect"`
	Text          string
	ForUser       string
	Calls         json.RawMessage
	Passages      json.RawMessage
	IsError       bool
	Code          string
	Retriable     bool
	Ref           string
	EndReason     string
	TokensIn      int64
	TokensOut     int64
	Cost          int64
	StartedAt     time.Time
	EndedAt       *time.Time // nil if its end is not known
	Fence         string     // the delimiter around the result of a tool
	RequestDigest string     // a digest of the request to the model
}

const stepColumns = `s.seq, s.kind, s.name, s.call_id, s.arguments, s.effect, s.text, s.for_user, s.calls, s.passages, s.is_error, s.code, s.retriable, s.ref, s.end_reason,
	s.tokens_in, s.tokens_out, s.cost, s.started_at, s.ended_at, s.fence, s.request_digest`

const stepsSQL = "select " + stepColumns + " from task_steps s where s.task_id = $1 order by s.seq"

// Steps returns the steps of a task in order.
func Steps(ctx context.Context, db DB, task TaskID) ([]Step, error) {
	return row.All[Step](ctx, db, "steps of a task", stepsSQL, task)
}

const refusedStepsSQL = "select " + stepColumns + ` from task_steps s join tasks t on t.id = s.task_id
	where t.sources @> array[$1::bigint] and s.kind = 'tool' and s.is_error and s.code in ('refused', 'not_allowed', 'needs_approval', 'denied', 'expired')
	order by s.task_id desc, s.seq limit $2`

// RefusedSteps returns calls of tools that were not allowed in the tasks about a message, those of the newest task first.
func RefusedSteps(ctx context.Context, db DB, message MessageID, limit int) ([]Step, error) {
	return row.All[Step](ctx, db, "refused calls", refusedStepsSQL, message, limit)
}

// Effect is a tool call that changes something.
type Effect struct {
	Name    string
	ForUser string
	Done    bool
	Unknown bool // whether it was done is not known
}

const effectsSQL = `select s.name, s.for_user, s.ended_at is not null and not s.is_error as done, s.ended_at is null or s.code = 'unknown_outcome' as unknown
	from task_steps s join tasks t on t.id = s.task_id where s.effect and (t.id = $1 or t.parent_id = $1) order by s.started_at, s.seq`

// Effects returns what a task and its children have changed, or may have changed.
func Effects(ctx context.Context, db DB, task TaskID) ([]Effect, error) {
	return row.All[Effect](ctx, db, "what a task changed", effectsSQL, task)
}

const beginStepSQL = `insert into task_steps (task_id, seq, kind, name, call_id, arguments, effect)
	select t.id, @seq, @kind, @name, @call, case when t.forgotten then '' else @arguments end, @effect from tasks t
	where t.id = @id and t.attempt = @attempt and t.finished_at is null
	on conflict (task_id, seq) do update set started_at = now() where task_steps.ended_at is null`

// BeginStep stores a step before its call is made. A step that an earlier attempt began is begun again.
func BeginStep(ctx context.Context, w Writer, t Task, s Step) error {
	return execFenced(ctx, w, "begin a step", beginStepSQL, pgx.NamedArgs{
		"id": t.ID, "attempt": t.Attempt, "seq": s.Seq, "kind": s.Kind, "name": s.Name, "call": s.CallID, "arguments": text.Storable(s.Arguments),
		"effect": s.HasEffect,
	})
}

const addTaskSourcesSQL = `update tasks set sources = array(select distinct unnest(sources || @messages::bigint[]) order by 1),
		forgotten = forgotten or exists (select from messages m where m.id = any (@messages) and m.redacted_at is not null)
	where id = @id and attempt = @attempt and finished_at is null`

// AddTaskSources stores further messages that a task has read, before it stores anything of them. If one of them is
// deleted, so is the task's text.
func AddTaskSources(ctx context.Context, w Writer, t Task, messages []MessageID) error {
	return execFenced(ctx, w, "note what a task rests on", addTaskSourcesSQL,
		pgx.NamedArgs{"id": t.ID, "attempt": t.Attempt, "messages": messages})
}

const endStepSQL = `update task_steps s set text = case when t.forgotten then '' else @text end, for_user = case when t.forgotten then '' else @user end,
		calls = case when t.forgotten then null else @calls::jsonb end, passages = case when t.forgotten then null else @passages::jsonb end, is_error = @error, code = @code,
		retriable = @retriable, ref = case when t.forgotten then '' else @ref end, end_reason = case when t.forgotten then '' else @end_reason end, tokens_in = @in, tokens_out = @out, cost = @cost, fence = @fence, request_digest = case when t.forgotten then '' else @digest end, ended_at = now()
	from tasks t where t.id = s.task_id and s.task_id = @id and s.seq = @seq and t.attempt = @attempt and s.ended_at is null`

// EndStep stores the result of a step.
func EndStep(ctx context.Context, w Writer, t Task, s Step) error {
	return execFenced(ctx, w, "end a step", endStepSQL, pgx.NamedArgs{
		"id": t.ID, "attempt": t.Attempt, "seq": s.Seq, "text": text.Storable(s.Text), "user": text.Storable(s.ForUser), "calls": s.Calls,
		"passages": s.Passages, "error": s.IsError,
		"code": s.Code, "retriable": s.Retriable, "ref": text.Storable(s.Ref), "end_reason": text.Storable(s.EndReason), "in": s.TokensIn,
		"out": s.TokensOut, "cost": s.Cost, "fence": s.Fence, "digest": s.RequestDigest,
	})
}

// execFenced runs a statement that changes a task, and returns ErrTaskLost if it changes none.
func execFenced(ctx context.Context, w Writer, what, sql string, args pgx.NamedArgs) error {
	tag, err := w.Exec(ctx, sql, args)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if tag.RowsAffected() == 0 {
		return ErrTaskLost
	}
	return nil
}

// forgetTasksSQL empties the tasks in @tasks and those that read one of @messages.
const forgetTasksSQL = `tasks_gone as (update tasks t set forgotten = true, input = '', request = null, answer = '', error = ''
		where (t.sources && @messages::bigint[] or t.message_id = any (@messages) or t.id = any (@tasks)) and not (t.forgotten and t.answer = '' and t.error = '') returning t.id),
	steps_gone as (update task_steps s set arguments = '', text = '', for_user = '', calls = null, passages = null, ref = '', end_reason = '', fence = '', request_digest = ''
		from tasks_gone g where s.task_id = g.id),
	approvals_gone as (update approvals a set arguments = '', target = '', reason = '', note = '' from tasks_gone g where a.task_id = g.id),
	grants_gone as (delete from approval_grants r using approvals a, tasks_gone g where r.approval_id = a.id and a.task_id = g.id)`

const supersedeTasksSQL = `update tasks set state = 'failed', error = 'what was asked has changed', finished_at = now(), attempt = attempt + 1
	where chat_id = $1 and kind = $2 and key <> $3 and finished_at is null`

// SupersedeTasks fails the other tasks of a kind in a chat, because their question has changed.
func SupersedeTasks(ctx context.Context, w Writer, chat ChatID, kind TaskKind, key string) error {
	return row.Exec(ctx, w, "end tasks that are asked no more", supersedeTasksSQL, chat, kind, key)
}

const newestTaskSQL = "select " + taskColumns + " from tasks t where t.sources @> array[$1::bigint] order by t.id desc limit 1"

// NewestTaskOf returns the newest task about a message, or ErrNotFound.
func NewestTaskOf(ctx context.Context, db DB, message MessageID) (Task, error) {
	return row.One[Task](ctx, db, "task about a message", newestTaskSQL, message)
}
