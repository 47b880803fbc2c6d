package desk

import (
	"context"
	"errors"
	"strings"

	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// holding is the message that tells a contact that a person will answer, where it needs approval. The card of the
// escalation shows its draft, so that one question of a contact is one card. The zero value is none.
type holding struct {
	store.OutboxMessage
}

// holdingOf returns the holding message of an escalation.
func holdingOf(ctx context.Context, db store.DB, e store.Escalation) (holding, error) {
	o, err := store.HoldingMessage(ctx, db, e.ChatID, e.OpenedAt)
	if errors.Is(err, store.ErrNotFound) {
		return holding{}, nil
	}
	return holding{o}, err
}

// isDraft reports whether the message waits for approval.
func (h holding) isDraft() bool { return h.State == store.OutboxDraft }

// offered is how many texts it adds to those that the card offers to send.
func (h holding) offered() int {
	if h.isDraft() {
		return 1
	}
	return 0
}

// text returns what the contact is told as Markdown, quoted.
func (h holding) text() string { return quoteLines(strings.TrimSpace(text.Clean(h.Text()))) }

// sendHolding approves the draft of the holding message. number is its place among the texts after the proposals.
func (d *Desk) sendHolding(ctx context.Context, tx store.Tx, e store.Escalation, number int) (string, error) {
	held, err := holdingOf(ctx, tx, e)
	if err != nil {
		return "", err
	}
	if number > held.offered() {
		return "", nil
	}
	decision, err := d.Box.ApproveDraft(ctx, tx, held.ID)
	switch {
	case errors.Is(err, outbox.ErrDraftDecided):
		return "", enqueueUpdate(ctx, tx, e.ID)
	case err != nil:
		return "", err
	case !decision.Allow:
		return "⚠️ Not sent: " + text.Escape(decision.Why), nil
	default:
		return "", enqueueUpdate(ctx, tx, e.ID)
	}
}

// dropHolding drops the draft of the holding message, because nobody waits any more.
func (d *Desk) dropHolding(ctx context.Context, tx store.Tx, e store.Escalation) error {
	held, err := holdingOf(ctx, tx, e)
	if err != nil {
		return err
	}
	if !held.isDraft() {
		return nil
	}
	err = d.Box.DropDraft(ctx, tx, held.ID, policy.CodeDraftAnswered)
	if errors.Is(err, outbox.ErrDraftDecided) {
		return nil
	}
	return err
}
