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

// ErrDecided is returned for a draft that waits no longer: somebody decided on it before, or its time was over.
var ErrDecided = errors.New("the draft was decided on before")

// Release asks the gate about a draft and, if it may go, has those very bytes sent. When it may not, nothing changes. ErrDecided: it
// waits no longer.
func (b *Box) Release(ctx context.Context, tx store.Tx, first uuid.UUID) (policy.Decision, error) {
	rows, chat, err := b.held(ctx, tx, first)
	if err != nil {
		return policy.Decision{}, err
	}
	var decision policy.Decision
	for _, o := range rows {
		if o.Emptied() {
			return policy.Decision{Code: policy.CodeTakenBack, Why: policy.CodeTakenBack.Sentence()}, nil
		}
		o.Purpose = policy.PurposeDraft
		var c content
		if err := json.Unmarshal(o.Content, &c); err != nil {
			return policy.Decision{}, fmt.Errorf("read event: %w", err)
		}
		if decision, err = b.ask(ctx, tx, chat, o, c); err != nil || !decision.Allow {
			return decision, err
		}
	}
	if err := store.ReleaseOut(ctx, tx, first, policy.PurposeDraft, decision.Code, decision.Why); err != nil {
		return policy.Decision{}, err
	}
	for _, o := range rows {
		if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: o.ID}); err != nil {
			return policy.Decision{}, err
		}
	}
	return decision, nil
}

// Rewrite puts a draft with other words in the place of one, if the gate lets them out; else nothing changes but that the decision is
// kept. ErrDecided: it waits no longer.
func (b *Box) Rewrite(ctx context.Context, tx store.Tx, first uuid.UUID, text string) (policy.Decision, error) {
	rows, chat, err := b.held(ctx, tx, first)
	if err != nil {
		return policy.Decision{}, err
	}
	out, decision, err := b.Queue(ctx, tx, Letter{Chat: chat, Purpose: policy.PurposeDraft, Text: text, Hold: true, About: rows[0].About, RestsOn: rows[0].RestsOn})
	if err != nil || !decision.Allow {
		return decision, err
	}
	if err := store.MoveOut(ctx, tx, first, out); err != nil {
		return policy.Decision{}, err
	}
	return decision, store.DropOut(ctx, tx, first, policy.CodeDraftChanged, policy.CodeDraftChanged.Sentence())
}

// Refuse drops a draft and keeps why. ErrDecided: it waits no longer.
func (b *Box) Refuse(ctx context.Context, tx store.Tx, first uuid.UUID, code policy.Code) error {
	if _, _, err := b.held(ctx, tx, first); err != nil {
		return err
	}
	return store.DropOut(ctx, tx, first, code, code.Sentence())
}

// held takes a draft and its chat, the chat first as everybody does.
func (b *Box) held(ctx context.Context, tx store.Tx, first uuid.UUID) ([]store.Out, store.Chat, error) {
	o, err := store.OutByID(ctx, tx, first)
	if errors.Is(err, store.ErrNotFound) {
		return nil, store.Chat{}, ErrDecided // it was forgotten
	}
	if err != nil {
		return nil, store.Chat{}, err
	}
	chat, err := store.ShareChat(ctx, tx, o.ChatID)
	if err != nil {
		return nil, store.Chat{}, err
	}
	rows, err := store.LockDraft(ctx, tx, first)
	if err == nil && len(rows) == 0 {
		err = ErrDecided
	}
	return rows, chat, err
}
