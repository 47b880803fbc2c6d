package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store/row"
)

const shadowRowsSQL = "select " + outboxColumns + " from outbox o where (o.id = $1 or o.part_of = $1) and o.state = 'shadow' order by o.seq"

// ShadowRows returns the rows of a shadow answer by its first row; none for another message.
func ShadowRows(ctx context.Context, db DB, first uuid.UUID) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "shadow answer", shadowRowsSQL, first)
}

const markShadowSQL = "update outbox set mark = $2 where (id = $1 or part_of = $1) and state = 'shadow'"

// The marks of shadow answers.
const (
	MarkGood = "good"
	MarkBad  = "bad"
)

// MarkShadow stores what the owner thinks of a shadow answer.
func MarkShadow(ctx context.Context, tx Tx, first uuid.UUID, mark string) error {
	return row.Exec(ctx, tx, "mark shadow answer", markShadowSQL, first, mark)
}

// ShadowPair is a shadow answer with what the owner wrote in its place.
type ShadowPair struct {
	ID         uuid.UUID
	ChatID     ChatID
	Asked      string // the newest message that the shadow answer answers; empty if that was deleted
	AskedAt    time.Time
	ShadowText string   `db:"said"` // the shadow answer: its parts, joined by line breaks
	OwnerText  string   `db:"real"` // the owner's messages until another shadow answer, for up to a day, joined by line breaks; empty for none
	Cited      []string // the quotes that it rests on
	Purpose    policy.Purpose
	Mark       string
	// what a model said about how close both are; empty if none was asked, or if the owner has written, edited or deleted something since
	Judged string
	ReadAt time.Time
	Cost   int64 // of its task, in millionths of the currency
	// Sources are the messages whose words are in this pair.
	Sources []MessageID
}

const shadowPairsSQL = `with answers as (
		select o.id, o.chat_id, o.seq, o.purpose, o.mark, o.judged, o.judged_at, o.task_id, m.id as asked_id, m.body as asked, m.ts as asked_at,
			lead(m.ts) over (partition by o.chat_id order by m.ts, o.seq) as next_at
		from outbox o cross join lateral (select m.id, m.body, m.ts from messages m where m.outbox_id = o.id order by m.ts desc, m.id desc limit 1) m
		where o.state = 'shadow' and coalesce(o.part_of = o.id, true) and o.content <> '{}' and ($1 = 0 or o.chat_id = $1) and o.created_at >= $2)
	select a.id, a.chat_id, a.asked, a.asked_at, a.purpose, a.mark, now() as read_at, coalesce(t.cost, 0) as cost,
		case when exists (select from messages r where r.chat_id = a.chat_id and r.author in ('owner_client', 'owner_phone', 'operator') and r.kind <> 'reaction'
			and r.ts > a.asked_at and r.ts < least(a.asked_at + $3::interval, a.next_at) and greatest(r.received_at, r.edited_at, r.redacted_at) > a.judged_at)
			then '' else a.judged end as judged,
		array(select distinct s->>'quote' from outbox p cross join lateral jsonb_array_elements(p.citations) s where (p.id = a.id or p.part_of = a.id) and s->>'quote' <> '') as cited,
		array(select distinct q from (select a.asked_id union select unnest(p.quotes || p.sources) from outbox p where p.id = a.id or p.part_of = a.id
			union select r.id from messages r where r.chat_id = a.chat_id and r.author in ('owner_client', 'owner_phone', 'operator') and r.kind <> 'reaction'
				and r.redacted_at is null and r.ts > a.asked_at and r.ts < least(a.asked_at + $3::interval, a.next_at)) all_of(q)) as sources,
		(select string_agg(p.content->>'body', E'\n' order by p.seq) from outbox p where p.id = a.id or p.part_of = a.id) as said,
		coalesce((select string_agg(r.body, E'\n' order by r.ts, r.id) from messages r where r.chat_id = a.chat_id and r.author in ('owner_client', 'owner_phone', 'operator')
			and r.kind <> 'reaction' and r.redacted_at is null and r.ts > a.asked_at and r.ts < least(a.asked_at + $3::interval, a.next_at)), '') as real
	from answers a left join tasks t on t.id = a.task_id order by a.asked_at, a.seq limit $4`

// maxShadowPairs is the maximum number of shadow answers that are compared.
const maxShadowPairs = 5000

// ShadowPairs returns the shadow answers since a time, in one chat or, for 0, in all, the oldest first. replyTime is how
// long the owner's messages count as the answer.
func ShadowPairs(ctx context.Context, db DB, chat ChatID, since time.Time, replyTime time.Duration) ([]ShadowPair, error) {
	return row.All[ShadowPair](ctx, db, "shadow answers", shadowPairsSQL, chat, since, replyTime, maxShadowPairs)
}

const judgeShadowSQL = "update outbox set judged = $2, judged_at = $3 where id = $1 and state = 'shadow'"

// JudgeShadow stores what a model said about how close a shadow answer was to the owner's, as both were when the pair was
// read. The verdict holds until the owner writes, edits or deletes something that counts as his answer.
func JudgeShadow(ctx context.Context, w Writer, p ShadowPair, verdict string) error {
	return row.Exec(ctx, w, "judge shadow answer", judgeShadowSQL, p.ID, verdict, p.ReadAt)
}

const claimAutoOfferSQL = "update chats set auto_offered_at = now() where id = $1 and auto_offered_at is null"

// ClaimAutoOffer stores that the owner is asked whether the answers in a chat may be sent. It returns false if he was asked before.
func ClaimAutoOffer(ctx context.Context, tx Tx, chat ChatID) (bool, error) {
	n, err := row.Changed(ctx, tx, "offer to send", claimAutoOfferSQL, chat)
	return n == 1, err
}
