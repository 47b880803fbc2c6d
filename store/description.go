package store

import (
	"context"

	"multis/internal/text"
	"multis/store/row"
)

const setDescriptionSQL = "update messages set body = $2 where id = $1"

// SetDescription replaces the body of a picture's message by one that says what the picture shows. It returns ErrChanged
// if the message was deleted or edited since it was read.
func SetDescription(ctx context.Context, tx Tx, m Message, body string) error {
	if _, err := LockUnchanged(ctx, tx, []MessageID{m.ID}, []Message{m}); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "describe picture", setDescriptionSQL, m.ID, text.Storable(body))
}
