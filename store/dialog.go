package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"
)

// Dialog is a question to the owner that waits for a number, a word or a reaction. It survives restarts.
type Dialog struct {
	ID        int64
	ChatID    int64
	Kind      string
	Payload   json.RawMessage
	OutboxID  uuid.UUID // the message that asked
	ExpiresAt time.Time
}

const dialogColumns = "d.id, d.chat_id, d.kind, d.payload, d.outbox_id, d.expires_at"

const openDialogSQL = "insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values ($1, $2, $3, $4, $5) returning id"

// OpenDialog stores a question with the message that asks it.
func OpenDialog(ctx context.Context, tx Tx, d Dialog) (int64, error) {
	var row int64
	if err := tx.QueryRow(ctx, openDialogSQL, d.ChatID, d.Kind, d.Payload, d.OutboxID, d.ExpiresAt).Scan(&row); err != nil {
		return 0, fmt.Errorf("open dialog: %w", err)
	}
	return row, nil
}

const newestDialogSQL = "select " + dialogColumns + ` from dialogs d
	where d.chat_id = $1 and d.done_at is null and d.expires_at > $2 order by d.id desc limit 1`

// NewestDialog returns the question that a bare number in the chat answers, or ErrNotFound.
func NewestDialog(ctx context.Context, db DB, chat int64, now time.Time) (Dialog, error) {
	return oneDialog(ctx, db, newestDialogSQL, chat, now)
}

const dialogByEventSQL = "select " + dialogColumns + ` from dialogs d join outbox o on o.id = d.outbox_id
	where d.chat_id = $1 and o.event_id = $2 and d.done_at is null and d.expires_at > $3`

// DialogByEvent returns the open question that event asked, or ErrNotFound.
func DialogByEvent(ctx context.Context, db DB, chat int64, event id.EventID, now time.Time) (Dialog, error) {
	return oneDialog(ctx, db, dialogByEventSQL, chat, event, now)
}

const finishDialogSQL = "update dialogs set done_at = now() where id = $1 and done_at is null"

// FinishDialog closes a question. False: somebody answered it before.
func FinishDialog(ctx context.Context, tx Tx, dialog int64) (bool, error) {
	tag, err := tx.Exec(ctx, finishDialogSQL, dialog)
	if err != nil {
		return false, fmt.Errorf("finish dialog: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

func oneDialog(ctx context.Context, db DB, sql string, args ...any) (Dialog, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return Dialog{}, fmt.Errorf("read dialog: %w", err)
	}
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Dialog])
	if err != nil {
		return Dialog{}, fmt.Errorf("read dialog: %w", notFound(err))
	}
	return d, nil
}
