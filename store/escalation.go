package store

import (
	"context"
	"fmt"
	"time"

	"multis/policy"
	"multis/store/row"
	"multis/text"
)

// The message is locked, so that it cannot be deleted without what is written here.
const openEscalationSQL = `insert into escalations (chat_id, message_id, why, rests_on)
	select $1, m.id, $3, $4 from messages m where m.id = $2 for key share on conflict do nothing`

const toldSQL = "select told from escalations where chat_id = $1 and closed_at is null for update"

// OpenEscalation stores that a chat needs a person. restsOn are the messages whose words may be in why. first is true if the chat was not
// escalated before, told if the contact knows already.
func OpenEscalation(ctx context.Context, tx Tx, chat ChatID, message MessageID, why string, restsOn []MessageID) (first, told bool, err error) {
	tag, err := tx.Exec(ctx, openEscalationSQL, chat, message, text.Storable(why), row.EmptyIfNil(restsOn))
	if err == nil {
		err = tx.QueryRow(ctx, toldSQL, chat).Scan(&told)
	}
	if err != nil {
		return false, false, fmt.Errorf("open escalation: %w", err)
	}
	return tag.RowsAffected() == 1, told, nil
}

const markContactToldSQL = "update escalations set told = true where chat_id = $1 and closed_at is null"

// MarkContactTold stores that the contact was told that a person will answer.
func MarkContactTold(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "note that the contact was told", markContactToldSQL, chat)
}

const countSinceEscalationSQL = `select count(*) from escalations e join messages f on f.id = e.message_id
	join messages m on m.chat_id = e.chat_id and m.ts >= f.ts and m.id > f.id and m.code = $2 where e.chat_id = $1 and e.closed_at is null`

// CountSinceEscalation counts the messages since a chat was escalated that were answered with a code.
func CountSinceEscalation(ctx context.Context, db DB, chat ChatID, code policy.Code) (int, error) {
	return row.Value[int](ctx, db, "count messages that wait", countSinceEscalationSQL, chat, code)
}

const closeEscalationSQL = "update escalations set closed_at = now() where chat_id = $1 and closed_at is null and opened_at < $2"

// CloseEscalation resolves the escalations of a chat that were opened before a time. It reports whether there were any.
func CloseEscalation(ctx context.Context, tx Tx, chat ChatID, at time.Time) (bool, error) {
	tag, err := tx.Exec(ctx, closeEscalationSQL, chat, at)
	if err != nil {
		return false, fmt.Errorf("close escalation: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}
