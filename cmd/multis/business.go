package main

import (
	"context"

	"multis/admin"
	"multis/agent"
	"multis/store"
)

// previewer shows the owner what a contact would get.
type previewer struct{ turns *agent.Turns }

// Preview answers a question as if a contact had asked it, and sends nothing to contacts.
func (p previewer) Preview(ctx context.Context, room store.Chat, message store.Message, question string) (admin.Preview, error) {
	preview, err := p.turns.Preview(ctx, room, message, question)
	return admin.Preview(preview), err
}
