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
	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

// Message is a message of a chat, with the decision about it.
type Message struct {
	ID        MessageID
	ChatID    ChatID
	EventID   id.EventID
	Author    policy.Author
	Sender    id.UserID
	Kind      string
	Body      string
	RelatesTo id.EventID
	// Attachment is a file on the homeserver.
	Attachment *Attachment
	// Parked is the ciphertext of a message whose key is missing.
	Parked     json.RawMessage
	At         time.Time `db:"ts"` // the event's own time
	ReceivedAt time.Time
	EditedAt   *time.Time
	RedactedAt *time.Time
	Action     policy.Action
	Code       policy.Code
	Reason     string
	AnsweredAt *time.Time
	OutboxID   *uuid.UUID
	// ParkedIn is the room of a parked message, and of the key that it needs.
	ParkedIn id.RoomID
	// Thread is the first event of the thread of the message; empty if it is in no thread.
	Thread id.EventID
}

// Attachment is a file on the homeserver.
type Attachment bridgebridge.File

// Duration returns how long a recording is, as its sender said; 0 if unknown.
func (a *Attachment) Duration() time.Duration { return time.Duration(a.Millis) * time.Millisecond }

// clean returns the attachment with texts that Postgres can store.
func (a *Attachment) clean() *Attachment {
	if a == nil {
		return nil
	}
	c := *a
	c.URL = id.ContentURIString(text.Storable(string(a.URL)))
	c.Name = text.Storable(a.Name)
	c.MIME = text.Storable(a.MIME)
	return &c
}

const messageColumns = `m.id, m.chat_id, m.event_id, m.author, m.sender, m.kind, m.body, m.relates_to, m.attachment, m.parked, m.ts, m.received_at, m.edited_at,
	m.redacted_at, m.action, m.code, m.reason, m.answered_at, m.outbox_id, m.parked_in, m.thread`

// markProcessedSQL marks events, and says of each whether it is new and whether an edit came before it.
const markProcessedSQL = `with fresh as (insert into seen_events (event_id)
		select ($1::text[])[n] from generate_subscripts($1::text[], 1) n order by 1 on conflict do nothing returning event_id)
	select e.id, exists (select from fresh f where f.event_id = e.id) as fresh,
		exists (select from messages m where m.relates_to = e.id and m.code = 'edited') as edited
	from generate_subscripts($1::text[], 1) n, lateral (select ($1::text[])[n] as id) e`

// Processed are events that are being stored.
type Processed struct {
	New    map[id.EventID]bool // those that were not processed before
	Edited map[id.EventID]bool // those whose edit came before them
}

// MarkProcessed marks events as processed. Another transaction with the same events waits for this one.
func MarkProcessed(ctx context.Context, tx Tx, events []id.EventID) (Processed, error) {
	type event struct {
		ID     id.EventID
		Fresh  bool
		Edited bool
	}
	marked, err := row.All[event](ctx, tx, "events to process", markProcessedSQL, events)
	p := Processed{New: make(map[id.EventID]bool, len(marked)), Edited: map[id.EventID]bool{}}
	for _, e := range marked {
		p.New[e.ID] = p.New[e.ID] || e.Fresh
		p.Edited[e.ID] = p.Edited[e.ID] || e.Edited
	}
	return p, err
}

const insertMessageSQL = `with one as (
		insert into messages (chat_id, event_id, author, sender, kind, body, relates_to, attachment, parked, parked_in, thread, ts, edited_at, action, code, reason)
		values (@chat, @event, @author, @sender, @kind, @body, @relates, @attachment, @parked, @parked_in, @thread, @at, @edited, @action, @code, @reason) returning id),
	touch as (update chats set last_message_at = greatest(last_message_at, @at) where id = @chat and @kind <> 'reaction'),
	remember as (insert into chat_memory as m (chat_id, fresh) select @chat, 1 where @fresh and @at > now() - interval '1 day'
		on conflict (chat_id) do update set fresh = m.fresh + 1, fresh_at = now())
	select id from one`

// InsertMessage stores a message and returns its id.
func InsertMessage(ctx context.Context, tx Tx, m Message) (MessageID, error) {
	var row MessageID
	err := tx.QueryRow(ctx, insertMessageSQL, pgx.NamedArgs{
		"chat": m.ChatID, "event": m.EventID, "author": m.Author, "sender": m.Sender, "kind": m.Kind, "body": text.Storable(m.Body),
		"relates":    text.Storable(m.RelatesTo.String()),
		"attachment": m.Attachment.clean(), "parked": m.Parked, "parked_in": m.ParkedIn, "thread": text.Storable(m.Thread.String()), "at": m.At,
		"edited": m.EditedAt, "action": m.Action, "code": m.Code, "reason": m.Reason,
		"fresh": countsForCapture(m),
	}).Scan(&row)
	if err != nil {
		return 0, fmt.Errorf("store message: %w", err)
	}
	return row, nil
}

