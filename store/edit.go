package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// HeldEdit is the newest text of a message, known before the message itself.
type HeldEdit struct {
	Body string
	At   time.Time
}

const takeHeldEditSQL = `with held as (
		delete from messages where chat_id = $1 and relates_to = $2 and sender = $3 and code = 'edited' returning id, body, ts)
	select body, ts from held order by ts desc, id desc limit 1`

// TakeHeldEdit removes the edits that came before the message they change, and returns the newest. False: there was none.
func TakeHeldEdit(ctx context.Context, tx Tx, chat ChatID, event id.EventID, sender id.UserID) (HeldEdit, bool, error) {
	edit, err := row.One[HeldEdit](ctx, tx, "held edit", takeHeldEditSQL, chat, event, sender)
	if errors.Is(err, ErrNotFound) {
		return HeldEdit{}, false, nil
	}
	return edit, err == nil, err
}

const isGoneSQL = `select exists (select from seen_events where event_id = $1)
	and not exists (select from messages where event_id = $1 and parked is not null and redacted_at is null)`

// IsGone tells whether an event was taken in once and waits for no key: whatever comes later about it changes nothing more.
func IsGone(ctx context.Context, db DB, event id.EventID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, isGoneSQL, event).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for an edited message: %w", err)
	}
	return yes, nil
}
