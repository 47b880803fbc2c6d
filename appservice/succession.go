package appservice

import (
	"context"
	"errors"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/store"
)

// otherRoomRetryDelay is how long a room that claims somebody else's chat is not looked at again: the owner may accept it meanwhile.
const otherRoomRetryDelay = time.Minute

// storeChat stores what a room's state says about a chat. A room of another bot than the chat's takes it over when the old bot
// said so, or the owner did; else he is asked. A bot is a Matrix user as any other, and could be anybody's.
func (d *Describer) storeChat(ctx context.Context, found store.Chat, state []*event.Event) (chat store.Chat, err error) {
	before, err := store.ChatByChannel(ctx, d.inbox.store.DB(), found.Protocol, found.ChannelID, found.Receiver)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.Chat{}, err
	}
	changed := err == nil && before.BridgeBot != found.BridgeBot
	handed := false
	if changed && !before.Unconfirmed {
		if handed, err = d.isHandedOver(ctx, before, *found.RoomID, state); err != nil {
			return store.Chat{}, err
		}
	}
	err = d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		bot, err := d.storeBridgeBot(ctx, tx, found, handed || bridgebridge.ActsAsOwner(state, d.inbox.rules.Owner))
		if err != nil {
			return err
		}
		if bot.RefusedAt != nil {
			return store.ErrOtherRoom
		}
		if changed {
			if err := freeChannel(ctx, tx, before, bot, handed); err != nil {
				return err
			}
		}
		if chat, err = store.UpsertChat(ctx, tx, found); err != nil {
			return err
		}
		if !before.LivesIn(*found.RoomID) {
			if err := jobs.Enqueue(ctx, tx, d.describeSpaces()...); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		missed := catchUpArgs(before) // what was said there while it was not the chat's yet
		if missed.ChatID != chat.ID {
			missed.ChatID, missed.Since = chat.ID, before.ClaimedAt.Unix()
		}
		return jobs.Enqueue(ctx, tx, missed)
	})
	if changed && errors.Is(err, store.ErrOtherRoom) {
		return store.Chat{}, errors.Join(err, d.askOwner(ctx, before, found))
	}
	return chat, err
}

// freeChannel frees a channel for the room of another bot: one that a confirmed bot takes from an unconfirmed one, or that was handed over.
func freeChannel(ctx context.Context, tx store.Tx, before store.Chat, bot store.BridgeBot, handed bool) error {
	if before.Unconfirmed && bot.ConfirmedAt != nil {
		return store.SetAside(ctx, tx, before.ID)
	}
	if handed {
		return store.HandOverChat(ctx, tx, before.ID, before.BridgeBot, bot.Bot)
	}
	return nil
}

// storeBridgeBot notes the bot of a room. The owner is asked once about one that nobody knows and that is not proven to be a bridge.
func (d *Describer) storeBridgeBot(ctx context.Context, tx store.Tx, found store.Chat, proven bool) (store.BridgeBot, error) {
	if found.BridgeBot == "" { // a room of the owner's and ours
		return store.BridgeBot{}, nil
	}
	bot, first, err := store.MeetBridgeBot(ctx, tx, found.BridgeBot, found.Protocol, proven)
	if err != nil || !first || bot.ConfirmedAt != nil {
		return bot, err
	}
	waiting, err := store.UnconfirmedBots(ctx, tx)
	waiting = slices.DeleteFunc(waiting, func(b store.BridgeBot) bool { return b.RefusedAt != nil })
	if err != nil || len(waiting) > store.MaxBridgeBots {
		return bot, err
	}
	return bot, jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicNewBridge, SubjectID: bot.ID})
}

// catchUpArgs reads a chat from where its record ends, and tells nobody.
func catchUpArgs(chat store.Chat) jobs.HistoryArgs {
	args := jobs.HistoryArgs{ChatID: chat.ID, Quiet: true}
	if chat.LastMessageAt != nil {
		args.Since = chat.LastMessageAt.Add(-time.Minute).Unix()
	}
	return args
}

// askOwner has the owner asked whether a bot may take over the chats of another one, once.
func (d *Describer) askOwner(ctx context.Context, before, found store.Chat) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		change, first, err := store.NoteBridgeChange(ctx, tx, found.Protocol, before.BridgeBot, found.BridgeBot)
		if err != nil || !first {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicBridgeReplaced, SubjectID: change})
	})
}

// isHandedOver tells whether the bot of a chat's room itself said that another room replaces it, and that one says so too.
func (d *Describer) isHandedOver(ctx context.Context, before store.Chat, room id.RoomID, state []*event.Event) (bool, error) {
	old := bridgebridge.Predecessor(state)
	if old == "" || before.BridgeBot == "" || !before.LivesIn(old) {
		return false, nil
	}
	replaced, err := d.roomState(ctx, old)
	if err != nil || !bridgebridge.Replaces(old, replaced, room, state) {
		return false, err
	}
	_, by := bridgebridge.Successor(replaced)
	return by == before.BridgeBot, nil
}

// successionTimeout is how long a new room that says it replaces a chat's room is given until the old one says so, too: whoever
// upgrades a room makes the new one first, and a bridge may be there before us.
const successionTimeout = 10 * time.Minute

// isExpected tells whether a room that no bridge claims replaces the room of a chat, so that its bridge will come.
func (d *Describer) isExpected(ctx context.Context, room id.RoomID, state []*event.Event) (bool, error) {
	old := bridgebridge.Predecessor(state)
	if old == "" {
		return false, nil
	}
	chats, err := store.ChatsByRoom(ctx, d.inbox.store.DB(), []id.RoomID{old})
	if err != nil {
		return false, err
	}
	if chat, known := chats[old]; !known || chat.BridgeBot == "" {
		return false, nil
	}
	if age := d.inbox.now().Sub(bridgebridge.CreatedAt(state)); age > -time.Minute && age < successionTimeout {
		return true, nil
	}
	replaced, err := d.roomState(ctx, old)
	return err == nil && bridgebridge.Replaces(old, replaced, room, state), err
}

// roomState is the state of a room, as far as the owner can see it: none when he left.
func (d *Describer) roomState(ctx context.Context, room id.RoomID) ([]*event.Event, error) {
	state, err := d.hs.owner.session().state(ctx, room)
	if errors.Is(err, mautrix.MForbidden) || errors.Is(err, mautrix.MNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, explain("read the state of a replaced room", err)
	}
	return state, nil
}