const editMessageSQL = `update messages set body = @body, edited_at = @at, edits = edits + 1
	where chat_id = @chat and event_id = @event and sender = @sender and redacted_at is null and parked is null and coalesce(edited_at, '-infinity') <= @at`

// EditMessage replaces the text of a sender's own message and removes what was learned from it. It returns false if there is no readable
// message, or if a later edit was stored before.
func EditMessage(ctx context.Context, tx Tx, chat ChatID, event id.EventID, sender id.UserID, body string, at time.Time) (bool, error) {
	tag, err := tx.Exec(ctx, editMessageSQL, pgx.NamedArgs{
		"chat": chat, "event": event, "sender": sender, "body": text.Storable(body),
		"at": at,
	})
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
	scope, err := deletionScope(ctx, tx, DeletionSet{Messages: []MessageID{message}})
	if err != nil {
		return false, err
	}
	if _, err := deleteDerivedNotes(ctx, tx, scope, []MessageID{message}, []NoteID{}); err != nil {
		return false, err
	}
	return true, forgetUnanswered(ctx, tx, message)
}

const waitingMessageOfEventSQL = "select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.event_id = $2 and m.action in ('answer', 'escalate')
	and (m.answered_at is null or exists (select from outbox o where o.id = m.outbox_id and o.seen_id > 0 and o.state = 'draft'))`

// WaitingMessageOfEvent returns the message of an event if a turn has to answer it, or if its answer is a draft, or ErrNotFound.
func WaitingMessageOfEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Message, error) {
	return oneMessage(ctx, db, waitingMessageOfEventSQL, chat, event)
}

const replaceDescriptionSQL = `update messages set author = @author, kind = @kind, body = @body, attachment = @attachment, ts = @at, action = @action, code = @code,
	reason = @reason, answered_at = null where id = @id and redacted_at is null`

// ReplaceDescription stores a message in the row of the notice that stood for it while its bridge could not show it.
func ReplaceDescription(ctx context.Context, tx Tx, m Message) error {
	return row.Exec(ctx, tx, "replace a notice by its message", replaceDescriptionSQL, pgx.NamedArgs{
		"id": m.ID, "author": m.Author, "kind": m.Kind, "body": text.Storable(m.Body), "attachment": m.Attachment.clean(), "at": m.At,
		"action": m.Action, "code": m.Code, "reason": m.Reason,
	})
}

const setAdmissionSQL = "update messages set action = $2, code = $3, reason = $4 where id = $1 and answered_at is null"

// SetAdmission replaces the decision about a message that is not answered yet.
func SetAdmission(ctx context.Context, tx Tx, message MessageID, d policy.Admission) error {
	return row.Exec(ctx, tx, "replace admission", setAdmissionSQL, message, d.Action, d.Code, d.Why)
}

const messageByIDSQL = "select " + messageColumns + " from messages m where m.id = $1"

// MessageByID returns one message, or ErrNotFound.
func MessageByID(ctx context.Context, db DB, message MessageID) (Message, error) {
	return oneMessage(ctx, db, messageByIDSQL, message)
}

const waitingMessagesSQL = "select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.answered_at is null and m.action in ('answer', 'escalate') order by m.ts, m.id limit 100`

// WaitingMessages returns the messages of a chat that a turn has to answer, the oldest first.
func WaitingMessages(ctx context.Context, db DB, chat ChatID) ([]Message, error) {
	return collectMessages(ctx, db, waitingMessagesSQL, chat)
}

const lockMessagesSQL = "select " + messageColumns + " from messages m where m.id = any($1) order by m.id for update"

// LockMessages returns messages, locked until the end of the transaction.
func LockMessages(ctx context.Context, tx Tx, messages []MessageID) ([]Message, error) {
	return collectMessages(ctx, tx, lockMessagesSQL, messages)
}

// ErrChanged is returned by LockUnchanged and LockQuoted if a message is not as it was read. The caller starts again.
var ErrChanged = errors.New("a message was deleted or edited meanwhile")

// LockUnchanged is LockMessages for messages that were read before. It returns ErrChanged if one of them was deleted, or
// if the body of a message in read was edited. read holds all of the messages, or some.
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

// storeDelay is the time between the date of a deletion and when it is stored.
const storeDelay = 3 * time.Second

