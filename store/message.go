package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store/row"
	"multis/text"
)

// Message is one line of a chat, with what was decided about it.
type Message struct {
	ID        MessageID
	ChatID    ChatID
	EventID   id.EventID
	Author    policy.Author
	Sender    id.UserID
	Kind      string
	Body      string
	RelatesTo id.EventID
	// Attachment is the file a message carries; nil for none.
	Attachment *Attachment
	// Parked is the ciphertext of a message that could not be read yet.
	Parked     json.RawMessage
	At         time.Time // the event's own time
	ReceivedAt time.Time
	EditedAt   *time.Time
	RedactedAt *time.Time
	Action     policy.Action
	Code       policy.Code
	Reason     string
	AnsweredAt *time.Time
	OutboxID   *uuid.UUID
	// ParkedIn is the room that an encrypted message came in: its key is one of that room.
	ParkedIn id.RoomID
}

// Attachment is a file on the homeserver.
type Attachment bridgebridge.File

// Duration is how long it plays, as its sender said; 0 when unknown.
func (a *Attachment) Duration() time.Duration { return time.Duration(a.Millis) * time.Millisecond }

// clean makes what a sender put there storable. The parts of its key are plain words.
func (a *Attachment) clean() *Attachment {
	if a == nil {
		return nil
	}
	c := *a
	c.URL, c.Name, c.MIME = id.ContentURIString(text.Storable(string(a.URL))), text.Storable(a.Name), text.Storable(a.MIME)
	return &c
}

const messageColumns = `m.id, m.chat_id, m.event_id, m.author, m.sender, m.kind, m.body, m.relates_to, m.attachment, m.parked, m.ts, m.received_at, m.edited_at,
	m.redacted_at, m.action, m.code, m.reason, m.answered_at, m.outbox_id, m.parked_in`

const markSeenSQL = "insert into seen_events (event_id) select e from unnest($1::text[]) e order by e on conflict do nothing returning event_id"

