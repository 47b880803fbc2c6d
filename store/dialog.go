package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// Dialog is a question to the owner that a number, a word or a reaction answers. It survives restarts.
type Dialog struct {
	ID        int64
	ChatID    ChatID
	Kind      string
	Payload   json.RawMessage
	OutboxID  uuid.UUID // the message that asked
	ExpiresAt time.Time
	Done      bool       // answered or dismissed
	MessageID *MessageID // the message that it asks about; nil for none
	DraftID   *uuid.UUID // the first row of the draft that it asks about; nil for none
}

const dialogColumns = "d.id, d.chat_id, d.kind, d.payload, d.outbox_id, d.expires_at, d.done_at is not null as done, d.message_id, d.draft_id"

const openDialogSQL = "insert into dialogs (chat_id, kind, payload, outbox_id, expires_at, message_id, draft_id) values ($1, $2, $3, $4, $5, $6, $7) returning id"

// OpenDialog stores a question.
func OpenDialog(ctx context.Context, tx Tx, d Dialog) (int64, error) {
	var row int64
	if err := tx.QueryRow(ctx, openDialogSQL, d.ChatID, d.Kind, d.Payload, d.OutboxID, d.ExpiresAt, d.MessageID,
		d.DraftID).Scan(&row); err != nil {
		return 0, fmt.Errorf("open dialog: %w", err)
	}
	return row, nil
}

const recentDialogsSQL = "select " + dialogColumns +
	" from dialogs d where d.chat_id = $1 and d.expires_at > $2 order by d.id desc limit $3"

// RecentDialogs returns at most limit questions of a chat that expire after since, answered or not, the newest first.
func RecentDialogs(ctx context.Context, db DB, chat ChatID, since time.Time, limit int) ([]Dialog, error) {
	return row.All[Dialog](ctx, db, "dialogs", recentDialogsSQL, chat, since, limit)
}

const dialogByEventSQL = "select " + dialogColumns + ` from dialogs d where d.chat_id = $1
	and d.outbox_id in (select id from outbox where event_id = $2 union all select id from outbox where replaces = $2 and replaces <> '') order by d.id desc limit 1`

// DialogByEvent returns the question that an event asks, answered or not, or ErrNotFound. If the event was edited, it is
// the question of its newest text.
func DialogByEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Dialog, error) {
	return row.One[Dialog](ctx, db, "dialog", dialogByEventSQL, chat, event)
}

const dialogAboutSQL = "select " + dialogColumns + ` from dialogs d where d.chat_id = $1
	and d.outbox_id in (select outbox_id from messages where chat_id = $1 and event_id = $2) order by d.id desc limit 1`

// DialogAbout returns the question with which a message was answered, such as the one about a file, or ErrNotFound.
func DialogAbout(ctx context.Context, db DB, chat ChatID, message id.EventID) (Dialog, error) {
	return row.One[Dialog](ctx, db, "dialog", dialogAboutSQL, chat, message)
}

const openDialogOfSQL = "select " + dialogColumns + ` from dialogs d
	where d.kind = $1 and d.payload ->> $2 = $3::bigint::text and d.done_at is null order by d.id desc limit 1`

// OpenDialogOf returns the open question of a kind whose payload names a row, or ErrNotFound.
func OpenDialogOf(ctx context.Context, db DB, kind, field string, id int64) (Dialog, error) {
	return row.One[Dialog](ctx, db, "dialog", openDialogOfSQL, kind, field, id)
}

const isFileHandledSinceSQL = `select exists (select from messages m join outbox o on o.id = $2
	where m.chat_id = $1 and m.answered_at > o.created_at and (m.attachment is not null or m.body ~* '^\s*[/!]index\y'))`

// IsFileHandledSince reports whether a file was processed after a question was asked.
func IsFileHandledSince(ctx context.Context, db DB, d Dialog) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, isFileHandledSinceSQL, d.ChatID, d.OutboxID).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for a file: %w", err)
	}
	return yes, nil
}

const finishDialogSQL = "update dialogs set done_at = now() where id = $1 and done_at is null"

// FinishDialog closes a question. It returns false if it was answered before.
func FinishDialog(ctx context.Context, tx Tx, dialog int64) (bool, error) {
	tag, err := tx.Exec(ctx, finishDialogSQL, dialog)
	if err != nil {
		return false, fmt.Errorf("finish dialog: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const questionsOfTaskSQL = `select d.id from dialogs d where d.done_at is null and d.kind in ('approval', 'allow-call')
	and coalesce(d.payload->>'Card', d.payload->>'Approval')::bigint in (select a.id from approvals a join tasks t on t.id = a.task_id where $1 in (t.id, t.parent_id))`

// QuestionsOfTask returns the open questions about the calls of tools, and the plans, of a task and its children.
func QuestionsOfTask(ctx context.Context, db DB, task TaskID) ([]int64, error) {
	return row.Values[int64](ctx, db, "questions of a task", questionsOfTaskSQL, task)
}

const finishDialogsOfKindSQL = "update dialogs set done_at = now() where kind = $1 and done_at is null"

// FinishDialogsOfKind closes all questions of a kind.
func FinishDialogsOfKind(ctx context.Context, tx Tx, kind string) error {
	return row.Exec(ctx, tx, "finish dialogs", finishDialogsOfKindSQL, kind)
}
