package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/internal/trace"
	"multis/policy"
	"multis/store/row"
)

// OutboxState is the state of an outbox message.
type OutboxState string

// The states of an outbox message. Dropped means that the gate or the owner refused it, failed that the network did.
const (
	OutboxDraft     OutboxState = "draft"
	OutboxQueued    OutboxState = "queued"
	OutboxSent      OutboxState = "sent"
	OutboxDelivered OutboxState = "delivered"
	OutboxFailed    OutboxState = "failed"
	OutboxDropped   OutboxState = "dropped"
	// OutboxShadow is shown to the owner and never sent. The database lets no row change to or from this state.
	OutboxShadow OutboxState = "shadow"
)

// Citation is a quote that a reply rests on: Quote is in the text that Ref refers to, word for word.
type Citation struct {
	Ref    Ref    `json:"ref"`
	Source string `json:"source"` // as shown to the reader: file, section, lines
	Quote  string `json:"quote"`
}

// OutboxMessage is an event that multis sends.
type OutboxMessage struct {
	ID        uuid.UUID
	Seq       int64
	ChatID    ChatID
	SendAs    policy.SendAs
	Purpose   policy.Purpose
	EventType string
	Content   json.RawMessage
	Code      policy.Code
	Reason    string
	Citations []Citation
	// Addressed is true if the assistant was called by name, which allows an answer in a personal chat.
	Addressed bool
	// Quotes are the messages that it quotes.
	Quotes      []MessageID
	State       OutboxState
	RoomID      id.RoomID
	EventID     *id.EventID
	Error       string
	CreatedAt   time.Time
	SentAt      *time.Time
	DeliveredAt *time.Time
	// PartOf is the first row of a message in parts; nil for a message in one row.
	PartOf *uuid.UUID
	// Sources are the messages whose words may be in it, quoted or not.
	Sources []MessageID
	// Replaces is the event that it edits, such as one that showed the progress; empty for none.
	Replaces id.EventID
	// TaskID is the task whose answer it is; nil for none.
	TaskID *TaskID
	// SeenID is the newest message of the chat that an answer has seen; 0 for a message that answers nothing. A draft with a
	// SeenID is withdrawn when it is outdated: see SeenState.
	SeenID MessageID
	// TraceID is the trace of the job that wrote it; empty if traces were off.
	TraceID string
	// DraftedAs is the purpose of an approved draft before the owner approved it as it stood; empty for other messages.
	DraftedAs policy.Purpose
}

const outboxColumns = `o.id, o.seq, o.chat_id, o.send_as, o.purpose, o.event_type, o.content, o.code, o.reason, o.citations, o.addressed, o.quotes, o.state, o.room_id,
	o.event_id, o.error, o.created_at, o.sent_at, o.delivered_at, o.part_of, o.sources, o.replaces, o.task_id, o.seen_id, o.trace_id, o.drafted_as`

const insertOutboxMessageSQL = `insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, citations, addressed, quotes, sources, replaces, state, part_of, task_id, seen_id, trace_id)
	values (@id, @chat, @as, @purpose, @type, @content, @code, @reason, @citations, @addressed, @quotes, @sources, @replaces, @state, @part, @task, @seen, @trace)`

// InsertOutboxMessage stores an outbox message with the gate's decision.
func InsertOutboxMessage(ctx context.Context, tx Tx, o OutboxMessage) error {
	citations, err := json.Marshal(o.Citations)
	if err != nil || o.Citations == nil {
		citations = []byte("[]")
	}
	return row.Exec(ctx, tx, "store outbox message", insertOutboxMessageSQL, pgx.NamedArgs{
		"id": o.ID, "chat": o.ChatID, "as": o.SendAs, "purpose": o.Purpose, "type": o.EventType, "content": o.Content, "code": o.Code,
		"reason": o.Reason, "citations": citations, "addressed": o.Addressed, "quotes": row.EmptyIfNil(o.Quotes),
		"sources": row.EmptyIfNil(o.Sources), "replaces": o.Replaces, "state": o.State, "part": o.PartOf, "task": o.TaskID, "seen": o.SeenID,
		"trace": trace.ID(ctx),
	})
}

