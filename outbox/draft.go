package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// ErrDraftDecided is returned for a draft that is no longer open: it was approved, replaced, dropped or deleted.
var ErrDraftDecided = errors.New("the draft is no longer open")

// ApproveDraft enqueues a draft for sending if the gate allows it; otherwise it changes nothing. It returns the gate's decision, and ErrDraftDecided if
// the draft is no longer open.
func (b *Box) ApproveDraft(ctx context.Context, tx store.Tx, first uuid.UUID) (policy.Decision, error) {
	rows, chat, err := b.lockDraft(ctx, tx, first)
	if err != nil {
		return policy.Decision{}, err
	}
	var decision policy.Decision
	for _, o := range rows {
		if o.IsErased() {
			return policy.Decision{Code: policy.CodeQuoteDeleted, Why: policy.CodeQuoteDeleted.Sentence()}, nil
		}
		o.Purpose = policy.PurposeDraft
		var c content
		if err := json.Unmarshal(o.Content, &c); err != nil {
			return policy.Decision{}, fmt.Errorf("read event: %w", err)
		}
		if decision, err = b.check(ctx, tx, chat, o, c); err != nil || !decision.Allow {
			return decision, err
		}
	}
	if err := store.QueueDraft(ctx, tx, first, policy.PurposeDraft, decision.Code, decision.Why); err != nil {
		return policy.Decision{}, err
	}
	for _, o := range rows {
		if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: o.ID}); err != nil {
			return policy.Decision{}, err
		}
	}
	return decision, nil
}

// ReplaceDraft replaces a draft by a new one with another text, if the gate allows that text. It returns ErrDraftDecided if the draft is no longer
// open.
func (b *Box) ReplaceDraft(ctx context.Context, tx store.Tx, first uuid.UUID, text string) (policy.Decision, error) {
	rows, chat, err := b.lockDraft(ctx, tx, first)
	if err != nil {
		return policy.Decision{}, err
	}
	out, decision, err := b.Queue(ctx, tx, Message{Chat: chat, Purpose: policy.PurposeDraft, Text: text, Draft: true, About: rows[0].About, RestsOn: rows[0].RestsOn})
	if err != nil || !decision.Allow {
		return decision, err
	}
	if err := store.ReplaceDraft(ctx, tx, first, out); err != nil {
		return policy.Decision{}, err
	}
	return decision, store.MarkDropped(ctx, tx, first, policy.CodeDraftChanged, policy.CodeDraftChanged.Sentence())
}

// DropDraft drops a draft and stores the reason. It returns ErrDraftDecided if the draft is no longer open.
func (b *Box) DropDraft(ctx context.Context, tx store.Tx, first uuid.UUID, code policy.Code) error {
	if _, _, err := b.lockDraft(ctx, tx, first); err != nil {
		return err
	}
	return store.MarkDropped(ctx, tx, first, code, code.Sentence())
}

// lockDraft locks a chat and its draft. All code that locks both takes the chat first, so that it cannot deadlock.
func (b *Box) lockDraft(ctx context.Context, tx store.Tx, first uuid.UUID) ([]store.OutboxMessage, store.Chat, error) {
	o, err := store.OutboxMessageByID(ctx, tx, first)
	if errors.Is(err, store.ErrNotFound) {
		return nil, store.Chat{}, ErrDraftDecided // it was deleted
	}
	if err != nil {
		return nil, store.Chat{}, err
	}
	chat, err := store.LockChatShared(ctx, tx, o.ChatID)
	if err != nil {
		return nil, store.Chat{}, err
	}
	rows, err := store.LockDraft(ctx, tx, first)
	if err == nil && len(rows) == 0 {
		err = ErrDraftDecided
	}
	return rows, chat, err
}
