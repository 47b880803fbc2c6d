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
	"multis/policy"
	"multis/store"
)

// otherRoomRetryDelay is how long a room is ignored that claims a chat of another bridge bot. The owner may accept the new bot
// meanwhile.
const otherRoomRetryDelay = time.Minute

// storeChat stores the chat that a room's state describes. A room of another bridge bot takes over an existing chat only if the old bot
// announced the room or the owner accepted the new bot. Otherwise the owner is asked, because any Matrix user could claim to be a bridge
// bot.
func (d *Describer) storeChat(ctx context.Context, found store.Chat, state []*event.Event) (store.Chat, error) {
	known, err := d.knownChat(ctx, found, state)
	if err != nil {
		return store.Chat{}, err
	}
	into, merged, err := d.storeMerge(ctx, known, found)
	if err != nil {
		return into, err
	}
	if merged {
		return into, nil
	}
	if !known.isKnown && found.ClosedReason != "" {
		return store.Chat{}, store.ErrOtherRoom // a room that was replaced before multis knew it
	}
	var chat store.Chat
	err = d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		bot, err := d.storeBridgeBot(ctx, tx, found, known.handed || bridgebridge.ActsAsOwner(state, d.inbox.settings.Owner))
		if err != nil {
			return err
		}
		if bot.RefusedAt != nil {
			return store.ErrOtherRoom
		}
		chat, err = d.storeClaim(ctx, tx, known, found, bot)
		return err
	})
	if known.isOtherBots(found) && errors.Is(err, store.ErrOtherRoom) {
		return store.Chat{}, errors.Join(err, d.askOwner(ctx, known.before, found))
	}
	if err != nil {
		return chat, err
	}
	if !chat.HasRoom() {
		return chat, nil
	}
	return d.continueReplaced(ctx, chat)
}

// knownChat is what is known about the chat that a room's state describes.
type knownChat struct {
	before  store.Chat // the chat as it is stored; zero if it is new
	isKnown bool
	handed  bool // the bot of before announced this room as the successor of its room
}

// isOtherBots reports whether the stored chat is of another bot than the one that claims it.
func (k knownChat) isOtherBots(found store.Chat) bool {
	return k.isKnown && k.before.BridgeBot != found.BridgeBot
}

// knownChat finds the chat of a claim: that of its room, else that of its channel, else that of the room which it replaced.
func (d *Describer) knownChat(ctx context.Context, found store.Chat, state []*event.Event) (k knownChat, err error) {
	old := bridgebridge.Predecessor(state)
	chats, err := store.ChatsByRoom(ctx, d.inbox.store.DB(), []id.RoomID{*found.RoomID, old})
	if err != nil {
		return k, err
	}
	if k.before, k.isKnown = chats[*found.RoomID]; k.isKnown && k.before.BridgeBot != "" {
		return k, nil
	}
	k.before, err = store.ChatByChannel(ctx, d.inbox.store.DB(), found.Protocol, found.ChannelID, found.Login)
	k.isKnown = err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return k, err
	}
	before, isReplaced := chats[old]
	if k.isKnown {
		before, isReplaced = k.before, k.isOtherBots(found) && !k.before.Unconfirmed
	}
	if !isReplaced || found.BridgeBot == "" {
		return k, nil
	}
	k.handed, err = d.isAnnouncedSuccessor(ctx, before, *found.RoomID, state)
	if k.handed {
		k.before, k.isKnown = before, true
	}
	return k, err
}

// storeClaim stores what a bridge claims of a chat. The chat never gets a less strict mode by it than the one that it has now, which
// the owner may have set since the chat was looked up.
func (d *Describer) storeClaim(ctx context.Context, tx store.Tx, known knownChat, found store.Chat,
	bot store.BridgeBot,
) (store.Chat, error) {
	if known.isKnown {
		var err error
		if known.before, err = store.LockChat(ctx, tx, known.before.ID); err != nil {
			return store.Chat{}, err
		}
	}
	before := known.before
	if known.isOtherBots(found) {
		if err := freeChannel(ctx, tx, before, bot, known.handed); err != nil {
			return store.Chat{}, err
		}
	}
	if known.isKnown && !before.Unconfirmed {
		found.ID = before.ID
	}
	chat, err := upsertChat(ctx, tx, found)
	if err != nil {
		return chat, err
	}
	if !before.IsIn(*found.RoomID) {
		if err := jobs.Enqueue(ctx, tx, d.describeSpaces()...); err != nil {
			return chat, err
		}
	}
	if known.isOtherBots(found) {
		missed := catchUpArgs(before) // the messages sent in the new room before it became the chat's room
		if missed.ChatID != chat.ID {
			missed.ChatID, missed.SinceUnix = chat.ID, before.ClaimedAt.Unix()
		}
		if err := jobs.Enqueue(ctx, tx, missed); err != nil {
			return chat, err
		}
	}
	return d.keepMode(ctx, tx, chat, before)
}

