package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

// QuietChat is a direct chat in which nobody has written for a while and nobody waits. It has the last message to the
// contact and the last message of the contact.
type QuietChat struct {
	ChatID ChatID
	SaidAt time.Time
	SaidBy policy.Author
	Said   string
	// SaidAs is the purpose of the last message to the contact if multis sent it; for an approved draft, the purpose of the
	// draft. It is empty if a person wrote in the chat.
	SaidAs  policy.Purpose
	Contact id.UserID // who wrote last on the contact's side
	WroteAt time.Time
	Wrote   string // empty if it was deleted
}

// LastAt returns when somebody last wrote.
func (q QuietChat) LastAt() time.Time {
	if q.WroteAt.After(q.SaidAt) {
		return q.WroteAt
	}
	return q.SaidAt
}

const quietChatsSQL = `select c.id as chat_id, s.ts as said_at, s.author as said_by, s.body as said, coalesce(nullif(o.drafted_as, ''), o.purpose, '') as said_as,
		w.sender as contact, w.ts as wrote_at, w.body as wrote
	from chats c
	cross join lateral (select m.ts, m.author, m.body, m.event_id from messages m where m.chat_id = c.id and m.redacted_at is null and m.kind <> 'reaction'
		and m.author in ('operator', 'owner_phone', 'owner_client', 'multis_owner') order by m.ts desc, m.id desc limit 1) s
	cross join lateral (select m.ts, m.body, m.sender from messages m where m.chat_id = c.id and m.kind <> 'reaction' and m.author = 'contact'
		order by m.ts desc, m.id desc limit 1) w
	left join outbox o on o.event_id = s.event_id
	where c.kind = 'dm' and c.closed_reason = '' and c.room_id is not null and (@chat = 0 or c.id = @chat) and (@all or c.follow_up_days > 0)
		and c.last_message_at >= @from and greatest(s.ts, w.ts) >= @from and greatest(s.ts, w.ts) < @until
		and not exists (select from escalations e where e.chat_id = c.id and e.closed_at is null)
		and not exists (select from outbox d where d.chat_id = c.id and d.state in ('draft', 'queued'))
	order by greatest(s.ts, w.ts), c.id`

// QuietChats returns the chats whose last message was written in a period, the longest quiet first, without those that
// are escalated or in which a text is about to be sent. Unless all is true, it returns only those for which the owner set
// a follow-up.
func QuietChats(ctx context.Context, db DB, from, until time.Time, all bool) ([]QuietChat, error) {
	return row.All[QuietChat](ctx, db, "quiet chats", quietChatsSQL,
		pgx.NamedArgs{"chat": ChatID(0), "all": all, "from": from, "until": until})
}

// QuietChatByID returns a chat as QuietChats does, or ErrNotFound if it is not quiet, or if its last message was not written in the period.
func QuietChatByID(ctx context.Context, db DB, chat ChatID, from, until time.Time) (QuietChat, error) {
	return row.One[QuietChat](ctx, db, "quiet chat", quietChatsSQL, pgx.NamedArgs{"chat": chat, "all": true, "from": from, "until": until})
}

const setFollowUpDaysSQL = "update chats set follow_up_days = $2 where id = $1"

// SetFollowUpDays sets after how many days of silence a follow-up is drafted in a chat: nil for what the labels and the
// configuration say, 0 for never.
func SetFollowUpDays(ctx context.Context, tx Tx, chat ChatID, days *int) error {
	return row.Exec(ctx, tx, "set follow-ups", setFollowUpDaysSQL, chat, days)
}

const markFollowedUpSQL = "update chats set followed_up_at = $2 where id = $1"

// MarkFollowedUp stores that a follow-up was drafted.
func MarkFollowedUp(ctx context.Context, tx Tx, chat ChatID, at time.Time) error {
	return row.Exec(ctx, tx, "note the follow-up", markFollowedUpSQL, chat, at)
}
