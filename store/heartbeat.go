package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// FindingKind is the kind of a finding.
type FindingKind string

// The kinds of findings.
const (
	FindingUnanswered FindingKind = "unanswered" // a contact wrote, and nobody has written since
	FindingEscalation FindingKind = "escalation" // a chat waits for a person
	FindingDue        FindingKind = "due"        // a commitment is overdue
	FindingTask       FindingKind = "task"       // a task makes no progress, or failed
)

// Finding is something that may need the owner. Its key identifies it between checks.
type Finding struct {
	Key     string
	Kind    FindingKind
	Ref     int64 // the message, escalation, commitment or task
	ChatID  ChatID
	Message MessageID // the message; zero for a task, or if it was deleted
	EventID id.EventID
	At      time.Time
	Text    string
	Sources []MessageID // further messages whose words may be in Text
}

// FindingFilter selects findings.
type FindingFilter struct {
	Agent string
	// NewFindings selects findings whose wait began between NotBefore and WaitingSince. A contact who keeps writing without
	// an answer is one finding. It is reported again if the owner was last notified of it before RepeatIfNotifiedBefore.
	WaitingSince, NotBefore, RepeatIfNotifiedBefore time.Time
	// Tasks includes tasks that failed or make no progress.
	Tasks bool
}

const newFindingsSQL = `with found as (
	select 'unanswered' as kind, m.id as ref, m.chat_id, m.id as message, m.event_id, m.ts as at, m.body as text, '{}'::bigint[] as sources
		from chats c cross join lateral (select * from messages m where m.chat_id = c.id and (m.kind <> 'reaction' or m.author <> 'contact')
			and m.redacted_at is null and not (` + greetingSQL + `) order by m.ts desc, m.id desc limit 1) m
		where c.kind = 'dm' and c.closed_reason = '' and m.author = 'contact' and m.ts <= @waits and m.ts > @oldest
			and not exists (select from escalations e where e.chat_id = c.id and e.closed_at is null)
			and not exists (select from heartbeat_findings h where (h.agent = @agent or h.notified) and h.chat_id = c.id and h.finding like 'unanswered:%'
				and h.seen_at > greatest(@again, (select max(o.ts) from messages o where o.chat_id = c.id and o.author <> 'contact')))
	union all
	select 'escalation', e.id, e.chat_id, case when m.redacted_at is null then m.id else 0 end, m.event_id, e.opened_at, e.reason, e.sources from escalations e join messages m on m.id = e.message_id
		where e.closed_at is null and e.answered_at is null and e.opened_at <= @waits and e.opened_at > @oldest
	union all
	select 'due', d.id, d.chat_id, m.id, m.event_id, d.due_at, d.who || ': ' || d.what, '{}' from commitments d join messages m on m.id = d.message_id
		where d.state = 'open' and d.snoozed_to is null and d.due_at <= @waits and d.due_at > @oldest
	union all
	select 'task', t.id, t.chat_id, 0, '', coalesce(t.finished_at, t.started_at, t.created_at), t.input, t.sources from tasks t
		where @tasks and t.kind = any (@kinds) and not t.forgotten and coalesce(t.finished_at, t.started_at, t.created_at) between @oldest and @waits
			and t.state not in ('completed', 'killed'))
	select f.kind || ':' || f.ref as key, f.kind, f.ref, f.chat_id, f.message, f.event_id, f.at, f.text, f.sources from found f
	where not exists (select from heartbeat_findings h where (h.agent = @agent or h.notified) and h.finding = f.kind || ':' || f.ref)
	order by f.at desc limit 50`

// NewFindings returns the findings that the agent has not judged yet, and of which no agent has notified the owner, the newest first.
func NewFindings(ctx context.Context, db DB, l FindingFilter) ([]Finding, error) {
	return row.All[Finding](ctx, db, "findings", newFindingsSQL, pgx.NamedArgs{
		"agent": l.Agent, "waits": l.WaitingSince, "oldest": l.NotBefore, "again": l.RepeatIfNotifiedBefore, "tasks": l.Tasks,
		"kinds": taskKinds(TaskAsk, TaskSchedule, TaskPlan),
	})
}

