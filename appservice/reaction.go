package appservice

import (
	"context"
	"errors"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// storeReaction stores reactions in the admin room, where they answer questions, and ratings of contacts. It drops all other reactions. If the owner
// reacts in a chat that multis answers, he is looking at the chat, as with a read receipt, but he wrote nothing, so the assistant is not paused.
func (b *batch) storeReaction(ctx context.Context, e incoming) error {
	if e.author.IsOwner() && !b.history && b.inbox.canAnswer(*e.chat) {
		return store.MarkOwnerActive(ctx, b.tx, e.chat.ID, e.at.Add(ownerActiveTimeout))
	}
	if e.author == policy.AuthorContact && e.chat.Kind != policy.KindAdmin {
		c, ok := parseContent[event.ReactionEventContent](ctx, e.Event)
		if !ok {
			return nil
		}
		return b.storeRating(ctx, e, c.RelatesTo.EventID, c.RelatesTo.Key)
	}
	if e.chat.Kind != policy.KindAdmin {
		return nil
	}
	decision := b.admitCommand(e)
	if decision.Action == policy.ActionIgnore {
		return nil
	}
	c, ok := parseContent[event.ReactionEventContent](ctx, e.Event)
	if !ok || c.RelatesTo.EventID == "" || c.RelatesTo.Key == "" {
		return nil
	}
	if decision.Action == policy.ActionCommand && policy.ThreadSignOf(c.RelatesTo.Key).IsTakeover() {
		if err := b.keepQuiet(ctx, e, c.RelatesTo.EventID, true); err != nil {
			return err
		}
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: e.chat.ID, EventID: e.ID, Author: e.author, Sender: e.Sender, Kind: string(bridgebridge.Reaction), Body: c.RelatesTo.Key,
		RelatesTo: c.RelatesTo.EventID, At: e.at, Action: decision.Action, Code: decision.Code, Reason: decision.Why,
	})
	if err != nil {
		return err
	}
	b.enqueueFollowUp(e.chat.ID, b.inbox.mode(*e.chat), message, decision)
	return nil
}

// rateByMessage stores the rating in a contact's message that is only an emoji. It rates the message that it replies to, or else the chat's newest one.
func (b *batch) rateByMessage(ctx context.Context, e incoming, msg bridgebridge.Message) error {
	if e.author != policy.AuthorContact || policy.RatingOf(msg.Text) == "" {
		return nil
	}
	about := msg.ReplyTo
	if about == "" {
		last, err := store.NewestMessage(ctx, b.tx, e.chat.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		about = last.EventID
	}
	return b.storeRating(ctx, e, about, msg.Text)
}

// storeRating stores the rating that key is, about the event about. It has no effect unless that event asked this contact for a rating.
func (b *batch) storeRating(ctx context.Context, e incoming, about id.EventID, key string) error {
	value := policy.RatingOf(key)
	if value == "" || about == "" || b.history || e.chat.Kind != policy.KindDM {
		return nil
	}
	return store.SetRating(ctx, b.tx, store.GivenRating{ChatID: e.chat.ID, Contact: e.Sender, About: about, By: e.ID, Value: value, At: e.at})
}
