package store

import (
	"context"
	"time"

	"multis/policy"
	"multis/store/row"
)

// unansweredTurnsSQL counts messages that one turn settled as one question. Whatever was said to the contact resets the count.
const unansweredTurnsSQL = `with said as (
		select max(at) as at from (
			select max(coalesce(o.sent_at, o.created_at)) as at from outbox o where o.chat_id = $1 and o.send_as = 'owner' and o.event_type = 'm.room.message'
				and o.purpose <> 'greeting' and o.state in ('draft', 'shadow', 'queued', 'sent', 'delivered')
			union all select max(p.received_at) from messages p where p.chat_id = $1 and p.author in ('owner_client', 'owner_phone', 'operator') and p.kind <> 'reaction') a
	)
	select count(distinct m.answered_at) from messages m where m.chat_id = $1 and m.author = 'contact' and m.action = 'answer' and m.redacted_at is null
		and m.answered_at > $2 and m.answered_at > coalesce((select at from said), '-infinity') and m.code <> all ($3)
		and not exists (select from outbox o where o.id = m.outbox_id and o.state <> 'dropped')`

// UnansweredTurns counts the questions in a chat since a time that got no answer, because the draft of their answer was
// dropped or nothing could be sent. It counts only those after the last thing that was said to the contact or is about to
// be. Messages with one of the ignored codes need no answer.
func UnansweredTurns(ctx context.Context, db DB, chat ChatID, since time.Time, ignored ...policy.Code) (int, error) {
	return row.Value[int](ctx, db, "unanswered questions", unansweredTurnsSQL, chat, since, row.EmptyIfNil(ignored))
}
