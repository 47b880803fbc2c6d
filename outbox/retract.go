package outbox

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	// retractWait is how long a redaction waits for a send that is under way.
	retractWait = time.Second
	// pausedWait is how long a redaction waits while everything is paused.
	pausedWait = 15 * time.Second
)

// Retract redacts a sent row, because a message that it quoted or answered was deleted. It waits for a send that is under way, and in a
// contact's chat until nothing is paused, because contacts see a redaction as they see a message.
func (b *Box) Retract(ctx context.Context, out uuid.UUID) error {
	o, err := store.OutboxMessageByID(ctx, b.store.DB(), out)
	if err != nil {
		return err
	}
	switch {
	case o.EventID != nil:
		return b.redact(ctx, o)
	case o.State == store.OutboxDropped, o.State == store.OutboxFailed, o.State == store.OutboxDraft:
		return nil // it never left, and what is emptied never will
	default:
		return jobs.Later(retractWait)
	}
}

// redact asks the gate and redacts the event in the room to which it was sent, even if the chat has another room now.
func (b *Box) redact(ctx context.Context, o store.OutboxMessage) error {
	chat, err := store.ChatByID(ctx, b.store.DB(), o.ChatID)
	if err != nil {
		return err
	}
	now, err := b.standing(ctx, b.store.DB(), chat, o.ID)
	if err != nil {
		return err
	}
	o.Purpose = policy.PurposeRedaction
	in := b.gateInput(chat, o, content{}, now)
	in.HasRoom, in.Tombstoned = o.RoomID != "", false
	switch decision := policy.Gate(in); {
	case decision.Allow:
		return b.sender.Retract(ctx, o)
	case decision.Code == policy.CodePausedAll:
		return jobs.Later(pausedWait)
	default:
		zerolog.Ctx(ctx).Info().Stringer("outbox_id", o.ID).Str("code", string(decision.Code)).Msg("A message stays that was to be deleted")
		return nil
	}
}
