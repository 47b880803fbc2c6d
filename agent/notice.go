package agent

import (
	"context"
	"fmt"
	"strings"

	"multis/bridgebridge"
	"multis/outbox"
	"multis/store"
	"multis/text"
)

// quotes writes messages as quotes in Markdown.
func quotes(waiting []store.Message) string {
	quoted := make([]string, len(waiting))
	for i, m := range waiting {
		quoted[i] = "> " + text.Escape(text.Clip(m.Body, 300))
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

// notify queues a notice for the admin room. It is deleted with any of the messages that it quotes or rests on. Without an admin room the
// transaction fails and is tried later.
func (a *Agent) notify(ctx context.Context, tx store.Tx, kind outbox.NoticeKind, markdown string, quoted, restsOn []store.MessageID) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	letter := outbox.Notice(room, markdown, kind)
	letter.About, letter.RestsOn = quoted, restsOn
	_, _, err = a.Box.Queue(ctx, tx, letter)
	return err
}

// Notify queues a notice for the admin room.
func (a *Agent) Notify(ctx context.Context, tx store.Tx, markdown string) error {
	return a.notify(ctx, tx, outbox.Quiet, markdown, nil, nil)
}

// idsOf returns the ids of messages.
func idsOf(messages []store.Message) []store.MessageID {
	ids := make([]store.MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

// chatLabel names a chat and its network.
func chatLabel(c store.Chat) string {
	return numbered(bridgebridge.DisplayName(c.Name)+" · "+bridgebridge.NetworkName(c.Protocol), c)
}

// numbered adds a chat's number to its name if another chat has the same name.
func numbered(name string, c store.Chat) string {
	if !c.Namesake {
		return name
	}
	return fmt.Sprintf("%s #%d", name, c.ID)
}
