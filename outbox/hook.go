package outbox

import (
	"context"
	"encoding/json"
	"fmt"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// askHooks asks the owner's hooks about a message to a contact that the gate allowed. It reports whether the message was
// stopped: dropped, or made a draft if the hooks want the owner to be asked. The owner's approval of a draft satisfies
// hooks that want the owner to be asked, but does not overrule a denial. asked is false if there was nothing to ask.
func (b *Box) askHooks(ctx context.Context, o store.OutboxMessage) (stopped, asked bool, err error) {
	if b.settings.BeforeSend == nil || o.Purpose == policy.PurposeNotice {
		return false, false, nil
	}
	chat, err := store.ChatByID(ctx, b.store.DB(), o.ChatID)
	if err != nil {
		return false, false, err
	}
	if chat.Kind == policy.KindAdmin {
		return false, false, nil
	}
	v, err := b.settings.BeforeSend(ctx, chat, o)
	if err != nil {
		return false, true, err
	}
	switch {
	case v.Decision == policy.HookAllow, v.Decision == policy.HookAsk && o.Purpose == policy.PurposeDraft:
		return false, true, nil
	case v.Decision == policy.HookAsk && o.IsFirst():
		return true, true, b.store.InTx(ctx, func(tx store.Tx) error { return b.makeDraft(ctx, tx, o) })
	default:
		return true, true, b.store.InTx(ctx, func(tx store.Tx) error {
			locked, err := store.LockOutboxMessage(ctx, tx, o.ID)
			if err != nil {
				return err
			}
			if locked.State != store.OutboxQueued {
				return nil
			}
			notice := fmt.Sprintf("⚠️ **Not sent to %s**: %s", text.Escape(chat.Label()), text.Escape(v.Why))
			if err := b.NotifyOwner(ctx, tx, Alert, notice); err != nil {
				return err
			}
			return b.drop(ctx, tx, o, policy.CodeHook, v.Why)
		})
	}
}

// makeDraft makes a queued message, by its first row, wait for the owner's approval.
func (b *Box) makeDraft(ctx context.Context, tx store.Tx, o store.OutboxMessage) error {
	changed, err := store.MakeDraft(ctx, tx, o.ID)
	if err != nil {
		return err
	}
	if !changed {
		return nil
	}
	if err := jobs.Enqueue(ctx, tx, jobs.PresentDraftArgs{OutboxID: o.ID}); err != nil {
		return err
	}
	return enqueueNext(ctx, tx, o)
}

// TextOf returns the text of an outbox message.
func TextOf(o store.OutboxMessage) string {
	var c content
	if err := json.Unmarshal(o.Content, &c); err != nil {
		return ""
	}
	return c.Body
}
