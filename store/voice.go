package store

import (
	"context"
	"fmt"

	"multis/policy"
	"multis/store/row"
	"multis/text"
)

const heardSQL = "update messages set body = $2, action = $3, code = $4, reason = $5 where id = $1 and action = 'listen' and redacted_at is null"

// Heard puts what a voice note says in its place, with what is decided about it.
func Heard(ctx context.Context, tx Tx, message MessageID, words string, d policy.Admission) error {
	return row.Exec(ctx, tx, "store transcript", heardSQL, message, text.Storable(words), d.Action, d.Code, d.Why)
}

const unheardSQL = "update messages set action = $2, code = $3, reason = $4 where id = $1 and action = 'listen' and redacted_at is null"

// Unheard leaves a voice note as it is, with the reason.
func Unheard(ctx context.Context, tx Tx, message MessageID, d policy.Admission) error {
	return row.Exec(ctx, tx, "explain voice note", unheardSQL, message, d.Action, d.Code, text.Storable(d.Why))
}

const listeningSQL = "select exists (select from messages where chat_id = $1 and action = 'listen' and received_at > now() - interval '1 minute')"

// Listening tells whether a chat has a voice note whose words are still to come.
func Listening(ctx context.Context, db DB, chat ChatID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, listeningSQL, chat).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for voice notes: %w", err)
	}
	return yes, nil
}