// MarkProcessed claims events for this transaction and returns those that nobody took in before.
func MarkProcessed(ctx context.Context, tx Tx, events []id.EventID) (map[id.EventID]bool, error) {
	rows, err := tx.Query(ctx, markSeenSQL, events)
	if err != nil {
		return nil, fmt.Errorf("mark events seen: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.EventID])
	if err != nil {
		return nil, fmt.Errorf("mark events seen: %w", err)
	}
	fresh := make(map[id.EventID]bool, len(ids))
	for _, e := range ids {
		fresh[e] = true
	}
	return fresh, nil
}

const insertMessageSQL = `with one as (
		insert into messages (chat_id, event_id, author, sender, kind, body, relates_to, attachment, parked, parked_in, ts, edited_at, action, code, reason)
		values (@chat, @event, @author, @sender, @kind, @body, @relates, @attachment, @parked, @parked_in, @at, @edited, @action, @code, @reason) returning id),
	touch as (update chats set last_message_at = greatest(last_message_at, @at) where id = @chat and @kind <> 'reaction'),
	remember as (insert into chat_memory as m (chat_id, fresh) select @chat, 1 where @fresh and @at > now() - interval '1 day'
		on conflict (chat_id) do update set fresh = m.fresh + 1, fresh_at = now())
	select id from one`

// InsertMessage stores a message and returns its id.
func InsertMessage(ctx context.Context, tx Tx, m Message) (MessageID, error) {
	var row MessageID
	err := tx.QueryRow(ctx, insertMessageSQL, pgx.NamedArgs{
		"chat": m.ChatID, "event": m.EventID, "author": m.Author, "sender": m.Sender, "kind": m.Kind, "body": text.Storable(m.Body), "relates": text.Storable(m.RelatesTo.String()),
		"attachment": m.Attachment.clean(), "parked": m.Parked, "parked_in": m.ParkedIn, "at": m.At, "edited": m.EditedAt, "action": m.Action, "code": m.Code, "reason": m.Reason,
		"fresh": fresh(m),
	}).Scan(&row)
	if err != nil {
		return 0, fmt.Errorf("store message: %w", err)
	}
	return row, nil
}

const editMessageSQL = `update messages set body = @body, edited_at = @at, edits = edits + 1
	where chat_id = @chat and event_id = @event and sender = @sender and redacted_at is null and parked is null and coalesce(edited_at, '-infinity') <= @at`

// EditMessage replaces the text of a sender's own message, and what was learned from it goes. False: there is none that can be read, or
// it was edited later than that already.
func EditMessage(ctx context.Context, tx Tx, chat ChatID, event id.EventID, sender id.UserID, body string, at time.Time) (bool, error) {
	tag, err := tx.Exec(ctx, editMessageSQL, pgx.NamedArgs{"chat": chat, "event": event, "sender": sender, "body": text.Storable(body), "at": at})
	if err != nil {
		return false, fmt.Errorf("edit message: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return false, nil
	}
	message, err := row.Value[MessageID](ctx, tx, "edited message", messageOfEventSQL, chat, event)
	if err != nil {
		return false, err
	}
	scope, err := scopeOfDoomed(ctx, tx, DeletionSet{Messages: []MessageID{message}})
	if err != nil {
		return false, err
	}
	_, err = unlearn(ctx, tx, scope, []MessageID{message}, []NoteID{})
	return true, err
}

const waitingEventSQL = "select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.event_id = $2 and m.answered_at is null and m.action in ('answer', 'handoff')`

// WaitingMessageOfEvent returns the message of an event that a turn has still to answer, or ErrNotFound.
func WaitingMessageOfEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Message, error) {
	return oneMessage(ctx, db, waitingEventSQL, chat, event)
}

const readmitSQL = "update messages set action = $2, code = $3, reason = $4 where id = $1 and answered_at is null"

// SetAdmission replaces what was decided about a message that still waits.
func SetAdmission(ctx context.Context, tx Tx, message MessageID, d policy.Admission) error {
	return row.Exec(ctx, tx, "judge message anew", readmitSQL, message, d.Action, d.Code, d.Why)
}

const messageByIDSQL = "select " + messageColumns + " from messages m where m.id = $1"

// MessageByID returns one message, or ErrNotFound.
func MessageByID(ctx context.Context, db DB, message MessageID) (Message, error) {
	return oneMessage(ctx, db, messageByIDSQL, message)
}

const waitingSQL = "select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.answered_at is null and m.action in ('answer', 'handoff') order by m.ts, m.id limit 100`

// WaitingMessages returns the messages of a chat that a turn has to answer, oldest first.
func WaitingMessages(ctx context.Context, db DB, chat ChatID) ([]Message, error) {
	return collectMessages(ctx, db, waitingSQL, chat)
}

const holdMessagesSQL = "select " + messageColumns + " from messages m where m.id = any($1) order by m.id for update"

// LockMessages reads messages as they are now and keeps others from changing them until the transaction ends.
func LockMessages(ctx context.Context, tx Tx, messages []MessageID) ([]Message, error) {
	return collectMessages(ctx, tx, holdMessagesSQL, messages)
}

// ErrChanged is returned by LockUnchanged when a message is not what was read. The caller does its work anew.
var ErrChanged = errors.New("a message was deleted or edited meanwhile")

// LockUnchanged locks messages until the transaction ends and returns them as they are now. It returns ErrChanged when one of them was
// deleted, or when the body of one in read, which are some or all of them, was edited.
func LockUnchanged(ctx context.Context, tx Tx, messages []MessageID, read []Message) ([]Message, error) {
	now, err := LockMessages(ctx, tx, messages)
	if err != nil {
		return nil, err
	}
	bodies := make(map[MessageID]string, len(now))
	for _, m := range now {
		if m.RedactedAt == nil {
			bodies[m.ID] = m.Body
		}
	}
	isDeleted := func(id MessageID) bool { _, found := bodies[id]; return !found }
	isEdited := func(m Message) bool { body, found := bodies[m.ID]; return !found || body != m.Body }
	if slices.ContainsFunc(messages, isDeleted) || slices.ContainsFunc(read, isEdited) {
		return nil, ErrChanged
	}
	return now, nil
}

const settleSQL = `update messages set answered_at = now(), outbox_id = @outbox, code = @code, reason = @reason
	where id = any(@ids) and answered_at is null`

// MarkAnswered notes what a turn or command made of messages: the reply it queued, or nil, and why. It returns how many were still open.
func MarkAnswered(ctx context.Context, tx Tx, messages []MessageID, outbox *uuid.UUID, code policy.Code, reason string) (int64, error) {
	tag, err := tx.Exec(ctx, settleSQL, pgx.NamedArgs{"ids": messages, "outbox": outbox, "code": code, "reason": reason})
	if err != nil {
		return 0, fmt.Errorf("settle messages: %w", err)
	}
	return tag.RowsAffected(), nil
}

const explainSQL = "select " + messageColumns + ` from messages m join chats c on c.id = m.chat_id
	where c.kind <> 'admin' and m.kind <> 'reaction' and m.author = 'contact' and (@chat = 0 or m.chat_id = @chat) and (@event = '' or m.event_id = @event)
	order by m.ts desc, m.id desc limit @limit`

// DecidedMessages returns the newest messages of contacts with what was decided about them, newest first. Zero chat and empty event mean any.
func DecidedMessages(ctx context.Context, db DB, chat ChatID, event id.EventID, limit int) ([]Message, error) {
	return collectMessages(ctx, db, explainSQL, pgx.NamedArgs{"chat": chat, "event": event, "limit": limit})
}

const countContactSQL = `select coalesce(sum(n) filter (where at > $3::timestamptz), 0)::int, coalesce(sum(n) filter (where at > $4::timestamptz), 0)::int from (
	select 1 as n, ts as at from messages where chat_id = $1 and sender = $2 and code <> 'flood' and ts > least($3::timestamptz, $4::timestamptz)
	union all select edits, edited_at from messages where chat_id = $1 and sender = $2 and edited_at > least($3::timestamptz, $4::timestamptz)) stored`

// CountFromSender counts what one sender wrote and edited in a chat since two instants. All edits of a message count as of the last one.
func CountFromSender(ctx context.Context, db DB, chat ChatID, sender id.UserID, minute, day time.Time) (inMinute, inDay int, err error) {
	if err := db.QueryRow(ctx, countContactSQL, chat, sender, minute, day).Scan(&inMinute, &inDay); err != nil {
		return 0, 0, fmt.Errorf("count messages: %w", err)
	}
	return inMinute, inDay, nil
}

const floodedSQL = "select coalesce((select code = 'flood' from messages where chat_id = $1 and sender = $2 order by id desc limit 1), false)"

// IsFlooding tells whether the last that was noted of a sender is that he wrote too much.
func IsFlooding(ctx context.Context, db DB, chat ChatID, sender id.UserID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, floodedSQL, chat, sender).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for a flood: %w", err)
	}
	return yes, nil
}

