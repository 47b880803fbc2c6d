package agent

import (
	"context"
	"strings"

	"multis/outbox"
	"multis/store"
	"multis/text"
)

// quoteMessages formats messages of a chat as Markdown quotes, with links to their files.
func quoteMessages(chat store.Chat, waiting []store.Message) string {
	quoted := make([]string, len(waiting))
	for i, m := range waiting {
		quoted[i] = "> " + text.Escape(text.Clip(m.Body, 300))
		if m.Attachment != nil && chat.RoomID != nil {
			quoted[i] += " ([see it](" + chat.RoomID.EventURI(m.EventID).MatrixToURL() + "))"
		}
	}
	return strings.Join(quoted, "\n>\n")
}

// roomLink is the address of a chat's room for people.
func roomLink(chat store.Chat) string {
	if chat.RoomID == nil {
		return "https://matrix.to/"
	}
	return chat.RoomID.URI().MatrixToURL()
}

// notify queues a notice for the admin room. The notice is deleted with any message that it quotes or rests on. Without an admin room the
// transaction fails, and its job is retried.
func (c *core) notify(ctx context.Context, tx store.Tx, kind outbox.NoticeKind, markdown string, quoted, restsOn []store.MessageID) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	letter := outbox.Notice(room, markdown, kind)
	letter.About, letter.RestsOn = quoted, restsOn
	_, _, err = c.box.Queue(ctx, tx, letter)
	return err
}

// Notify queues a notice for the admin room.
func (c *core) Notify(ctx context.Context, tx store.Tx, markdown string) error {
	return c.notify(ctx, tx, outbox.Quiet, markdown, nil, nil)
}

// idsOf returns the ids of messages.
func idsOf(messages []store.Message) []store.MessageID {
	ids := make([]store.MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}