const outboxMessageByIDSQL = "select " + outboxColumns + " from outbox o where o.id = $1"

// OutboxMessageByID returns one outbox message, or ErrNotFound.
func OutboxMessageByID(ctx context.Context, db DB, out uuid.UUID) (OutboxMessage, error) {
	return oneOutboxMessage(ctx, db, outboxMessageByIDSQL, out)
}

// LockOutboxMessage is OutboxMessageByID with a lock until the end of the transaction, so that nobody else sends it.
func LockOutboxMessage(ctx context.Context, tx Tx, out uuid.UUID) (OutboxMessage, error) {
	return oneOutboxMessage(ctx, tx, outboxMessageByIDSQL+" for update", out)
}

const outboxMessageByEventSQL = "select " + outboxColumns + " from outbox o where o.event_id = $1"

// OutboxMessageByEvent returns the outbox message that was sent as an event, or ErrNotFound.
func OutboxMessageByEvent(ctx context.Context, db DB, event id.EventID) (OutboxMessage, error) {
	return oneOutboxMessage(ctx, db, outboxMessageByEventSQL, event)
}

const eraseAnswersSQL = `with answers as (update outbox o set content = '{}', citations = '[]'
		from messages m where m.chat_id = $1 and m.event_id = $2 and m.author = 'contact' and o.chat_id = m.chat_id and o.send_as = 'owner'
			and m.outbox_id in (o.id, o.part_of) and o.content <> '{}'
			and not exists (select from messages x where x.outbox_id = m.outbox_id and x.id <> m.id and x.redacted_at is null) returning o.id),
	files as (delete from outbox_files where outbox_id in (select id from answers))
	select id from answers`

// EraseAnswers empties the answers to a message that was deleted, unless they answer other messages too. It returns them, to be deleted
// from the room. One that is still queued is dropped when it is to be sent.
func EraseAnswers(ctx context.Context, tx Tx, chat ChatID, event id.EventID) ([]uuid.UUID, error) {
	return row.Values[uuid.UUID](ctx, tx, "answers to a deleted message", eraseAnswersSQL, chat, event)
}

const moveToChatSQL = "update outbox set chat_id = $2, content = $3, replaces = '', seq = default where id = $1 and state = 'queued'"

// MoveToChat moves a queued message to another chat, behind the messages that are queued there.
func MoveToChat(ctx context.Context, tx Tx, out uuid.UUID, chat ChatID, content json.RawMessage) error {
	return row.Exec(ctx, tx, "move outbox message", moveToChatSQL, out, chat, content)
}

// IsFirst reports whether the row is the first one of its message.
func (o OutboxMessage) IsFirst() bool { return o.PartOf == nil || *o.PartOf == o.ID }

// AsksContact reports whether the message is a follow-up or asks for a rating. multis sends such a message of its own
// accord; it answers nothing.
func (o OutboxMessage) AsksContact() bool {
	for _, p := range []policy.Purpose{o.Purpose, o.DraftedAs} {
		if p == policy.PurposeFollowUp || p == policy.PurposeRating {
			return true
		}
	}
	return false
}

// Text returns the text of the message, or the new text of an edit; empty if it has none.
func (o OutboxMessage) Text() string {
	var c struct {
		Body string `json:"body"`
		New  *struct {
			Body string `json:"body"`
		} `json:"m.new_content"`
	}
	if err := json.Unmarshal(o.Content, &c); err != nil {
		return ""
	}
	if c.New != nil {
		return c.New.Body
	}
	return c.Body
}

// IsErased reports whether the content was deleted.
func (o OutboxMessage) IsErased() bool { return string(o.Content) == "{}" }

const hasEarlierQueuedSQL = "select exists (select from outbox where chat_id = $1 and seq < $2 and state = 'queued')"

