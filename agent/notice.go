package agent

import (
	"context"

	"multis/outbox"
	"multis/store"
)

// notify queues a notice for the admin room. The notice is deleted with any message that it quotes or rests on. Without an admin room the
// transaction fails, and its job is retried.
func (c *core) notify(ctx context.Context, tx store.Tx, kind outbox.NoticeKind, markdown string, quoted, sources []store.MessageID) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	notice := outbox.NewNotice(room, markdown, kind)
	notice.Quotes, notice.Sources = quoted, sources
	_, _, err = c.box.Queue(ctx, tx, notice)
	return err
}

// Notify queues a notice for the admin room.
func (c *core) Notify(ctx context.Context, tx store.Tx, markdown string) error {
	return c.notify(ctx, tx, outbox.Quiet, markdown, nil, nil)
}
