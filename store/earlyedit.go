package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// EarlyEdit is an edit that arrived before the message that it changes.
type EarlyEdit struct {
	Kind       string
	Body       string
	Attachment *Attachment
	At         time.Time `db:"ts"`
}

const takeEarlyEditSQL = `with held as (
		delete from messages where chat_id = $1 and relates_to = $2 and sender = $3 and code = 'edited' returning id, kind, body, attachment, ts)
	select kind, body, attachment, ts from held order by ts desc, id desc limit 1`

// TakeEarlyEdit removes the edits that arrived before their message, and returns the newest of them. It returns false if there were none.
func TakeEarlyEdit(ctx context.Context, tx Tx, chat ChatID, event id.EventID, sender id.UserID) (EarlyEdit, bool, error) {
	edit, err := row.One[EarlyEdit](ctx, tx, "early edit", takeEarlyEditSQL, chat, event, sender)
	if errors.Is(err, ErrNotFound) {
		return EarlyEdit{}, false, nil
	}
	return edit, err == nil, err
}

const isProcessedSQL = `select exists (select from seen_events where event_id = $1)
	and not exists (select from messages where event_id = $1 and parked is not null and redacted_at is null)`

// IsProcessed reports whether an event was processed. One that still waits for its key was not.
func IsProcessed(ctx context.Context, db DB, event id.EventID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, isProcessedSQL, event).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for an edited message: %w", err)
	}
	return yes, nil
}