// StaleChat is how many messages of one chat came too late for an answer.
type StaleChat struct {
	ChatID   ChatID
	Name     string
	Protocol string
	Messages int
	Oldest   time.Time
	Newest   time.Time
}

const takeStaleSQL = `with taken as (
		update messages set digested_at = now() where code = 'stale' and digested_at is null returning chat_id, ts)
	select t.chat_id, c.name, c.protocol, count(*), min(t.ts), max(t.ts) from taken t join chats c on c.id = t.chat_id group by 1, 2, 3 order by 4 desc, 2, 1`

// TakeStale returns what came too late for an answer and was not reported yet, and marks it reported.
func TakeStale(ctx context.Context, tx Tx) ([]StaleChat, error) {
	rows, err := tx.Query(ctx, takeStaleSQL)
	if err != nil {
		return nil, fmt.Errorf("collect late messages: %w", err)
	}
	chats, err := pgx.CollectRows(rows, pgx.RowToStructByPos[StaleChat])
	if err != nil {
		return nil, fmt.Errorf("collect late messages: %w", err)
	}
	return chats, nil
}

const newestStaleSQL = "select max(received_at) from messages where code = 'stale' and digested_at is null"

// NewestStale tells when the last late message that was not reported yet arrived. Nil: there is none.
func NewestStale(ctx context.Context, db DB) (*time.Time, error) {
	var at *time.Time
	if err := db.QueryRow(ctx, newestStaleSQL).Scan(&at); err != nil {
		return nil, fmt.Errorf("look for late messages: %w", err)
	}
	return at, nil
}

func oneMessage(ctx context.Context, db DB, sql string, args ...any) (Message, error) {
	return row.One[Message](ctx, db, "message", sql, args...)
}

func collectMessages(ctx context.Context, db DB, sql string, args ...any) ([]Message, error) {
	return row.All[Message](ctx, db, "messages", sql, args...)
}

const parkedSQL = "select m.id from messages m where m.parked->>'session_id' = $1 and m.redacted_at is null"

