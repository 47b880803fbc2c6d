package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// delivery shows or sets how messages to a chat are delivered: at once, as drafts, or as shadow answers.
func (df *DraftCommands) delivery(ctx context.Context, _ request, args string) (answer, error) {
	how, name := parseDeliveryArgs(args)
	if name == "" {
		return df.chats.list(ctx, "", "delivery", chatPick{Delivery: how})
	}
	return df.chats.withChat(ctx, name, "delivery", chatPick{Delivery: how})
}

// parseDeliveryArgs finds a delivery at the beginning or the end of the arguments. The rest is the name of a chat.
func parseDeliveryArgs(args string) (policy.Delivery, string) {
	fields := strings.Fields(args)
	if len(fields) == 0 {
		return "", ""
	}
	end := len(fields) - 1
	if first := policy.Delivery(strings.ToLower(fields[0])); first.Valid() {
		return first, strings.Join(fields[1:], " ")
	}
	if last := policy.Delivery(strings.ToLower(fields[end])); end > 0 && last.Valid() {
		return last, strings.Join(fields[:end], " ")
	}
	return "", strings.Join(fields, " ")
}

// setDelivery sets the delivery of a chat. The empty delivery shows it.
func (df *DraftCommands) setDelivery(chat store.Chat, how policy.Delivery) answer {
	name := "**" + esc(chat.Label()) + "**"
	now := map[policy.Delivery]string{
		policy.DeliveryAuto:   "what I say there is sent at once.",
		policy.DeliveryDraft:  "I show you here what I want to say there, and send it once you say yes.",
		policy.DeliveryShadow: "I show you here what I would say there, and never send it. You answer, and `/shadow` compares.",
	}
	if how == "" {
		how = chat.DeliveryIn(df.settings.Defaults)
		return answer{text: fmt.Sprintf("%s is on `%s`: %s `/delivery auto`, `draft` or `shadow` and its name changes that.", name, how,
			now[how])}
	}
	undo := chatCommand("delivery "+string(chat.DeliveryIn(df.settings.Defaults)), chat)
	return answer{text: name + ": " + now[how], undo: undo, change: func(ctx context.Context, tx store.Tx) error {
		if err := store.SetDelivery(ctx, tx, chat.ID, how); err != nil {
			return err
		}
		return jobs.EnqueueForChanges(ctx, tx, chat.ID)
	}}
}
