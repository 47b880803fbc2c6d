package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

// ChatGlance is what a list of chats shows of one beside its settings.
type ChatGlance struct {
	ChatID ChatID
	// The newest message of the chat, without what cannot be read; LastAt is nil if there is none.
	LastBody   string
	LastAuthor policy.Author
	LastAt     *time.Time
	// What multis said last; SaidAt is nil if it said nothing.
	SaidBody  string
	SaidAt    *time.Time
	HasDraft  bool
	Escalated bool
	ClaimedBy id.UserID // who answers the escalation; empty for nobody
	Cost      int64     // of 30 days, in millionths of the currency
}

const chatGlancesSQL = `select c.id as chat_id, coalesce(m.body, '') as last_body, coalesce(m.author, '') as last_author, m.ts as last_at,
		coalesce(o.content ->> 'body', '') as said_body, coalesce(o.sent_at, o.created_at) as said_at,
		c.id = any (array(select chat_id from outbox where state = 'draft' and content <> '{}')) as has_draft,
		e.id is not null as escalated, coalesce(e.claimed_by, '') as claimed_by, coalesce(u.cost, 0)::bigint as cost
	from unnest($1::bigint[]) c(id)
	left join lateral (select body, author, ts from messages where chat_id = c.id and kind <> 'reaction' and redacted_at is null and parked is null
		order by ts desc, id desc limit 1) m on true
	left join lateral (select content, sent_at, created_at from outbox where chat_id = c.id and send_as = 'owner' and event_type = 'm.room.message'
		and state in ('sent', 'delivered') and replaces = '' order by coalesce(sent_at, created_at) desc limit 1) o on true
	left join escalations e on e.chat_id = c.id and e.closed_at is null
	left join (select chat_id, sum(coalesce(cost, reserved)) as cost from usage where day > current_date - 30 group by 1) u on u.chat_id = c.id`

// ChatGlances returns what a list shows of chats.
func ChatGlances(ctx context.Context, db DB, chats []ChatID) (map[ChatID]ChatGlance, error) {
	list, err := row.All[ChatGlance](ctx, db, "chats", chatGlancesSQL, chats)
	found := make(map[ChatID]ChatGlance, len(list))
	for _, g := range list {
		found[g.ChatID] = g
	}
	return found, err
}

const chatLogSQL = "select " + messageColumns + ` from messages m where m.chat_id = @chat and m.kind <> 'reaction'
	and (@before = 0 or (m.ts, m.id) < (select b.ts, b.id from messages b where b.id = @before and b.chat_id = @chat))
	order by m.ts desc, m.id desc limit @limit`

// ChatLog returns the newest messages of a chat that are older than one of them, the newest first. A zero before means any.
func ChatLog(ctx context.Context, db DB, chat ChatID, before MessageID, limit int) ([]Message, error) {
	return collectMessages(ctx, db, chatLogSQL, pgx.NamedArgs{"chat": chat, "before": before, "limit": limit})
}

const saidSQL = "select " + outboxColumns + ` from outbox o where o.id in (
		select id from outbox where chat_id = $1 and send_as = 'owner' and event_type = 'm.room.message' and coalesce(sent_at, created_at) >= $2 and coalesce(sent_at, created_at) < $3
		union all select unnest($4::uuid[]))
	and o.chat_id = $1 and o.replaces = '' order by coalesce(o.sent_at, o.created_at), o.seq`

// SaidInChat returns what multis said in a chat in a period, or would have said, and some other messages, the oldest first.
func SaidInChat(ctx context.Context, db DB, chat ChatID, from, until time.Time, also []uuid.UUID) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "what was said", saidSQL, chat, from, until, also)
}

// WaitingDraft is a draft that waits for the owner, with what it answers.
type WaitingDraft struct {
	ID        uuid.UUID
	ChatID    ChatID
	Texts     []string // of its parts
	Citations []Citation
	Asked     string // what the contact wrote; empty for a draft that answers nothing
	AskedAt   *time.Time
	CreatedAt time.Time
	ExpiresAt *time.Time // nil until the admin room shows it
}

const waitingDraftsSQL = `select o.id, o.chat_id, o.citations, o.created_at,
		array(select coalesce(p.content ->> 'body', '') from outbox p where p.id = o.id or p.part_of = o.id order by p.seq) as texts,
		coalesce(m.body, '') as asked, m.ts as asked_at,
		(select max(d.expires_at) from dialogs d where d.draft_id = o.id and d.kind = 'draft') as expires_at
	from outbox o left join lateral (select body, ts from messages where outbox_id = o.id and chat_id = o.chat_id and redacted_at is null
		order by ts desc, id desc limit 1) m on true
	where o.state = 'draft' and coalesce(o.part_of = o.id, true) and o.content <> '{}' order by o.seq limit $1`