// HasEarlierQueued reports whether an older message is queued in the same chat.
func HasEarlierQueued(ctx context.Context, db DB, o OutboxMessage) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, hasEarlierQueuedSQL, o.ChatID, o.Seq).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for earlier events: %w", err)
	}
	return yes, nil
}

const nextQueuedSQL = `select id from (select id, seq from outbox where chat_id = $1 and state = 'queued' order by seq limit 1) oldest where seq > $2`

// NextQueued returns the oldest message that is queued in the chat of o, if it is younger than o. Otherwise it returns ErrNotFound.
func NextQueued(ctx context.Context, db DB, o OutboxMessage) (uuid.UUID, error) {
	var out uuid.UUID
	if err := db.QueryRow(ctx, nextQueuedSQL, o.ChatID, o.Seq).Scan(&out); err != nil {
		return out, fmt.Errorf("look for the next event: %w", row.NotFound(err))
	}
	return out, nil
}

const ownEventsSQL = `select e.event_id from unnest(@events::text[], @keys::uuid[], @rooms::text[]) e(event_id, key, room_id)
	join outbox o on o.id = e.key or o.event_id = e.event_id join chats c on c.id = o.chat_id
	where e.room_id in (c.room_id, c.former_room) and (o.event_id is null or o.event_id = e.event_id)`

// OwnEvent is an event of a homeserver that multis may have sent: its id, the outbox key in its content, if any, and its room.
type OwnEvent struct {
	Event id.EventID
	Key   string
	Room  id.RoomID
}

