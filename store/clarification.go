package store

import (
	"context"
	"time"

	"multis/store/row"
)

// Clarification is a question by which multis asks a contact which of two things the contact's own question is about.
type Clarification struct {
	Asked []MessageID // the messages with the contact's question, the oldest first
	// Open is true if nothing was said to the contact since: then the contact's next message is the reply.
	Open bool
}

// lastClarificationSQL requires citations (citations): a draft that the owner rewrote has none, and is not the clarifying
// question any more.
const lastClarificationSQL = `select array_agg(m.id order by m.ts, m.id) as asked,
		not exists (select from outbox l where l.chat_id = o.chat_id and l.seq > o.seq and l.send_as = 'owner' and l.part_of is distinct from o.id
			and l.event_type = 'm.room.message' and l.state in ('queued', 'sent', 'delivered'))
		and not exists (select from messages p where p.chat_id = o.chat_id and p.author in ('owner_client', 'owner_phone', 'operator') and p.kind <> 'reaction'
			and p.received_at > o.created_at) as open
	from outbox o join messages m on m.outbox_id = o.id and m.chat_id = o.chat_id
	where o.chat_id = $1 and o.created_at > $2 and o.state in ('queued', 'sent', 'delivered') and o.citations <> '[]' and m.code = 'clarified' and m.redacted_at is null
	group by o.id order by o.seq desc limit 1`

// LastClarification returns the newest clarifying question that was sent or queued to a contact since a time, or ErrNotFound.
func LastClarification(ctx context.Context, db DB, chat ChatID, since time.Time) (Clarification, error) {
	return row.One[Clarification](ctx, db, "clarifying question", lastClarificationSQL, chat, since)
}
