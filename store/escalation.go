package store

import (
	"context"
	"fmt"
)

const openEscalationSQL = "insert into escalations (chat_id, message_id, why) values ($1, $2, $3) on conflict do nothing"

// OpenEscalation notes that a chat needs a person. False: it was noted before and is still open.
func OpenEscalation(ctx context.Context, tx Tx, chat, message int64, why string) (bool, error) {
	tag, err := tx.Exec(ctx, openEscalationSQL, chat, message, why)
	if err != nil {
		return false, fmt.Errorf("open escalation: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const closeEscalationSQL = "update escalations set closed_at = now() where chat_id = $1 and closed_at is null"

// CloseEscalation notes that a person took care of a chat.
func CloseEscalation(ctx context.Context, tx Tx, chat int64) error {
	return exec(ctx, tx, "close escalation", closeEscalationSQL, chat)
}

const countEscalationsSQL = "select count(*) from escalations where closed_at is null"

// CountEscalations counts the chats that wait for a person.
func CountEscalations(ctx context.Context, db DB) (int, error) {
	var n int
	if err := db.QueryRow(ctx, countEscalationsSQL).Scan(&n); err != nil {
		return 0, fmt.Errorf("count escalations: %w", err)
	}
	return n, nil
}