// lockQuotedSQL takes no deletion for a new one that is dated in the future, by a clock that is wrong.
const lockQuotedSQL = `select count(*) filter (where redacted_at > $2 and redacted_at < now() + interval '10 seconds')
	from (select redacted_at from messages where id = any($1) order by id for share) quoted`

// LockQuoted locks messages that a text quotes, which was written since a time: a deletion that comes from then on waits,
// and finds the quote. It returns ErrChanged if one of them was deleted since that time, or in the seconds before.
func LockQuoted(ctx context.Context, tx Tx, messages []MessageID, since time.Time) error {
	if len(messages) == 0 {
		return nil
	}
	deleted, err := row.Value[int](ctx, tx, "lock what is quoted", lockQuotedSQL, messages, since.Add(-storeDelay))
	if err == nil && deleted > 0 {
		err = ErrChanged
	}
	return err
}

const markAnsweredSQL = `update messages set answered_at = now(), outbox_id = @outbox, code = @code, reason = @reason
	where id = any(@ids) and answered_at is null`

// MarkAnswered marks messages as answered, with the outbox message, or nil, and the reason. It returns the number of those that were not
// answered before.
func MarkAnswered(ctx context.Context, tx Tx, messages []MessageID, outbox *uuid.UUID, code policy.Code, reason string) (int64, error) {
	tag, err := tx.Exec(ctx, markAnsweredSQL, pgx.NamedArgs{"ids": messages, "outbox": outbox, "code": code, "reason": reason})
	if err != nil {
		return 0, fmt.Errorf("settle messages: %w", err)
	}
	return tag.RowsAffected(), nil
}

const decidedMessagesSQL = "select " + messageColumns + ` from messages m join chats c on c.id = m.chat_id
	where c.kind <> 'admin' and m.kind <> 'reaction' and m.author = 'contact' and (@chat = 0 or m.chat_id = @chat) and (@event = '' or m.event_id = @event)
	order by m.ts desc, m.id desc limit @limit`

// DecidedMessages returns the newest messages of contacts, with the decisions about them. A zero chat or an empty event means any.
func DecidedMessages(ctx context.Context, db DB, chat ChatID, event id.EventID, limit int) ([]Message, error) {
	return collectMessages(ctx, db, decidedMessagesSQL, pgx.NamedArgs{"chat": chat, "event": event, "limit": limit})
}

const contactTextsSQL = `select body from messages where chat_id = $1 and author = 'contact' and kind <> 'reaction' and redacted_at is null and body <> ''
	order by ts desc, id desc limit $2`

// ContactTexts returns the texts of the newest messages of contacts in a chat, the newest first.
func ContactTexts(ctx context.Context, db DB, chat ChatID, limit int) ([]string, error) {
	return row.Values[string](ctx, db, "texts of contacts", contactTextsSQL, chat, limit)
}

const countFromSenderSQL = `select coalesce(sum(n) filter (where at > $3::timestamptz), 0)::int, coalesce(sum(n) filter (where at > $4::timestamptz), 0)::int from (
	select 1 as n, ts as at from messages where chat_id = $1 and sender = $2 and code <> 'flood' and ts > least($3::timestamptz, $4::timestamptz)
	union all select edits, edited_at from messages where chat_id = $1 and sender = $2 and edited_at > least($3::timestamptz, $4::timestamptz)) stored`

// CountFromSender counts the messages and edits of a sender in a chat since two times. All edits of a message count as if
// made at the time of the last one.
func CountFromSender(ctx context.Context, db DB, chat ChatID, sender id.UserID, minute, day time.Time) (inMinute, inDay int, err error) {
	if err := db.QueryRow(ctx, countFromSenderSQL, chat, sender, minute, day).Scan(&inMinute, &inDay); err != nil {
		return 0, 0, fmt.Errorf("count messages: %w", err)
	}
	return inMinute, inDay, nil
}

const isFloodingSQL = "select coalesce((select code = 'flood' from messages where chat_id = $1 and sender = $2 order by id desc limit 1), false)"

// IsFlooding reports whether the last message of a sender in a chat was over the limit.
func IsFlooding(ctx context.Context, db DB, chat ChatID, sender id.UserID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, isFloodingSQL, chat, sender).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for a flood: %w", err)
	}
	return yes, nil
}

// StaleChat counts the messages of a chat that arrived too late for an answer.
type StaleChat struct {
	ChatID   ChatID
	Name     string
	Protocol string
	Messages int
	Oldest   time.Time
	Newest   time.Time
}

const claimStaleSQL = `with taken as (
		update messages set notified_at = now() where code = 'stale' and notified_at is null returning chat_id, ts)
	select t.chat_id, c.name, c.protocol, count(*) as messages, min(t.ts) as oldest, max(t.ts) as newest from taken t join chats c on c.id = t.chat_id group by 1, 2, 3 order by 4 desc, 2, 1`

