package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

// ThreadLine is a message of a chat, and where the thread of an escalation shows it.
type ThreadLine struct {
	Message
	Edits   int
	Length  int        // of the body, in characters
	ShownBy *uuid.UUID `db:"shown_by"` // the outbox message that shows it; nil for none
	// ShownEvent is the event of ShownBy; nil until it was sent. Approved is true for a message of multis that a person wrote or approved.
	ShownEvent *id.EventID `db:"shown_event"`
	Approved   bool
}

// threadLinesSQL leaves out replies that were written in the thread, because the thread shows them already.
const threadLinesSQL = "select " + messageColumns + `, m.edits, length(m.body) as length, null::uuid as shown_by, null::text as shown_event,
		coalesce((select s.purpose = 'draft' from outbox s where s.event_id = m.event_id), false) as approved
	from escalations e join messages m on m.chat_id = e.chat_id and m.id > e.message_id
	where e.id = $1 and m.received_at <= coalesce(e.closed_at, 'infinity') and m.redacted_at is null and m.parked is null and m.kind <> 'reaction' and m.code not in ('edited', 'flood', 'backfill')
		and m.author in ('contact', 'operator', 'owner_phone', 'owner_client', 'multis_owner')
		and not exists (select from escalation_lines l where l.escalation_id = e.id and l.message_id = m.id)
		and not exists (select from outbox s join messages w on w.id = any (s.quotes) where s.event_id = m.event_id and w.chat_id <> m.chat_id)
	order by m.id limit $2`

// NewThreadLines returns the messages since a chat was escalated that its thread does not show yet, the oldest first.
func NewThreadLines(ctx context.Context, db DB, escalation EscalationID, limit int) ([]ThreadLine, error) {
	return row.All[ThreadLine](ctx, db, "lines of a thread", threadLinesSQL, escalation, limit)
}

const changedThreadLinesSQL = "select " + messageColumns +
	`, m.edits, length(m.body) as length, l.outbox_id as shown_by, o.event_id as shown_event, false as approved
	from escalation_lines l join messages m on m.id = l.message_id join outbox o on o.id = l.outbox_id
	where l.escalation_id = $1 and m.redacted_at is null and (m.edits, length(m.body)) <> (l.edits, l.length) order by m.id`

// ChangedThreadLines returns the messages that were edited or transcribed after a thread showed them, so that the thread
// shows an old version.
func ChangedThreadLines(ctx context.Context, db DB, escalation EscalationID) ([]ThreadLine, error) {
	return row.All[ThreadLine](ctx, db, "changed lines of a thread", changedThreadLinesSQL, escalation)
}

const showLinesSQL = `insert into escalation_lines (escalation_id, message_id, outbox_id, edits, length)
	select $1, m.id, $3, m.edits, length(m.body) from messages m where m.id = any ($2)
	on conflict (escalation_id, message_id) do update set edits = excluded.edits, length = excluded.length`

// ShowLines stores that an outbox message shows messages as they are now. For a message that is shown already it keeps
// the first outbox message.
func ShowLines(ctx context.Context, tx Tx, escalation EscalationID, messages []MessageID, out uuid.UUID) error {
	return row.Exec(ctx, tx, "note lines of a thread", showLinesSQL, escalation, messages, out)
}

const escalationsShowingSQL = `select distinct l.escalation_id from escalation_lines l join messages m on m.id = l.message_id where m.chat_id = $1 and m.event_id = $2`

// EscalationsShowing returns the escalations whose threads show the message of an event, including closed escalations.
func EscalationsShowing(ctx context.Context, db DB, chat ChatID, event id.EventID) ([]EscalationID, error) {
	return row.Values[EscalationID](ctx, db, "threads of a message", escalationsShowingSQL, chat, event)
}

const escalationsInSQL = "select e.id from escalations e join outbox o on o.id = e.card_id where o.chat_id = $1 and e.closed_at is null order by e.id"

// EscalationsIn returns the open escalations whose thread is in a room.
func EscalationsIn(ctx context.Context, db DB, room ChatID) ([]EscalationID, error) {
	return row.Values[EscalationID](ctx, db, "escalations of a room", escalationsInSQL, room)
}

