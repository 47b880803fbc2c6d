package store

import (
	"context"
	"strings"
	"time"

	"multis/policy"
	"multis/store/row"
)

// Memory is how far a chat is remembered.
type Memory struct {
	ChatID     ChatID
	Fresh      int // messages since the last capture
	CapturedTo MessageID
	// WindowFrom is where the conversation that is still at hand begins; nil: at its beginning.
	WindowFrom *time.Time
}

// fresh tells whether a message counts towards the next capture: somebody said something, now and not long ago.
func fresh(m Message) bool {
	switch m.Author {
	case policy.AuthorContact, policy.AuthorOwnerClient, policy.AuthorOwnerPhone:
	default:
		return false
	}
	switch m.Code {
	case policy.CodeBackfill, policy.CodeFlood, policy.CodeUntrusted:
		return false
	default:
		return m.Body != "" && m.Kind != "reaction" && !(m.Action == policy.ActionCommand && IsCommand(m.Body))
	}
}

// IsCommand tells whether a line of the admin room is a command rather than something said.
func IsCommand(body string) bool {
	body = strings.TrimSpace(body)
	return strings.HasPrefix(body, "/") || strings.HasPrefix(body, "!")
}

const memorySQL = "select chat_id, fresh, captured_to, window_from from chat_memory where chat_id = $1"

// MemoryOf returns how far a chat is remembered, or ErrNotFound when nothing of it is.
func MemoryOf(ctx context.Context, db DB, chat ChatID) (Memory, error) {
	return row.One[Memory](ctx, db, "memory", memorySQL, chat)
}

// LockMemory is MemoryOf that keeps other captures of the chat out until the transaction ends.
func LockMemory(ctx context.Context, tx Tx, chat ChatID) (Memory, error) {
	return row.One[Memory](ctx, tx, "memory", memorySQL+" for update", chat)
}

const dueCapturesSQL = `select m.chat_id from chat_memory m join chats c on c.id = m.chat_id
	where m.fresh >= $2 and (m.fresh >= $1 or m.fresh_at < $3) and m.retry_at <= now() order by m.fresh_at limit $4`

// DueCaptures lists the chats with threshold new messages, or with minimum ones and none since quiet.
func DueCaptures(ctx context.Context, db DB, threshold, minimum int, quiet time.Time, limit int) ([]ChatID, error) {
	return row.Values[ChatID](ctx, db, "due captures", dueCapturesSQL, threshold, min(minimum, threshold), quiet, limit)
}

// saidSQL is fresh for messages that are stored: what people said when it was stored, and nothing that was old by then.
const saidSQL = `m.redacted_at is null and m.parked is null and m.body <> '' and m.kind <> 'reaction'
	and m.author in ('contact', 'owner_client', 'owner_phone') and m.code not in ('backfill', 'flood', 'untrusted')
	and m.ts > m.received_at - interval '1 day' and not (m.action = 'command' and m.body ~ '^\s*[/!]')`

const uncapturedSQL = "select * from (select " + messageColumns + " from messages m where m.chat_id = $1 and m.id > $2 and " + saidSQL + `
	order by m.id desc limit $3) w order by ts, id`

// Uncaptured returns what people said in a chat after a message, the newest limit of it, the oldest first. What the assistant
// said is not among it, and neither are commands.
func Uncaptured(ctx context.Context, db DB, chat ChatID, after MessageID, limit int) ([]Message, error) {
	return collectMessages(ctx, db, uncapturedSQL, chat, after, limit)
}

const capturedSQL = `update chat_memory set captured_to = $2, failures = 0, retry_at = '-infinity',
	fresh = (select count(*) from messages m where m.chat_id = $1 and m.id > $2 and ` + saidSQL + `),
	window_from = coalesce((select w.ts from (select ts from messages where chat_id = $1 and id <= $2 and kind <> 'reaction' and redacted_at is null and body <> ''
		order by ts desc, id desc limit $3) w order by w.ts limit 1), window_from)
	where chat_id = $1`

// MarkCaptured notes that a chat was looked at up to a message. Its window is cut to the last keep messages before that.
func MarkCaptured(ctx context.Context, tx Tx, chat ChatID, message MessageID, keep int) error {
	return row.Exec(ctx, tx, "note capture", capturedSQL, chat, message, keep)
}

const captureFailedSQL = `update chat_memory set failures = failures + 1, retry_at = now() + least(interval '15 minutes' * power(2, least(failures, 7)), interval '1 day') where chat_id = $1`

// DelayCapture keeps a chat from being looked at again too soon.
func DelayCapture(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "note failed capture", captureFailedSQL, chat)
}

const messagesBetweenSQL = "select " + messageColumns + ` from messages m where m.chat_id = any ($1) and m.redacted_at is null and m.body <> '' and m.kind <> 'reaction'
	and ($2::timestamptz is null or m.ts >= $2) and ($3::timestamptz is null or m.ts < $3) order by m.ts desc, m.id desc limit $4`

// MessagesBetween returns the newest messages of the chats of scope in a stretch of time, the newest first. A zero time is no end.
func MessagesBetween(ctx context.Context, db DB, scope policy.Scope, from, until time.Time, limit int) ([]Message, error) {
	return collectMessages(ctx, db, messagesBetweenSQL, scope.Chats(), timeOrNil(from), timeOrNil(until), limit)
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