// ParkedForSession returns the messages that wait for the key of a session.
func ParkedForSession(ctx context.Context, db DB, session id.SessionID) ([]MessageID, error) {
	rows, err := db.Query(ctx, parkedSQL, session)
	if err != nil {
		return nil, fmt.Errorf("look for encrypted messages: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[MessageID])
	if err != nil {
		return nil, fmt.Errorf("look for encrypted messages: %w", err)
	}
	return ids, nil
}

const parkedWithKeySQL = `select m.id from messages m join matrix.crypto_megolm_inbound_session k on k.session_id = m.parked->>'session_id'
	where m.parked is not null and m.redacted_at is null and k.session is not null and k.account_id = any($1) order by m.id limit $2`

// ParkedWithKey returns messages that wait for a key which one of the devices has.
func ParkedWithKey(ctx context.Context, db DB, devices []string, limit int) ([]MessageID, error) {
	return row.Values[MessageID](ctx, db, "encrypted messages whose key is here", parkedWithKeySQL, devices, limit)
}

const firstOfSessionSQL = `select not exists (select from messages o join messages m on m.id = $1
	where o.chat_id = m.chat_id and o.id < m.id and o.parked->>'session_id' = m.parked->>'session_id')`

// IsFirstOfSession tells whether no older row waits for the same key as a message does.
func IsFirstOfSession(ctx context.Context, db DB, message MessageID) (bool, error) {
	return row.Value[bool](ctx, db, "look for messages with the same key", firstOfSessionSQL, message)
}

const parkedSessionsSQL = `select max(m.id) from messages m where m.parked is not null and m.redacted_at is null
	group by m.chat_id, m.parked->>'session_id' order by 1 desc limit $1`

// ParkedSessions returns one message for each key that is waited for, the newest keys first.
func ParkedSessions(ctx context.Context, db DB, limit int) ([]MessageID, error) {
	rows, err := db.Query(ctx, parkedSessionsSQL, limit)
	if err != nil {
		return nil, fmt.Errorf("look for keys that did not come: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[MessageID])
	if err != nil {
		return nil, fmt.Errorf("look for keys that did not come: %w", err)
	}
	return ids, nil
}

const unreadableSQL = `select distinct on (m.chat_id) m.chat_id, m.reason, count(*) over (partition by m.chat_id)
	from messages m join chats c on c.id = m.chat_id where m.parked is not null and c.kind <> 'admin' order by m.chat_id, m.id desc`

// UnreadableChat is a chat with messages that cannot be read, and why the newest of them cannot.
type UnreadableChat struct {
	ChatID   ChatID
	Why      string
	Messages int
}

// UnreadableChats returns the chats with messages that wait for a key.
func UnreadableChats(ctx context.Context, db DB) ([]UnreadableChat, error) {
	return row.All[UnreadableChat](ctx, db, "unreadable chats", unreadableSQL)
}

const takeParkedSQL = "delete from messages where id = $1 and parked is not null and redacted_at is null"

// DeleteParked removes a message whose content was decrypted, to make place for what it says. False: somebody did it before.
func DeleteParked(ctx context.Context, tx Tx, message MessageID) (bool, error) {
	tag, err := tx.Exec(ctx, takeParkedSQL, message)
	if err != nil {
		return false, fmt.Errorf("take encrypted message: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const explainParkedSQL = "update messages set reason = $2 where id = $1 and parked is not null"

// SetParkedReason says why a message cannot be read.
func SetParkedReason(ctx context.Context, tx Tx, message MessageID, why string) error {
	return row.Exec(ctx, tx, "explain encrypted message", explainParkedSQL, message, why)
}

const unindexedSQL = "select " + messageColumns + ` from messages m where m.id in (select id from messages where unindexed order by id limit $1)
	order by m.id for update of m skip locked`

// UnindexedMessages returns up to limit messages that the archive's index does not hold as they are now, and keeps others
// from changing them until the transaction ends. The oldest rows come first.
func UnindexedMessages(ctx context.Context, tx Tx, limit int) ([]Message, error) {
	return collectMessages(ctx, tx, unindexedSQL, limit)
}

const hasUnindexedSQL = "select exists (select from messages where unindexed)"

// HasUnindexed tells whether there are messages that the index does not hold as they are.
func HasUnindexed(ctx context.Context, db DB) (bool, error) {
	return row.Value[bool](ctx, db, "waiting messages", hasUnindexedSQL)
}
