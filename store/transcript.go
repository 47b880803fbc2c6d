package store

import (
	"context"
	"fmt"

	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

const setTranscriptSQL = "update messages set body = $2, action = $3, code = $4, reason = $5 where id = $1 and action = 'transcribe' and redacted_at is null"

// SetTranscript replaces the body of a voice note with its transcript and stores the decision about it. It changes
// nothing if the voice note does not wait for a transcript or was deleted.
func SetTranscript(ctx context.Context, tx Tx, message MessageID, words string, d policy.Admission) error {
	return row.Exec(ctx, tx, "store transcript", setTranscriptSQL, message, text.Storable(words), d.Action, d.Code, d.Why)
}

const setTranscriptionFailedSQL = "update messages set action = $2, code = $3, reason = $4 where id = $1 and action = 'transcribe' and redacted_at is null"

// SetTranscriptionFailed stores why a voice note has no transcript. The body stays.
func SetTranscriptionFailed(ctx context.Context, tx Tx, message MessageID, d policy.Admission) error {
	return row.Exec(ctx, tx, "explain voice note", setTranscriptionFailedSQL, message, d.Action, d.Code, text.Storable(d.Why))
}

const isTranscribingSQL = "select exists (select from messages where chat_id = $1 and action = 'transcribe' and received_at > now() - interval '1 minute')"

// IsTranscribing reports whether a chat has a voice note of the last minute that waits for its transcript.
func IsTranscribing(ctx context.Context, db DB, chat ChatID) (bool, error) {
	var yes bool
	if err := db.QueryRow(ctx, isTranscribingSQL, chat).Scan(&yes); err != nil {
		return false, fmt.Errorf("look for voice notes: %w", err)
	}
	return yes, nil
}