const unansweredMessagesSQL = "select " + messageColumns +
	` from messages m where m.chat_id = @chat and m.author = 'contact' and m.kind <> 'reaction' and m.redacted_at is null
	and m.ts > greatest(@oldest, (select max(m.ts) from messages m where m.chat_id = @chat and m.author <> 'contact' and m.redacted_at is null and not (` + greetingSQL + `)))
	order by m.ts, m.id`

// UnansweredMessages returns the messages of a contact since the last message of anybody else, and since oldest, the oldest first.
func UnansweredMessages(ctx context.Context, db DB, chat ChatID, oldest time.Time) ([]Message, error) {
	return collectMessages(ctx, db, unansweredMessagesSQL, pgx.NamedArgs{"chat": chat, "oldest": oldest})
}

const recordJudgementSQL = `insert into heartbeat_findings (agent, finding, chat_id, notified, seen_at) values (@agent, @matter, nullif(@chat::bigint, 0), @told, @at)
	on conflict do nothing`

// Judgement is an agent's decision whether the owner is notified of a finding.
type Judgement struct {
	Agent, Finding string
	ChatID         ChatID // zero for none
	Notified       bool
	At             time.Time
}

// RecordJudgement stores a judgement. It returns false if the agent has judged the finding before, or if j.Notified is
// true and another agent has already notified the owner.
func RecordJudgement(ctx context.Context, tx Tx, j Judgement) (first bool, err error) {
	tag, err := tx.Exec(ctx, recordJudgementSQL, pgx.NamedArgs{
		"agent": j.Agent, "matter": j.Finding, "chat": j.ChatID, "told": j.Notified,
		"at": j.At,
	})
	if err != nil {
		return false, fmt.Errorf("record judgement: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const hasMessageSinceSQL = `select exists (select from messages m join chats c on c.id = m.chat_id
	where m.received_at > $1 and c.kind <> 'admin' and m.author in ('contact', 'owner_client', 'owner_phone'))`

// HasMessageSince reports whether a person wrote in any chat since a time, the admin room excepted.
func HasMessageSince(ctx context.Context, db DB, since time.Time) (bool, error) {
	return row.Value[bool](ctx, db, "whether something was said", hasMessageSinceSQL, since)
}

const lastCheckSQL = "select checked_at, case when day = $2::date then checks else 0 end from heartbeat_checks where agent = $1"

// LastCheck returns when a model last checked an agent's findings, and how many checks were made on a day. It returns the
// zero time if never.
func LastCheck(ctx context.Context, db DB, agent, day string) (at time.Time, checks int, err error) {
	err = db.QueryRow(ctx, lastCheckSQL, agent, day).Scan(&at, &checks)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, 0, nil
	}
	if err != nil {
		return time.Time{}, 0, fmt.Errorf("read the last check: %w", err)
	}
	return at, checks, nil
}

const recordCheckSQL = `insert into heartbeat_checks as c (agent, day, checks, checked_at) values ($1, $2::date, 1, $3)
	on conflict (agent) do update set checks = case when c.day = excluded.day then c.checks + 1 else 1 end, day = excluded.day, checked_at = excluded.checked_at`

// RecordCheck stores that a model checks an agent's findings.
func RecordCheck(ctx context.Context, w Writer, agent, day string, at time.Time) error {
	return row.Exec(ctx, w, "record a check", recordCheckSQL, agent, day, at)
}

const dueSchedulesSQL = "select " + scheduleColumns +
	` from schedules s where s.created_by <> '' and s.paused_at is null and s.next_at <= $1
	order by s.next_at, s.id limit 10`

// DueSchedules returns the schedules of people whose next time is not after until, the earliest ten at most.
func DueSchedules(ctx context.Context, db DB, until time.Time) ([]Schedule, error) {
	return row.All[Schedule](ctx, db, "schedules", dueSchedulesSQL, until)
}

const pruneJudgementsSQL = "with gone as (delete from heartbeat_findings where seen_at < $1 returning 1) select count(*) from gone"

// PruneJudgements deletes the judgements from before a time.
func PruneJudgements(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Value[int](ctx, w, "forget findings", pruneJudgementsSQL, before)
}
