package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"
)

const chatsByIDSQL = "select " + chatColumns + " from chats c where c.id = any($1)"

// ChatsByID returns chats by their id. Those that do not exist are missing from the map.
func ChatsByID(ctx context.Context, db DB, ids []ChatID) (map[ChatID]Chat, error) {
	chats, err := collectChats(ctx, db, chatsByIDSQL, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[ChatID]Chat, len(chats))
	for _, c := range chats {
		byID[c.ID] = c
	}
	return byID, nil
}

const openCommandsSQL = "select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.id < $2 and m.received_at > $3 and m.action = 'command' and m.answered_at is null order by m.id`

// OpenCommands returns the unanswered commands of a chat that are older than message and were received after since.
func OpenCommands(ctx context.Context, db DB, chat ChatID, message MessageID, since time.Time) ([]Message, error) {
	return collectMessages(ctx, db, openCommandsSQL, chat, message, since)
}

const messageByEventSQL = "select " + messageColumns + " from messages m where m.chat_id = $1 and m.event_id = $2"

// MessageByEvent returns the message of an event in a chat, or ErrNotFound.
func MessageByEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Message, error) {
	return oneMessage(ctx, db, messageByEventSQL, chat, event)
}

const messagesByIDSQL = "select " + messageColumns + " from messages m where m.id = any($1)"

// MessagesByID returns messages by their id. Those that were deleted are missing from the map.
func MessagesByID(ctx context.Context, db DB, ids []MessageID) (map[MessageID]Message, error) {
	messages, err := collectMessages(ctx, db, messagesByIDSQL, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[MessageID]Message, len(messages))
	for _, m := range messages {
		byID[m.ID] = m
	}
	return byID, nil
}

const newestFileSQL = "select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.sender = $2 and m.attachment is not null and m.received_at > $3 order by m.id desc limit 1`

// NewestFile returns the newest message of a sender with a file, received after since, or ErrNotFound.
func NewestFile(ctx context.Context, db DB, chat ChatID, sender id.UserID, since time.Time) (Message, error) {
	return oneMessage(ctx, db, newestFileSQL, chat, sender, since)
}

const newestMessageAnsweredBySQL = "select " + messageColumns +
	" from messages m where m.outbox_id = $1 order by m.ts desc, m.id desc limit 1"

// NewestMessageAnsweredBy returns the newest message that an outbox message answers, or ErrNotFound.
func NewestMessageAnsweredBy(ctx context.Context, db DB, out uuid.UUID) (Message, error) {
	return oneMessage(ctx, db, newestMessageAnsweredBySQL, out)
}

const isQuotingNoticeSQL = `select exists (select from outbox o where o.chat_id = $1 and o.event_id = $2 and o.quotes <> '{}'
	and not exists (select from messages m where m.chat_id = $1 and m.outbox_id = o.id) and not exists (select from dialogs d where d.outbox_id = o.id))`

// IsQuotingNotice reports whether an event is a notice of multis in this chat that quotes messages, answers no command
// and asks no question. It returns false for an empty event.
func IsQuotingNotice(ctx context.Context, db DB, chat ChatID, event id.EventID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, isQuotingNoticeSQL, chat, event).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for what an event quotes: %w", err)
	}
	return yes, nil
}

const claimNotificationSQL = "insert into settings (key, value) values ($1, 'true') on conflict do nothing"

// ClaimNotification sets a setting to true. It returns false if the setting was true before: then its notice has been sent already.
func ClaimNotification(ctx context.Context, tx Tx, key Setting) (bool, error) {
	tag, err := tx.Exec(ctx, claimNotificationSQL, key)
	if err != nil {
		return false, fmt.Errorf("claim setting %s: %w", key, err)
	}
	return tag.RowsAffected() == 1, nil
}

const countFailedSQL = "select count(*) from outbox where state = 'failed' and purpose <> 'notice' and created_at > $1"

// CountFailed counts the outbox messages to contacts that failed since a time.
func CountFailed(ctx context.Context, db DB, since time.Time) (int, error) {
	var n int
	if err := db.QueryRow(ctx, countFailedSQL, since).Scan(&n); err != nil {
		return 0, fmt.Errorf("count undelivered events: %w", err)
	}
	return n, nil
}
