package store

import (
	"context"
	"strings"
	"time"

	"multis/policy"
	"multis/store/row"
)

// CaptureState is the state of note taking in a chat.
type CaptureState struct {
	ChatID      ChatID
	NewMessages int `db:"fresh"` // messages since the last capture
	CapturedTo  MessageID
	// WindowFrom is where the conversation that prompts show begins; nil means at its first message.
	WindowFrom *time.Time
}

// countsForCapture reports whether a message counts towards the next capture: it is a person's and trusted, and no
// command, reaction, backfill or part of a flood.
func countsForCapture(m Message) bool {
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

// IsCommand reports whether a line of the admin room is a command.
func IsCommand(body string) bool {
	return policy.IsSigned(strings.TrimSpace(body))
}

const captureStateSQL = "select chat_id, fresh, captured_to, window_from from chat_memory where chat_id = $1"

// CaptureStateOf returns a chat's state, or ErrNotFound if there were no messages yet.
func CaptureStateOf(ctx context.Context, db DB, chat ChatID) (CaptureState, error) {
	return row.One[CaptureState](ctx, db, "memory", captureStateSQL, chat)
}

// LockCaptureState is CaptureStateOf with a lock until the end of the transaction, which keeps other captures of the chat waiting.
func LockCaptureState(ctx context.Context, tx Tx, chat ChatID) (CaptureState, error) {
	return row.One[CaptureState](ctx, tx, "memory", captureStateSQL+" for update", chat)
}

const dueCapturesSQL = `select m.chat_id from chat_memory m join chats c on c.id = m.chat_id
	where not c.for_operators and m.fresh >= $2 and (m.fresh >= $1 or m.fresh_at < $3) and m.retry_at <= now() order by m.fresh_at limit $4`

// DueCaptures returns the chats with at least threshold new messages, or with at least minimum and no new one since quiet.
func DueCaptures(ctx context.Context, db DB, threshold, minimum int, quiet time.Time, limit int) ([]ChatID, error) {
	return row.Values[ChatID](ctx, db, "due captures", dueCapturesSQL, threshold, min(minimum, threshold), quiet, limit)
}

// countsForCaptureSQL is countsForCapture for stored messages.
const countsForCaptureSQL = `m.redacted_at is null and m.parked is null and m.body <> '' and m.kind <> 'reaction'
	and m.author in ('contact', 'owner_client', 'owner_phone') and m.code not in ('backfill', 'flood', 'untrusted')
	and m.ts > m.received_at - interval '1 day' and not (m.action = 'command' and m.body ~ '^\s*[/!]')`

const uncapturedMessagesSQL = "select * from (select " + messageColumns + " from messages m where m.chat_id = $1 and m.id > $2 and " +
	countsForCaptureSQL + `
	order by m.id desc limit $3) w order by ts, id`

// UncapturedMessages returns what people wrote in a chat after a message, without commands: the newest messages up to
// limit, in the order they were written.
func UncapturedMessages(ctx context.Context, db DB, chat ChatID, after MessageID, limit int) ([]Message, error) {
	return collectMessages(ctx, db, uncapturedMessagesSQL, chat, after, limit)
}

const markCapturedSQL = `update chat_memory set captured_to = $2, failures = 0, retry_at = '-infinity',
	fresh = (select count(*) from messages m where m.chat_id = $1 and m.id > $2 and ` + countsForCaptureSQL + `),
	window_from = coalesce((select w.ts from (select ts from messages where chat_id = $1 and id <= $2 and kind <> 'reaction' and redacted_at is null and body <> ''
		order by ts desc, id desc limit $3) w order by w.ts limit 1), window_from)
	where chat_id = $1`

// MarkCaptured stores that the notes of a chat were taken up to a message. From then on, prompts show the last keep messages
// up to that one, and all later ones.
func MarkCaptured(ctx context.Context, tx Tx, chat ChatID, message MessageID, keep int) error {
	return row.Exec(ctx, tx, "note capture", markCapturedSQL, chat, message, keep)
}

const delayCaptureSQL = `update chat_memory set failures = failures + 1, retry_at = now() + least(interval '15 minutes' * power(2, least(failures, 7)), interval '1 day') where chat_id = $1`

// DelayCapture delays the next capture of a chat after a failure, longer each time.
func DelayCapture(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "note failed capture", delayCaptureSQL, chat)
}

const messagesBetweenSQL = "select " + messageColumns +
	` from messages m where m.chat_id = any ($1) and m.redacted_at is null and m.body <> '' and m.kind <> 'reaction'
	and ($2::timestamptz is null or m.ts >= $2) and ($3::timestamptz is null or m.ts < $3) order by m.ts desc, m.id desc limit $4`

// MessagesBetween returns the newest messages in a period of the chats of scope, the newest first. A zero time means no limit.
func MessagesBetween(ctx context.Context, db DB, scope policy.Scope, from, until time.Time, limit int) ([]Message, error) {
	return collectMessages(ctx, db, messagesBetweenSQL, scope.Chats(), nullTime(from), nullTime(until), limit)
}
