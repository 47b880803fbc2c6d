package appservice

import (
	"context"
	"errors"

	"multis/jobs"
	"multis/store"
)

// storeMerge handles a bridge that gave a room the channel of another chat. merged is true if the room has no chat of its
// own any more; into is then the chat that remains.
func (d *Describer) storeMerge(ctx context.Context, known knownChat, found store.Chat) (into store.Chat, merged bool, err error) {
	before := known.before
	if !known.isKnown || known.isOtherBots(found) || !before.IsIn(*found.RoomID) {
		return into, false, nil
	}
	if found.ClosedReason != "" {
		return into, false, nil
	}
	other, err := store.ChatByChannel(ctx, d.inbox.store.DB(), found.Protocol, found.ChannelID, found.Login)
	if errors.Is(err, store.ErrNotFound) || err == nil && other.ID == before.ID {
		return into, false, nil
	}
	if err != nil {
		return into, false, err
	}
	if other.BridgeBot != found.BridgeBot { // anybody could run that bot
		return into, false, errors.Join(store.ErrOtherRoom, d.askOwner(ctx, other, found))
	}
	present, isPortal, err := d.presentClaim(ctx, other)
	switch {
	case err != nil:
		return into, false, err
	case isPortal && (present.ChannelID != found.ChannelID || present.Login != found.Login || present.Protocol != found.Protocol):
		return into, false, d.inbox.store.InTx(ctx, func(tx store.Tx) error {
			if err := store.VacateChannel(ctx, tx, other.ID); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.DescribeArgs{RoomID: *other.RoomID})
		})
	case isPortal && present.ClaimedAt.After(found.ClaimedAt): // of two rooms, the one that the bridge named last
		into, err = d.continueChat(ctx, before, other)
		return into, true, err
	default:
		_, err = d.continueChat(ctx, other, before)
		return into, false, err
	}
}

// continueReplaced continues in a chat those whose rooms its bridge replaced by its room.
func (d *Describer) continueReplaced(ctx context.Context, into store.Chat) (store.Chat, error) {
	replaced, err := store.ReplacedBy(ctx, d.inbox.store.DB(), into.ID)
	if err != nil {
		return into, err
	}
	for _, from := range replaced {
		if into, err = d.continueChat(ctx, from, into); err != nil {
			return into, err
		}
	}
	return into, nil
}

// presentClaim returns what the bridge claims now of the room of a chat; false if it claims nothing.
func (d *Describer) presentClaim(ctx context.Context, chat store.Chat) (store.Chat, bool, error) {
	if !chat.HasRoom() {
		return store.Chat{}, false, nil
	}
	state, err := d.roomState(ctx, *chat.RoomID)
	if err != nil {
		return store.Chat{}, false, err
	}
	present, ok, err := d.parseChat(ctx, *chat.RoomID, state)
	return present, ok && present.BridgeBot == chat.BridgeBot && present.ClosedReason == "", err
}

// continueChat makes one chat a part of another, which gets the stricter mode of both and answers what waited in the first one.
func (d *Describer) continueChat(ctx context.Context, from, into store.Chat) (chat store.Chat, err error) {
	err = d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.ContinueChat(ctx, tx, from.ID, into.ID); err != nil {
			return err
		}
		if from, err = store.ChatByID(ctx, tx, from.ID); err != nil { // with the mode that the owner may have set since
			return err
		}
		if chat, err = store.ChatByID(ctx, tx, into.ID); err != nil {
			return err
		}
		from.ID = chat.ID
		if chat, err = d.keepMode(ctx, tx, chat, from); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.TurnArgs{ChatID: chat.ID})
	})
	return chat, err
}