// keepMode keeps a chat at least as strict as it was before, or, if it is new, as the chats that it may be a continuation of.
func (d *Describer) keepMode(ctx context.Context, tx store.Tx, chat, before store.Chat) (store.Chat, error) {
	if chat.Kind == policy.KindAdmin {
		return chat, nil
	}
	like := []store.Chat{before}
	if before.ID != chat.ID {
		var err error
		if like, err = store.SimilarChats(ctx, tx, chat.ID); err != nil {
			return chat, err
		}
	}
	mode := chat.ClaimedMode(d.inbox.settings.Defaults)
	strictest := mode
	for _, other := range like {
		if m := other.ClaimedMode(d.inbox.settings.Defaults); m.IsStricterThan(strictest) {
			strictest = m
		}
	}
	if strictest == mode {
		return chat, nil
	}
	if err := store.SetMode(ctx, tx, chat.ID, strictest); err != nil {
		return chat, err
	}
	chat.Mode = &strictest
	return chat, jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicModeKept, SubjectID: int64(chat.ID)})
}

// upsertChat stores what a room's state says about a chat. It never removes the mark of a room for operators.
func upsertChat(ctx context.Context, tx store.Tx, found store.Chat) (store.Chat, error) {
	chat, err := store.UpsertChat(ctx, tx, found)
	if err != nil {
		return chat, err
	}
	if !found.IsOperatorsRoom {
		return chat, nil
	}
	return chat, store.MarkOperatorsRoom(ctx, tx, chat.ID)
}

// freeChannel makes a channel available to the room of another bot, if a confirmed bot replaces an unconfirmed one, or
// the old bot handed the chat over.
func freeChannel(ctx context.Context, tx store.Tx, before store.Chat, bot store.BridgeBot, handed bool) error {
	if before.Unconfirmed && bot.ConfirmedAt != nil {
		return store.CloseUnconfirmed(ctx, tx, before.ID)
	}
	if handed {
		return store.SetBridgeBot(ctx, tx, before.ID, before.BridgeBot, bot.Bot)
	}
	return nil
}

// storeBridgeBot stores the bot of a room. It asks the owner once about a new bot that is not proven to be a bridge.
func (d *Describer) storeBridgeBot(ctx context.Context, tx store.Tx, found store.Chat, proven bool) (store.BridgeBot, error) {
	if found.BridgeBot == "" { // an admin room
		return store.BridgeBot{}, nil
	}
	bot, first, err := store.InsertBridgeBot(ctx, tx, found.BridgeBot, found.Protocol, proven)
	if err != nil {
		return bot, err
	}
	if !first || bot.ConfirmedAt != nil {
		return bot, nil
	}
	waiting, err := store.UnconfirmedBots(ctx, tx)
	waiting = slices.DeleteFunc(waiting, func(b store.BridgeBot) bool { return b.RefusedAt != nil })
	if err != nil {
		return bot, err
	}
	if len(waiting) > store.MaxBridgeBots {
		return bot, nil
	}
	return bot, jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicNewBridge, SubjectID: bot.ID})
}

// catchUpArgs returns the job that reads the messages of a chat since its last stored one. The job sends no notice.
func catchUpArgs(chat store.Chat) jobs.HistoryArgs {
	args := jobs.HistoryArgs{ChatID: chat.ID, NoNotice: true}
	if chat.LastMessageAt != nil {
		args.SinceUnix = chat.LastMessageAt.Add(-time.Minute).Unix()
	}
	return args
}

// askOwner enqueues one notice that asks the owner whether a bot may take over the chats of another.
func (d *Describer) askOwner(ctx context.Context, before, found store.Chat) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		change, first, err := store.InsertBridgeChange(ctx, tx, found.Protocol, before.BridgeBot, found.BridgeBot)
		if err != nil {
			return err
		}
		if !first {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicBridgeReplaced, SubjectID: change})
	})
}

// isAnnouncedSuccessor reports whether the old bot announced that this room replaces the chat's room, and this room names
// the chat's room as its predecessor.
func (d *Describer) isAnnouncedSuccessor(ctx context.Context, before store.Chat, room id.RoomID, state []*event.Event) (bool, error) {
	old := bridgebridge.Predecessor(state)
	if old == "" || before.BridgeBot == "" || !before.IsIn(old) {
		return false, nil
	}
	replaced, err := d.roomState(ctx, old)
	if err != nil {
		return false, err
	}
	if !bridgebridge.Replaces(old, replaced, room, state) {
		return false, nil
	}
	_, by := bridgebridge.Successor(replaced)
	return by == before.BridgeBot, nil
}

// successionTimeout is how long a new room that names a chat's room as its predecessor may wait for the old room's tombstone. A room
// upgrade creates the new room first, and the bridge may join it before multis sees the tombstone.
const successionTimeout = 10 * time.Minute

// awaitsBridge reports whether an unclaimed room replaces a known chat's room, so that its bridge should claim it soon.
func (d *Describer) awaitsBridge(ctx context.Context, room id.RoomID, state []*event.Event) (bool, error) {
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

// roomState returns the state of a room, or nil if the owner may not read it.
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
