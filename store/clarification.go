package store

import (
	"context"
	"time"

	"multis/store/row"
)

// Clarification is a question that a contact was asked, which of two things the contact's own question is about.
type Clarification struct {
	Asked []MessageID // the messages with the contact's question, the oldest first
	// Open reports whether nothing was said to the contact since, so that what the contact writes next is the reply.
	Open bool
}

// A draft that the owner wrote anew has no citations, and asks something else.
const lastClarificationSQL = `select array_agg(m.id order by m.ts, m.id) as asked,
		not exists (select from outbox l where l.chat_id = o.chat_id and l.seq > o.seq and l.send_as = 'owner' and l.part_of is distinct from o.id
			and l.event_type = 'm.room.message' and l.state in ('queued', 'sent', 'delivered'))
		and not exists (select from messages p where p.chat_id = o.chat_id and p.author in ('owner_client', 'owner_phone', 'operator') and p.kind <> 'reaction'
			and p.received_at > o.created_at) as open
	from outbox o join messages m on m.outbox_id = o.id and m.chat_id = o.chat_id
	where o.chat_id = $1 and o.created_at > $2 and o.state in ('queued', 'sent', 'delivered') and o.spans <> '[]' and m.code = 'clarified' and m.redacted_at is null
	group by o.id order by o.seq desc limit 1`

// LastClarification returns the newest clarifying question since a time that went out to a contact, or ErrNotFound.
func LastClarification(ctx context.Context, db DB, chat ChatID, since time.Time) (Clarification, error) {
	return row.One[Clarification](ctx, db, "clarifying question", lastClarificationSQL, chat, since)
}
