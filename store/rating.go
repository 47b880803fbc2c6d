package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

const mayAskRatingSQL = `with conversation as (
		select coalesce(max(ts), '-infinity') as since from (
			select ts, lag(ts) over (order by ts, id) as before from messages where chat_id = @chat and kind <> 'reaction' and ts > @now::timestamptz - interval '7 days') m
		where before is null or ts - before > @gap::interval
	)
	select exists (select from messages m, conversation where m.chat_id = @chat and m.ts >= since and m.author = 'contact' and m.action in ('answer', 'escalate') and m.code <> 'stale')
		and not exists (select from ratings r, conversation where r.chat_id = @chat and r.asked_at >= since)`

// MayAskRating reports whether a contact asked something in the present conversation, and was not asked yet whether that
// helped. A silence of gap ends a conversation.
func MayAskRating(ctx context.Context, db DB, chat ChatID, gap time.Duration, now time.Time) (bool, error) {
	return row.Value[bool](ctx, db, "look whether a rating was asked", mayAskRatingSQL, pgx.NamedArgs{"chat": chat, "gap": gap, "now": now})
}

const markRatingAskedSQL = "insert into ratings (outbox_id, chat_id, contact, asked_at) values ($1, $2, $3, $4)"

// MarkRatingAsked stores that an outbox message asks a contact for a rating.
func MarkRatingAsked(ctx context.Context, tx Tx, out uuid.UUID, chat ChatID, contact id.UserID, at time.Time) error {
	return row.Exec(ctx, tx, "note the question for a rating", markRatingAskedSQL, out, chat, contact, at)
}

const setRatingSQL = `update ratings r set value = @value, given_by = @by, given_at = @at from outbox o
	where o.id = r.outbox_id and o.event_id = @about and o.state in ('sent', 'delivered') and r.chat_id = @chat and r.contact = @contact and (r.given_at is null or r.given_at <= @at)`

// GivenRating is a rating with the event that gave it.
type GivenRating struct {
	ChatID  ChatID
	Contact id.UserID
	About   id.EventID // what it is a reaction or a reply to
	By      id.EventID
	Value   policy.Rating
	At      time.Time
}

// SetRating stores a rating if multis asked this contact for one with the event g.About. It replaces an earlier rating; what was
// given before the present one and comes late, as after an outage, does not count.
func SetRating(ctx context.Context, tx Tx, g GivenRating) error {
	return row.Exec(ctx, tx, "store a rating", setRatingSQL,
		pgx.NamedArgs{"chat": g.ChatID, "contact": g.Contact, "about": g.About, "by": g.By, "value": g.Value, "at": g.At})
}

const deleteRatingSQL = "update ratings set value = '', given_by = '', given_at = null where chat_id = $1 and given_by = $2"

// DeleteRating deletes the rating that an event gave, if it gave one.
func DeleteRating(ctx context.Context, tx Tx, chat ChatID, event id.EventID) error {
	return row.Exec(ctx, tx, "delete a rating", deleteRatingSQL, chat, event)
}