// OwnEvents returns which events multis has sent: those with a known id, and those with the key of an outbox message of the same room that
// has no event yet.
func OwnEvents(ctx context.Context, db DB, seen []OwnEvent) (map[id.EventID]bool, error) {
	events := make([]id.EventID, len(seen))
	keys := make([]*uuid.UUID, len(seen)) // nil for what is no key
	rooms := make([]id.RoomID, len(seen))
	for i, s := range seen {
		events[i] = s.Event
		if key, err := uuid.Parse(s.Key); err == nil {
			keys[i] = &key
		}
		rooms[i] = s.Room
	}
	rows, err := db.Query(ctx, ownEventsSQL, pgx.NamedArgs{"events": events, "keys": keys, "rooms": rooms})
	if err != nil {
		return nil, fmt.Errorf("look for our own events: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[id.EventID])
	if err != nil {
		return nil, fmt.Errorf("look for our own events: %w", err)
	}
	own := make(map[id.EventID]bool, len(found))
	for _, e := range found {
		own[e] = true
	}
	return own, nil
}

// markSentSQL empties the message if a message that it rests on was deleted while it was queued.
const markSentSQL = `with was as (select id, state in ('dropped', 'failed') as given_up, state = 'dropped' and code = 'draft_late' as withdrawn from outbox where id = $1 and event_id is null for update)
	update outbox o set event_id = $2, room_id = $3, sent_at = coalesce(sent_at, now()),
	content = case when exists (select from messages m where m.id = any (sources) and m.redacted_at is not null) then '{}' else o.content end,
	citations = case when exists (select from messages m where m.id = any (sources) and m.redacted_at is not null) then '[]' else citations end,
	state = case when state in ('queued', 'dropped', 'failed') then 'sent' else state end from was where o.id = was.id
	returning was.given_up and o.content = '{}' and not o.kept as is_erased, o.kept as is_kept, was.withdrawn as is_withdrawn, o.chat_id`

// LateChange says what was deleted or withdrawn before it was known that a message was sent.
type LateChange struct {
	IsErased bool // it was given up because what it says was deleted: its event must be deleted, too
	IsKept   bool // somebody who may not take it back deleted what it rests on: its event stays
	// IsWithdrawn says that it is an approved draft that was withdrawn while it was being sent.
	IsWithdrawn bool
	ChatID      ChatID
}

// MarkSent stores the event of a message that was sent, even if it was given up meanwhile. A second call changes nothing
// and returns the zero value.
func MarkSent(ctx context.Context, tx Tx, out uuid.UUID, event id.EventID, room id.RoomID) (LateChange, error) {
	late, err := row.One[LateChange](ctx, tx, "mark sent", markSentSQL, out, event, room)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return LateChange{}, err
	}
	return late, row.Exec(ctx, tx, "delete file that was sent", deleteOutboxFileSQL, out)
}

const markDroppedSQL = `with dropped as (update outbox set state = 'dropped', code = $2, reason = $3
		where (id = $1 or (part_of = $1 and state = 'draft')) and state in ('queued', 'draft') returning id)
	delete from outbox_files where outbox_id in (select id from dropped)`

// MarkDropped drops a queued message, or a draft with all its rows, and stores why.
func MarkDropped(ctx context.Context, tx Tx, out uuid.UUID, code policy.Code, reason string) error {
	return row.Exec(ctx, tx, "drop outbox message", markDroppedSQL, out, code, reason)
}

const markFailedSQL = `with failed as (update outbox set state = 'failed', error = $2 where id = $1 and state in ('queued', 'sent') returning id),
	files as (delete from outbox_files where outbox_id in (select id from failed))
	select from failed`

// MarkFailed stores that a message was not delivered. It returns false if its state is final already.
func MarkFailed(ctx context.Context, tx Tx, out uuid.UUID, why string) (bool, error) {
	tag, err := tx.Exec(ctx, markFailedSQL, out, text.Storable(why))
	if err != nil {
		return false, fmt.Errorf("mark failed: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const markDeliveredSQL = "update outbox set state = 'delivered', error = '', delivered_at = $2 where id = $1 and state in ('queued', 'sent', 'failed')"

// MarkDelivered stores that the network has accepted a message.
func MarkDelivered(ctx context.Context, tx Tx, out uuid.UUID, at time.Time) error {
	return row.Exec(ctx, tx, "mark delivered", markDeliveredSQL, out, at)
}

const countOutColumns = `count(distinct coalesce(part_of, id)) filter (where created_at > $2) as minute,
	count(distinct coalesce(part_of, id)) filter (where created_at > $3) as day
	from outbox where chat_id = $1 and send_as = 'owner' and state in ('queued', 'sent', 'delivered', 'failed') and created_at > least($2, $3)
		and id <> $4 and coalesce(part_of <> (select part_of from outbox where id = $4), true)`

const wasSentSinceSQL = "select exists (select from outbox where chat_id = $1 and $2 in (purpose, drafted_as) and created_at > $3 and state <> 'dropped')"

// WasSentSince reports whether a message with a purpose was sent to a chat since a time.
func WasSentSince(ctx context.Context, db DB, chat ChatID, purpose policy.Purpose, since time.Time) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, wasSentSinceSQL, chat, purpose, since).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for sent events: %w", err)
	}
	return yes, nil
}

func oneOutboxMessage(ctx context.Context, db DB, sql string, args ...any) (OutboxMessage, error) {
	return row.One[OutboxMessage](ctx, db, "outbox", sql, args...)
}

const hasUnfinishedWorkSQL = `select exists (select from messages where chat_id = $1 and answered_at is null and action = 'command')
	or exists (select from outbox where chat_id = $1 and state = 'queued')
	or exists (select from river.river_job where kind in ('index', 'export', 'forget') and state in ('available', 'running', 'retryable', 'scheduled'))
	or ($2 and exists (select from river.river_job where kind in ('ask', 'task', 'subtask', 'execution', 'approval', 'present_draft', 'deliver_hook') and state in ('available', 'running')))`

// HasUnfinishedWork reports whether a chat has commands to answer, messages to send, or documents that are being indexed, exported or
// deleted. With tasks it includes running tasks and schedules.
func HasUnfinishedWork(ctx context.Context, db DB, chat ChatID, tasks bool) (bool, error) {
	var open bool
	if err := db.QueryRow(ctx, hasUnfinishedWorkSQL, chat, tasks).Scan(&open); err != nil {
		return false, fmt.Errorf("look for unfinished work: %w", err)
	}
	return open, nil
}
