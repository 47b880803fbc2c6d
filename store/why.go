package store

import (
	"context"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store/row"
)

// withdrawnDraftsSQL finds drafts that were made while the message waited, and are not what it is answered by in the end.
const withdrawnDraftsSQL = "select " + outboxColumns + ` from messages m
	join (select * from outbox where chat_id = (select chat_id from messages where id = $1) and seen_id > 0 order by seq desc limit 200) o
		on o.seen_id >= m.id and o.created_at >= m.received_at and o.created_at <= coalesce(m.answered_at, now()) and o.id is distinct from m.outbox_id
	where m.id = $1 and o.state = 'dropped' and o.code = any ($2) and coalesce(o.part_of = o.id, true) order by o.seq desc limit $3`

// WithdrawnDrafts returns the first rows of the drafts of answers to a message that were withdrawn before it was answered,
// the newest first.
func WithdrawnDrafts(ctx context.Context, db DB, message MessageID, limit int) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "withdrawn drafts", withdrawnDraftsSQL, message, policy.WithdrawnCodes(), limit)
}

const unpromptedMessagesSQL = "select " + outboxColumns + ` from (select * from outbox where chat_id = $1 order by seq desc limit 50) o
	where o.send_as = 'owner' and o.event_type = 'm.room.message' and o.replaces = '' and o.state in ('queued', 'sent', 'delivered', 'failed')
		and coalesce(o.part_of = o.id, true) and not exists (select from messages m where m.outbox_id = o.id) order by o.seq desc limit $2`

// UnpromptedMessages returns the first rows of the newest messages to a chat that answer no message of it, such as
// reminders, the newest first.
func UnpromptedMessages(ctx context.Context, db DB, chat ChatID, limit int) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "messages that answer nothing", unpromptedMessagesSQL, chat, limit)
}

const executionOfMessageSQL = "select " + executionColumns + " from schedule_executions r where r.outbox_id = $1"

// ExecutionOfMessage returns the execution of a schedule that made an outbox message, by its first row, or ErrNotFound.
func ExecutionOfMessage(ctx context.Context, db DB, out uuid.UUID) (Execution, error) {
	return row.One[Execution](ctx, db, "execution of a message", executionOfMessageSQL, out)
}
