package appservice

import (
	"context"

	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeReaction stores reactions in the admin room, where they answer questions. Others are dropped. The owner's in a chat that is
// answered shows that he is looking at it, as a read receipt does; he wrote nothing, so the assistant is not paused.
func (b *batch) storeReaction(ctx context.Context, e incoming) error {
	if e.author.IsOwner() && !b.history && b.in.canAnswer(*e.chat) {
		return store.MarkOwnerActive(ctx, b.tx, e.chat.ID, e.at.Add(ownerWatchTimeout))
	}
	if e.chat.Kind != policy.KindAdmin || (e.author != policy.AuthorOwnerClient && e.author != policy.AuthorOperator) {
		return nil
	}
	c, ok := parsed[event.ReactionEventContent](ctx, e.Event)
	if !ok || c.RelatesTo.EventID == "" || c.RelatesTo.Key == "" {
		return nil
	}
	if policy.ThreadSignOf(c.RelatesTo.Key).IsPresence() {
		if err := b.keepQuiet(ctx, e, c.RelatesTo.EventID, true); err != nil {
			return err
		}
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: e.chat.ID, EventID: e.ID, Author: e.author, Sender: e.Sender, Kind: string(bridgebridge.Reaction), Body: c.RelatesTo.Key,
		RelatesTo: c.RelatesTo.EventID, At: e.at, Action: policy.ActionCommand, Code: policy.CodeCommand, Reason: policy.CodeCommand.Sentence(),
	})
	if err != nil {
		return err
	}
	b.jobs = append(b.jobs, jobs.CommandArgs{MessageID: message})
	return nil
}
