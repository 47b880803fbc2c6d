package appservice

import (
	"context"
	"errors"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// storeReaction stores reactions in the admin room, where they answer questions, and ratings of contacts. It drops all
// other reactions. If the owner reacts in a chat that multis answers, he is looking at the chat, as with a read receipt,
// but he wrote nothing, so the assistant is not paused.
func (b *batch) storeReaction(ctx context.Context, e incoming) error {
	rating, isRating := b.ratingOf(e)
	isWatching := e.author.IsOwner() && !b.history && e.chat.AnswersIn(b.inbox.settings.Defaults)
	switch {
	case e.chat.Kind == policy.KindAdmin:
		return b.storeAdminReaction(ctx, e)
	case isRating && rating.About != "":
		return store.SetRating(ctx, b.tx, rating)
	case isWatching:
		return store.MarkOwnerActive(ctx, b.tx, e.chat.ID, e.at.Add(ownerActiveTimeout))
	default:
		return nil
	}
}

// storeAdminReaction stores a reaction in the admin room.
func (b *batch) storeAdminReaction(ctx context.Context, e incoming) error {
	about, key := e.Message.ReplyTo, e.Message.Text
	decision := b.admitCommand(e)
	if decision.Action == policy.ActionIgnore || about == "" || key == "" {
		return nil
	}
	if decision.Action == policy.ActionCommand && e.IsTakeover {
		if err := b.keepQuiet(ctx, e, about, true); err != nil {
			return err
		}
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID:    e.chat.ID,
		EventID:   e.ID,
		Author:    e.author,
		Sender:    e.Sender,
		Kind:      string(bridgebridge.Reaction),
		Body:      key,
		RelatesTo: about,
		At:        e.at,
		Action:    decision.Action,
		Code:      decision.Code,
		Reason:    decision.Why,
	})
	if err != nil {
		return err
	}
	b.enqueueFollowUp(e.chat.ID, b.inbox.mode(*e.chat), message, decision)
	return nil
}

// ratingOf returns the rating in a contact's reaction, or in a message that is only an emoji, of the event that it is
// about. It returns false for all other events, and in chats whose contacts are not asked for ratings.
func (b *batch) ratingOf(e incoming) (store.GivenRating, bool) {
	if e.Rating == "" || e.author != policy.AuthorContact || e.chat.Kind != policy.KindDM || b.history {
		return store.GivenRating{}, false
	}
	return store.GivenRating{
		ChatID:  e.chat.ID,
		Contact: e.Sender,
		About:   e.Message.ReplyTo,
		By:      e.ID,
		Value:   e.Rating,
		At:      e.at,
	}, true
}

// rateByMessage stores the rating in a message, of the message that it replies to, or else of the chat's newest one. It
// has no effect unless that message asked this contact for a rating.
func (b *batch) rateByMessage(ctx context.Context, e incoming) error {
	rating, isRating := b.ratingOf(e)
	if !isRating {
		return nil
	}
	if rating.About == "" {
		last, err := store.NewestMessage(ctx, b.tx, e.chat.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		rating.About = last.EventID
	}
	if rating.About == "" {
		return nil
	}
	return store.SetRating(ctx, b.tx, rating)
}
