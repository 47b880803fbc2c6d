package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/store/row"
)

// ActiveChat is a chat with messages in a period, and their number.
type ActiveChat struct {
	ChatID   ChatID
	Messages int
}

// greetingSQL matches a greeting of multis. A greeting is no answer, so the contact still waits.
const greetingSQL = `m.author = 'multis_owner' and exists (select from outbox o where o.event_id = m.event_id and o.purpose = 'greeting')`

// spokenSQL matches the messages of people and the answers of multis that were not deleted.
const spokenSQL = `m.redacted_at is null and m.body <> '' and m.kind <> 'reaction' and m.author in ('contact', 'owner_client', 'owner_phone', 'multis_owner')
	and not (` + greetingSQL + `)
	and m.ts >= @from and (@until::timestamptz is null or m.ts < @until)`

const activeChatsSQL = `select c.id as chat_id, w.n as messages from chats c, lateral (select count(*) as n, max(m.ts) as newest from messages m where m.chat_id = c.id and ` + spokenSQL + `) w
	where c.kind in ('dm', 'group') and c.last_message_at >= @from and (@protocol = '' or c.protocol = @protocol) and (@chat = 0 or c.id = @chat) and w.n > 0
	order by c.kind = 'group', w.newest desc, c.id limit @limit`

// ActiveChats returns the chats with messages in a period. An empty protocol or a zero chat means any.
func ActiveChats(ctx context.Context, db DB, from, until time.Time, protocol string, chat ChatID, limit int) ([]ActiveChat, error) {
	return row.All[ActiveChat](ctx, db, "chats", activeChatsSQL,
		pgx.NamedArgs{"from": from, "until": nullTime(until), "protocol": protocol, "chat": chat, "limit": limit})
}

const messagesOfChatsSQL = "select x.* from unnest(@chats::bigint[]) with ordinality c(id, n), lateral (select " + messageColumns +
	` from messages m where m.chat_id = c.id and ` + spokenSQL + `
	order by m.ts desc, m.id desc limit @each) x order by c.n, x.ts, x.id`

// MessagesOfChats returns the newest messages of each chat in a period, at most each per chat. They are grouped by chat, the oldest first.
func MessagesOfChats(ctx context.Context, db DB, chats []ChatID, from, until time.Time, each int) ([]Message, error) {
	return collectMessages(ctx, db, messagesOfChatsSQL, pgx.NamedArgs{"chats": chats, "from": from, "until": nullTime(until), "each": each})
}