const dropThreadSQL = `with shown as (delete from escalation_lines where escalation_id = $1)
	update escalations set card_id = null, shown = '' where id = $1`

// DropThread forgets the thread of an escalation, which then gets another one that shows its messages again.
func DropThread(ctx context.Context, tx Tx, escalation EscalationID) error {
	return row.Exec(ctx, tx, "drop a thread", dropThreadSQL, escalation)
}

// leaveThreadSQL keeps a line for the former card, at a message of it that was deleted.
const leaveThreadSQL = `with former as (select e.id, o.id as outbox_id, min(m.id) as message_id from escalations e join outbox o on o.id = e.card_id
			join messages m on m.id = any (o.quotes) and m.redacted_at is not null where e.id = $1 group by e.id, o.id),
	kept as (insert into escalation_lines (escalation_id, message_id, outbox_id, edits, length) select id, message_id, outbox_id, 0, 0 from former
		on conflict (escalation_id, message_id) do update set outbox_id = excluded.outbox_id),
	shown as (delete from escalation_lines where escalation_id = $1 and message_id in (select id from messages where redacted_at is null))
	update escalations set card_id = null, shown = '' where id = $1`

// LeaveThread is DropThread for a thread whose card was deleted with a message that it quotes: what people write there is
// still found by EscalationByEvent.
func LeaveThread(ctx context.Context, tx Tx, escalation EscalationID) error {
	return row.Exec(ctx, tx, "leave a thread", leaveThreadSQL, escalation)
}

const stillAsksSQL = `select q.redacted_at is null and exists (select from messages m where m.id = any (o.quotes) and m.redacted_at is not null)
	from escalations e join outbox o on o.id = e.card_id join messages q on q.id = e.message_id where e.id = $1`

// StillAsks reports whether the card of an escalation was deleted with a message before its question, which stands.
func StillAsks(ctx context.Context, db DB, escalation EscalationID) (bool, error) {
	asks, err := row.Value[bool](ctx, db, "look for the question of a card", stillAsksSQL, escalation)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return asks, err
}

const linesBeforeSQL = "select " + messageColumns + `, m.edits, length(m.body) as length, null::uuid as shown_by, null::text as shown_event,
		coalesce((select s.purpose = 'draft' from outbox s where s.event_id = m.event_id), false) as approved
	from messages f join messages m on m.chat_id = f.chat_id and m.id < f.id and m.ts > f.ts - $2::interval
	where f.id = $1 and m.redacted_at is null and m.parked is null and m.kind <> 'reaction' and m.code not in ('edited', 'flood', 'backfill')
		and m.author in ('contact', 'operator', 'owner_phone', 'owner_client', 'multis_owner')
	order by m.id desc limit $3`

// LinesBefore returns the last messages of a conversation before one of its messages, the newest first. Older ones than
// within are left out.
func LinesBefore(ctx context.Context, db DB, message MessageID, within time.Duration, limit int) ([]ThreadLine, error) {
	return row.All[ThreadLine](ctx, db, "lines of a conversation", linesBeforeSQL, message, within, limit)
}

// holdingMessageSQL reads the newest answers of a chat only.
const holdingMessageSQL = "select " + outboxColumns + ` from (select * from outbox where chat_id = $1 and seen_id > 0 order by seq desc limit 50) o
	where o.created_at >= $2 and coalesce(o.part_of = o.id, true) and o.content <> '{}'
		and (o.state = 'draft' and o.purpose = 'escalation' or o.state in ('queued', 'sent', 'delivered') and o.drafted_as = 'escalation')
	order by o.seq desc limit 1`

// HoldingMessage returns the newest message since a time that tells a contact that a person will answer, if it is a draft
// or was one, or ErrNotFound.
func HoldingMessage(ctx context.Context, db DB, chat ChatID, since time.Time) (OutboxMessage, error) {
	return oneOutboxMessage(ctx, db, holdingMessageSQL, chat, since)
}

const remainingMessagesSQL = "select " + messageColumns + ` from escalations e join messages m on m.chat_id = e.chat_id
	where e.id = $1 and m.author = 'contact' and m.redacted_at is null and m.parked is null and m.kind <> 'reaction' and m.code not in ('edited', 'flood', 'backfill')
		and (m.id > e.message_id or exists (select from escalation_lines l where l.escalation_id = e.id and l.message_id = m.id)) order by m.ts, m.id limit 50`

