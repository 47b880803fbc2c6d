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
	// retractWait is how long a deletion waits for the send that was under way.
	retractWait = time.Second
	// pausedWait is how long it waits before it asks again while everything is paused.
	pausedWait = 15 * time.Second
)

// Retract deletes what was said from its room, because what it quoted or answered was deleted. It waits for a send under way, and in a
// contact's chat until nothing is paused: a deletion is seen there like a message.
func (b *Box) Retract(ctx context.Context, out uuid.UUID) error {
	o, err := store.OutByID(ctx, b.store.DB(), out)
	if err != nil {
		return err
	}
	switch {
	case o.EventID != nil:
		return b.redact(ctx, o)
	case o.State == store.OutDropped, o.State == store.OutFailed, o.State == store.OutHeld:
		return nil // it never left, and what is emptied never will
	default:
		return jobs.Later(retractWait)
	}
}

// redact asks the gate and deletes an event where it was sent, which may be a room that the chat has left since.
func (b *Box) redact(ctx context.Context, o store.Out) error {
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
