package desk

import (
	"context"

	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Pick sends a proposal of a chat's open escalation, as the owner does with its number in the thread. It returns why it is
// not sent; empty if it is.
func (d *Desk) Pick(ctx context.Context, tx store.Tx, chat store.ChatID, number int) (string, error) {
	open, err := store.EscalationOfChat(ctx, tx, chat)
	if gone, err := isMissing(err); gone {
		return "Nothing waits for a person here.", err
	}
	if err != nil {
		return "", err
	}
	e, locked, err := Lock(ctx, tx, open.ID)
	if err != nil {
		return "", err
	}
	if number < 1 || number > len(e.Proposals) {
		return "There is no suggested reply with that number.", nil
	}
	return d.sendProposal(ctx, tx, e, locked, store.Message{Author: policy.AuthorOwnerClient, Sender: d.Owner, At: d.Now()}, number)
}

// sendProposal sends the proposal of a card with a number: only one of them, once, and only while the documents that it
// was made from are as they were.
func (d *Desk) sendProposal(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, m store.Message,
	number int,
) (string, error) {
	if number > len(e.Proposals) {
		return d.sendHolding(ctx, tx, e, number-len(e.Proposals))
	}
	if e.Picked > 0 {
		return "", nil
	}
	picked := e.Proposals[number-1]
	current, err := store.AreCitationsCurrent(ctx, tx, picked.Text, picked.Citations)
	if err != nil {
		return "⚠️ Not sent: the documents have changed since I proposed it. Write the answer here.", err
	}
	if !current {
		return "⚠️ Not sent: the documents have changed since I proposed it. Write the answer here.", nil
	}
	if _, err := store.PickProposal(ctx, tx, e.ID, number); err != nil {
		return "", err
	}
	isOwner := m.Author.MayCommandAsOwner()
	if isOwner && d.Answers != nil && len(picked.Citations) == 1 {
		if err := d.Answers.LearnWords(ctx, tx, e.MessageID, picked.Citations[0]); err != nil {
			return "", err
		}
	}
	return d.send(ctx, tx, e, chat, m, outbox.Message{Text: picked.Text})
}