// ClaimStale counts by chat the messages that arrived too late and were not reported yet, and marks them as reported.
func ClaimStale(ctx context.Context, tx Tx) ([]StaleChat, error) {
	return row.All[StaleChat](ctx, tx, "late messages", claimStaleSQL)
}

const newestStaleSQL = "select max(received_at) from messages where code = 'stale' and notified_at is null"

// NewestStale returns when the last message that ClaimStale would count arrived; nil if there is none.
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

const parkedForSessionSQL = "select m.id from messages m where m.parked->>'session_id' = $1 and m.redacted_at is null"

// ParkedForSession returns the messages that wait for the key of a session.
func ParkedForSession(ctx context.Context, db DB, session id.SessionID) ([]MessageID, error) {
	return row.Values[MessageID](ctx, db, "encrypted messages", parkedForSessionSQL, session)
}

const parkedWithKeySQL = `select m.id from messages m join matrix.crypto_megolm_inbound_session k on k.session_id = m.parked->>'session_id'
	where m.parked is not null and m.redacted_at is null and k.session is not null and k.account_id = any($1) order by m.id limit $2`

// ParkedWithKey returns the messages that wait for a key which one of the devices has by now.
func ParkedWithKey(ctx context.Context, db DB, devices []string, limit int) ([]MessageID, error) {
	return row.Values[MessageID](ctx, db, "encrypted messages whose key is here", parkedWithKeySQL, devices, limit)
}

const isFirstOfSessionSQL = `select not exists (select from messages o join messages m on m.id = $1
	where o.chat_id = m.chat_id and o.id < m.id and o.parked->>'session_id' = m.parked->>'session_id')`

// IsFirstOfSession reports whether no older message waits for the same key.
func IsFirstOfSession(ctx context.Context, db DB, message MessageID) (bool, error) {
	return row.Value[bool](ctx, db, "look for messages with the same key", isFirstOfSessionSQL, message)
}

const parkedSessionsSQL = `select max(m.id) from messages m where m.parked is not null and m.redacted_at is null
	group by m.chat_id, m.parked->>'session_id' order by 1 desc limit $1`

// ParkedSessions returns one message for each key that is missing, the newest keys first.
func ParkedSessions(ctx context.Context, db DB, limit int) ([]MessageID, error) {
	return row.Values[MessageID](ctx, db, "messages without a key", parkedSessionsSQL, limit)
}

const unreadableChatsSQL = `select distinct on (m.chat_id) m.chat_id, m.reason as why, count(*) over (partition by m.chat_id) as messages
	from messages m join chats c on c.id = m.chat_id where m.parked is not null and c.kind <> 'admin' order by m.chat_id, m.id desc`

// UnreadableChat is a chat with messages that cannot be decrypted, with the reason of the newest one.
type UnreadableChat struct {
	ChatID   ChatID
	Why      string
	Messages int
}

// UnreadableChats returns the chats with messages that wait for a key.
func UnreadableChats(ctx context.Context, db DB) ([]UnreadableChat, error) {
	return row.All[UnreadableChat](ctx, db, "unreadable chats", unreadableChatsSQL)
}

const deleteParkedSQL = "delete from messages where id = $1 and parked is not null and redacted_at is null"

// DeleteParked deletes the row of an encrypted message, so that the decrypted one can be stored. It returns false if that was done before.
func DeleteParked(ctx context.Context, tx Tx, message MessageID) (bool, error) {
	tag, err := tx.Exec(ctx, deleteParkedSQL, message)
	if err != nil {
		return false, fmt.Errorf("take encrypted message: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const setParkedReasonSQL = "update messages set reason = $2 where id = $1 and parked is not null"

// SetParkedReason stores why a message cannot be decrypted.
func SetParkedReason(ctx context.Context, tx Tx, message MessageID, why string) error {
	return row.Exec(ctx, tx, "explain encrypted message", setParkedReasonSQL, message, why)
}

const unindexedMessagesSQL = "select " + messageColumns +
	` from messages m where m.id in (select id from messages where unindexed order by id limit $1)
	order by m.id for update of m skip locked`

// UnindexedMessages returns up to limit messages that are not in the message index as they are now, the oldest first, locked until the end
// of the transaction.
func UnindexedMessages(ctx context.Context, tx Tx, limit int) ([]Message, error) {
	return collectMessages(ctx, tx, unindexedMessagesSQL, limit)
}

const hasUnindexedSQL = "select exists (select from messages where unindexed)"

// IDsOf returns the ids of messages.
func IDsOf(messages []Message) []MessageID {
	ids := make([]MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}