// RemainingMessages returns what a contact wrote that an open escalation is about, without deleted messages.
func RemainingMessages(ctx context.Context, db DB, escalation EscalationID) ([]Message, error) {
	return collectMessages(ctx, db, remainingMessagesSQL, escalation)
}

const setEscalationMessageSQL = "update escalations set message_id = $2 where id = $1"

// SetEscalationMessage stores which message an escalation is about, after the one that it was opened for was deleted.
func SetEscalationMessage(ctx context.Context, tx Tx, escalation EscalationID, message MessageID) error {
	return row.Exec(ctx, tx, "set the message of an escalation", setEscalationMessageSQL, escalation, message)
}

const cardMessagesSQL = "select " + messageColumns +
	` from escalations e join escalation_lines l on l.escalation_id = e.id and l.outbox_id = e.card_id
	join messages m on m.id = l.message_id where e.id = $1 and m.redacted_at is null order by m.ts, m.id`

// CardMessages returns the messages that the card of an escalation quotes, without deleted ones.
func CardMessages(ctx context.Context, db DB, escalation EscalationID) ([]Message, error) {
	return collectMessages(ctx, db, cardMessagesSQL, escalation)
}

const fileMissingInThreadSQL = "select " + messageColumns +
	` from escalations e join outbox card on card.id = e.card_id and card.event_id is not null
	join escalation_lines l on l.escalation_id = e.id join messages m on m.id = l.message_id
	where e.id = $1 and m.id = $2 and e.closed_at is null and m.attachment is not null and m.redacted_at is null and m.author in ('contact', 'owner_phone', 'owner_client')
		and not exists (select from outbox o where o.quotes @> array[m.id] and o.quotes <> '{}' and o.chat_id = card.chat_id and o.content ? 'filename')`

// FileMissingInThread returns a message with a file that the thread of an open escalation names and has no copy of, or ErrNotFound.
func FileMissingInThread(ctx context.Context, db DB, escalation EscalationID, message MessageID) (Message, error) {
	return oneMessage(ctx, db, fileMissingInThreadSQL, escalation, message)
}

const newestMessageSQL = "select " + messageColumns +
	` from messages m where m.chat_id = $1 and m.redacted_at is null and m.kind <> 'reaction'
	and m.author in ('contact', 'operator', 'owner_phone', 'owner_client', 'multis_owner') order by m.ts desc, m.id desc limit 1`

// NewestMessage returns the newest message of the contact, the owner, an operator or the assistant in a chat, or ErrNotFound.
func NewestMessage(ctx context.Context, db DB, chat ChatID) (Message, error) {
	return oneMessage(ctx, db, newestMessageSQL, chat)
}

const newestOfContactSQL = "select " + messageColumns +
	` from messages m where m.chat_id = $1 and m.redacted_at is null and m.kind <> 'reaction'
	and m.author = 'contact' order by m.ts desc, m.id desc limit 1`

// NewestOfContact returns the newest message of a contact in a chat, or ErrNotFound.
func NewestOfContact(ctx context.Context, db DB, chat ChatID) (Message, error) {
	return oneMessage(ctx, db, newestOfContactSQL, chat)
}

const hasReactionSQL = "select exists (select from messages where chat_id = $1 and relates_to = $2 and sender = $3 and kind = 'reaction' and body like $4 || '%' and redacted_at is null)"

// HasReaction reports whether a person put a reaction on an event.
func HasReaction(ctx context.Context, db DB, room ChatID, event id.EventID, by id.UserID, key string) (bool, error) {
	return row.Value[bool](ctx, db, "look for a reaction", hasReactionSQL, room, event, by, key)
}

const markNoteSQL = "update messages set code = $2, reason = $3 where id = $1"

// MarkNote stores that a message in the thread of an escalation is a note, whatever it is edited into later.
func MarkNote(ctx context.Context, tx Tx, message MessageID) error {
	return row.Exec(ctx, tx, "mark note", markNoteSQL, message, policy.CodeNote, policy.CodeNote.Sentence())
}