// WaitingDrafts returns the drafts that wait for the owner, the oldest first.
func WaitingDrafts(ctx context.Context, db DB, limit int) ([]WaitingDraft, error) {
	return row.All[WaitingDraft](ctx, db, "drafts", waitingDraftsSQL, limit)
}

// WaitingCall is a tool call or a plan that waits for the owner's yes.
type WaitingCall struct {
	Approval

	Agent string
	Asked string // the request that its task works on; empty if it is not known
}

const waitingCallsSQL = "select " + approvalColumns + `, t.agent, coalesce(nullif(t.input, ''), m.body, '') as asked
	from approvals a join tasks t on t.id = a.task_id left join messages m on m.id = t.message_id and m.redacted_at is null
	where a.allowed is null and a.expires_at > $1 order by coalesce(a.card, a.id), a.id limit $2`

// WaitingCalls returns the calls that wait for the owner's yes, the oldest first, those on one card together.
func WaitingCalls(ctx context.Context, db DB, now time.Time, limit int) ([]WaitingCall, error) {
	return row.All[WaitingCall](ctx, db, "approvals", waitingCallsSQL, now, limit)
}

// EscalationMessage is a message that an open escalation is about.
type EscalationMessage struct {
	Message

	EscalationID EscalationID
}

const escalationMessagesSQL = "select e.id as escalation_id, " + messageColumns +
	` from escalations e join lateral (select * from messages x
		where x.chat_id = e.chat_id and (x.id >= e.message_id or exists (select from escalation_lines l where l.escalation_id = e.id and l.message_id = x.id))
			and x.redacted_at is null and x.parked is null and x.kind <> 'reaction' and x.code not in ('edited', 'flood', 'backfill')
		order by x.ts desc, x.id desc limit $2) m on true
	where e.id = any ($1) order by e.id, m.ts, m.id`

// EscalationMessages returns the newest messages that each of some escalations is about, the oldest first.
func EscalationMessages(ctx context.Context, db DB, escalations []EscalationID, limit int) (map[EscalationID][]Message, error) {
	list, err := row.All[EscalationMessage](ctx, db, "messages of escalations", escalationMessagesSQL, escalations, limit)
	found := map[EscalationID][]Message{}
	for _, m := range list {
		found[m.EscalationID] = append(found[m.EscalationID], m.Message)
	}
	return found, err
}

const waitingCardsSQL = `select 'approval-' || c.card from (select distinct coalesce(card, id) as card from approvals where allowed is null and expires_at > $1) c
	union all select 'escalation-' || id from escalations where closed_at is null
	union all select 'draft-' || id from outbox where state = 'draft' and coalesce(part_of = id, true) and content <> '{}'`

// WaitingCards returns the names of the tool calls, escalations and drafts that wait for the owner: a kind, a dash and an id.
func WaitingCards(ctx context.Context, db DB, now time.Time) ([]string, error) {
	return row.Values[string](ctx, db, "what waits", waitingCardsSQL, now)
}

// JobQueue counts the jobs of a queue.
type JobQueue struct {
	Queue      string
	Running    int
	Waiting    int        // they could begin now
	Later      int        // they begin at a time
	Again      int        // they failed and are tried again
	Failed     int        // they were given up
	WaitsSince *time.Time // of the oldest that waits; nil for none
}

const jobQueuesSQL = `select queue, count(*) filter (where state = 'running') as running, count(*) filter (where state = 'available') as waiting,
		count(*) filter (where state in ('scheduled', 'pending')) as later, count(*) filter (where state = 'retryable') as again,
		count(*) filter (where state = 'discarded') as failed, min(scheduled_at) filter (where state = 'available') as waits_since
	from river.river_job group by queue order by queue`

// JobQueues counts the jobs of all queues.
func JobQueues(ctx context.Context, db DB) ([]JobQueue, error) {
	return row.All[JobQueue](ctx, db, "queues", jobQueuesSQL)
}

// FailedJob is a job of which an attempt failed.
type FailedJob struct {
	ID          int64
	Kind        string
	Queue       string
	State       string
	Attempt     int
	MaxAttempts int
	ScheduledAt time.Time
	At          time.Time // of the last error
	Error       string
}

const lastFailedJobsSQL = `select id, kind, queue, state::text as state, attempt, max_attempts, scheduled_at, (last ->> 'at')::timestamptz as at, coalesce(last ->> 'error', '') as error
	from (select *, errors[cardinality(errors)] as last from river.river_job where cardinality(errors) > 0) j order by at desc, id desc limit $1`

// LastFailedJobs returns the jobs of which an attempt failed, the last error first.
func LastFailedJobs(ctx context.Context, db DB, limit int) ([]FailedJob, error) {
	return row.All[FailedJob](ctx, db, "failed jobs", lastFailedJobsSQL, limit)
}
