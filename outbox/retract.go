package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	// retractWait is the delay of a redaction while its message is being sent.
	retractWait = time.Second
	// pausedWait is the delay of a send or a redaction while everything is paused, is held after a restore, or is in safe mode.
	pausedWait = 15 * time.Second
)

// EventRedacter is a Sender that can redact events of others.
type EventRedacter interface {
	Sender
	// RedactEvent redacts an event of the owner in a room. Repeating it changes nothing.
	RedactEvent(ctx context.Context, room id.RoomID, event id.EventID) error
}

// Retract redacts a sent message because a message that it quoted or answered was deleted. It returns jobs.Snooze while
// the message is being sent and, in a contact's chat, while everything is paused: contacts see redactions.
func (b *Box) Retract(ctx context.Context, outboxID uuid.UUID) error {
	o, err := store.OutboxMessageByID(ctx, b.store.DB(), outboxID)
	if err != nil {
		return err
	}
	switch {
	case o.EventID != nil:
		return b.redact(ctx, o)
	case o.State == store.OutboxDropped, o.State == store.OutboxFailed, o.State == store.OutboxDraft, o.State == store.OutboxShadow:
		return nil // it was not sent, and an erased row never is
	default:
		return jobs.Snooze(retractWait)
	}
}

// redact asks the gate and redacts the event. The room is the one to which the event was sent, even if the chat has another room now.
func (b *Box) redact(ctx context.Context, o store.OutboxMessage) error {
	chat, err := store.ChatByID(ctx, b.store.DB(), o.ChatID)
	if err != nil {
		return err
	}
	now, err := b.sendingState(ctx, b.store.DB(), chat, o.ID)
	if err != nil {
		return err
	}
	o.Purpose = policy.PurposeRedaction
	in := b.gateInput(chat, o, content{}, now)
	in.HasRoom, in.Tombstoned = o.RoomID != "", false
	switch decision := policy.Gate(in); {
	case decision.Allow:
		return b.sender.Retract(ctx, o)
	case decision.Code == policy.CodePausedAll, decision.Code == policy.CodeRestored, decision.Code == policy.CodeSafeMode:
		return jobs.Snooze(pausedWait)
	default:
		zerolog.Ctx(ctx).Info().Stringer("outbox_id", o.ID).Str("code", string(decision.Code)).Msg("The gate refused a redaction")
		return nil
	}
}

// RedactPIN deletes a message with a PIN from the admin room. If it cannot, it asks the owner to do it, at the last attempt.
func (b *Box) RedactPIN(ctx context.Context, room id.RoomID, event id.EventID, last bool) error {
	sender, ok := b.sender.(EventRedacter)
	if !ok {
		return nil
	}
	chats, err := store.ChatsByRoom(ctx, b.store.DB(), []id.RoomID{room})
	if err != nil {
		return err
	}
	chat := chats[room]
	o := store.OutboxMessage{ChatID: chat.ID, RoomID: room, Purpose: policy.PurposePIN, SendAs: policy.AsBot}
	in := b.gateInput(chat, o, content{}, store.SendingState{})
	in.HasRoom, in.Tombstoned = room != "", false
	decision := policy.Gate(in)
	if decision.Allow {
		err = sender.RedactEvent(ctx, room, event)
	} else {
		err = jobs.Permanent(errors.New(decision.Why))
	}
	if err == nil || (!last && !jobs.IsPermanent(err)) {
		return err
	}
	zerolog.Ctx(ctx).Warn().Err(jobs.Cause(err)).Stringer("event_id", event).Msg("Cannot delete a PIN from the admin room")
	return b.store.InTx(ctx, func(tx store.Tx) error {
		return b.NotifyOwner(ctx, tx, Alert, "⚠️ **I could not delete your message with the PIN.** Please delete it yourself, here in the room.")
	})
}