const repliesOfSQL = "select " + outboxColumns +
	` from outbox o where o.quotes @> array[$1::bigint] and o.quotes <> '{}' and o.send_as = 'owner' order by o.seq`

// RepliesOf returns the outbox messages to a contact that were queued for a message in a thread, the oldest first: the
// reply, and its edits.
func RepliesOf(ctx context.Context, db DB, message MessageID) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "replies", repliesOfSQL, message)
}

const eraseRepliesSQL = `with said as (update outbox o set content = '{}', citations = '[]' where o.quotes @> array[$1::bigint] and o.quotes <> '{}' and o.send_as = 'owner' and o.content <> '{}' returning o.id),
	files as (delete from outbox_files where outbox_id in (select id from said))
	select id from said`

// EraseReplies empties the outbox messages to a contact that were queued for a message in a thread. It returns them, to
// be deleted from the contact's room. One that is still queued is dropped when it is to be sent.
func EraseReplies(ctx context.Context, tx Tx, message MessageID) ([]uuid.UUID, error) {
	if err := forgetUnanswered(ctx, tx, message); err != nil {
		return nil, err
	}
	return row.Values[uuid.UUID](ctx, tx, "erase replies", eraseRepliesSQL, message)
}

// ThreadReply is a message that a person sent to a contact from a thread.
type ThreadReply struct {
	By      id.UserID
	At      time.Time
	Content json.RawMessage
	State   OutboxState
}

const threadRepliesSQL = `select w.sender as by, o.created_at as at, o.content, o.state from outbox o join messages w on w.id = any (o.quotes) and w.chat_id <> o.chat_id
	where o.chat_id = $1 and o.send_as = 'owner' and o.replaces = '' and o.event_type = 'm.room.message' and o.content <> '{}' and o.created_at >= $2 and o.created_at <= $3 order by o.seq limit 20`

// ThreadReplies returns what people sent to a contact from threads between two times.
func ThreadReplies(ctx context.Context, db DB, chat ChatID, from, until time.Time) ([]ThreadReply, error) {
	return row.All[ThreadReply](ctx, db, "replies from threads", threadRepliesSQL, chat, from, until)
}

const escalationOfMessageSQL = "select " + escalationColumns + fromEscalationsSQL +
	` join escalation_lines l on l.escalation_id = e.id where l.message_id = $1 order by e.id desc limit 1`

// EscalationOfMessage returns the newest escalation whose thread shows a message, or ErrNotFound.
func EscalationOfMessage(ctx context.Context, db DB, message MessageID) (Escalation, error) {
	return row.One[Escalation](ctx, db, "escalation", escalationOfMessageSQL, message)
}

const keepRepliesSQL = `with kept as (update outbox o set quotes = '{}', kept = true,
			content = case when o.event_id is null then '{}' else o.content end, citations = case when o.event_id is null then '[]' else o.citations end
		from messages m where m.chat_id = $1 and m.event_id = $2 and m.redacted_at is null and o.quotes @> array[m.id] and o.quotes <> '{}' and o.send_as = 'owner'
			and (o.event_id is not null or o.state in ('queued', 'failed', 'dropped')) returning o.id, o.chat_id, o.purpose, o.event_id, m.id as message),
	files as (delete from outbox_files where outbox_id in (select id from kept where event_id is null)),
	noted as (insert into audit_entries (kind, actor, chat_id, message_id, ref, action, outcome) select 'deletion', audit_actor(), chat_id, message, id, purpose, 'refused' from kept)
	select distinct chat_id from kept where event_id is not null`

// KeepReplies detaches a message in a thread from the replies that it sent to a contact, so that they stay in the
// contact's room when the message is deleted. The audit log gets an entry. It returns the chats of the contacts who have
// them. A reply that is queued is dropped when it is to be sent; if it turns out that it was being sent, it stays as
// well, and MarkSent reports that.
func KeepReplies(ctx context.Context, tx Tx, room ChatID, event id.EventID) ([]ChatID, error) {
	return row.Values[ChatID](ctx, tx, "keep replies", keepRepliesSQL, room, event)
}
