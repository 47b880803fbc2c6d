package appservice

import (
	"context"
	"fmt"
	"slices"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// batch stores the events of one transaction. Its steps, each called by the one before it: storeAll, storeEvent (finds
// the chat, and decides whether anything is stored), storeInChat (by type of event), and a function for each type.
type batch struct {
	sideEffects

	inbox *Inbox
	tx    store.Tx
	// chats are the chats of the batch's rooms. If a chat moved, its old and its new room point to the same one.
	chats     map[id.RoomID]*store.Chat
	newEvents map[id.EventID]bool // events that were not stored before
	// editedBefore are events whose edit came before them; nil means that this is not known.
	editedBefore map[id.EventID]bool
	ownEvents    map[id.EventID]bool // events that multis sent
	// rates holds the rates of the contacts in the batch so far.
	rates contactRates
	// history is true for messages from before multis was there: they are stored, but start no work. storedCount is
	// the number of stored messages.
	history     bool
	storedCount int
	// pending are events of rooms that are not described yet; pendingRooms are their rooms.
	pending      []id.EventID
	pendingRooms []id.RoomID
	// state is read once, because it does not change within a batch.
	state store.AdmissionState
}

// sideEffects are the jobs and hook events that result from the events of a batch. enqueue writes them at the end of the transaction.
type sideEffects struct {
	jobs  []jobs.Args
	hooks []store.HookEvent
	// changedChats are the chats in which something was said, changed or deleted.
	changedChats []store.ChatID
	// threads are the chats whose open escalations show what was said, so that their threads are updated.
	threads []store.ChatID
	// labels are what contacts' words add to the labels of chats.
	labels map[store.ChatID][]string
}

// incoming is an event of a chat, with what is known about it before anything is stored.
type incoming struct {
	bridgebridge.Event

	chat   *store.Chat
	author policy.Author
	at     time.Time // when it was sent, see Inbox.sentAt
	// delivery is the report of the chat's bridge about a message, if isDelivery.
	delivery   bridgebridge.Delivery
	isDelivery bool
}

func (in *Inbox) newBatch(tx store.Tx) *batch {
	return &batch{inbox: in, tx: tx, rates: contactRates{limit: in.settings.StoreCap.Day}}
}

// storeAll stores the events in their order, and enqueues the jobs that they need.
func (b *batch) storeAll(ctx context.Context, events []bridgebridge.Event) error {
	if err := b.load(ctx, events); err != nil {
		return err
	}
	for _, evt := range events {
		if err := b.storeEvent(ctx, evt); err != nil {
			return fmt.Errorf("store %s: %w", evt.ID, err)
		}
	}
	if len(b.pending) > 0 {
		if err := store.AddPending(ctx, b.tx, b.pending, b.pendingRooms); err != nil {
			return err
		}
	}
	return b.enqueue(ctx, b.tx)
}

// load reads what the batch needs: the chats of its rooms, which it locks, and which events are new and which are of multis.
func (b *batch) load(ctx context.Context, events []bridgebridge.Event) error {
	if err := b.loadChats(ctx, events); err != nil {
		return err
	}
	var ids []id.EventID
	var seen []store.OwnEvent
	for _, evt := range events {
		chat, known := b.chats[evt.RoomID]
		if !known || b.inbox.isOff(*chat) {
			continue
		}
		ids = append(ids, evt.ID)
		b.rates.expect(contactKey{chat.ID, evt.Sender})
		if evt.Sender == b.inbox.settings.Owner || evt.Sender == b.inbox.settings.Bot {
			seen = append(seen, store.OwnEvent{Event: evt.ID, Key: evt.OutboxKey, Room: evt.RoomID})
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var err error
	if b.state, err = b.inbox.store.AdmissionState(ctx, b.tx, b.inbox.settings.Name); err != nil {
		return err
	}
	marked, err := store.MarkProcessed(ctx, b.tx, ids)
	if err != nil {
		return err
	}
	b.newEvents, b.editedBefore = marked.New, marked.Edited
	if len(seen) == 0 {
		return nil
	}
	if b.ownEvents, err = store.OwnEvents(ctx, b.tx, seen); err != nil {
		return err
	}
	b.addLostSends(events, b.ownEvents)
	return nil
}

// addLostSends adds the events that multis sent after a backup was made and before it was restored, because their outbox
// messages are lost. It accepts an event that has an outbox key and that the owner's account sent in that time.
func (b *batch) addLostSends(events []bridgebridge.Event, own map[id.EventID]bool) {
	for _, evt := range events {
		if evt.OutboxKey != "" && evt.Sender == b.inbox.settings.Owner && b.state.Restore.InGap(b.inbox.sentAt(evt)) {
			own[evt.ID] = true
		}
	}
}

// loadChats locks and reads the chats of the events' rooms.
func (b *batch) loadChats(ctx context.Context, events []bridgebridge.Event) error {
	var rooms []id.RoomID
	for _, evt := range events {
		rooms = append(rooms, evt.RoomID)
	}
	contacts, err := threadRooms(ctx, b.tx, events)
	if err != nil {
		return err
	}
	chats, err := store.LockChatsByRoom(ctx, b.tx, append(rooms, contacts...))
	if err != nil {
		return err
	}
	byID := map[store.ChatID]*store.Chat{}
	b.chats = map[id.RoomID]*store.Chat{}
	for room, chat := range chats {
		if byID[chat.ID] == nil {
			byID[chat.ID] = &chat
		}
		b.chats[room] = byID[chat.ID]
	}
	return nil
}

// lockChats locks, in the order that all callers use, the chat of an event, which may have moved to another room, and the
// chats that loadChats locks.
func (b *batch) lockChats(ctx context.Context, evt bridgebridge.Event, chat store.ChatID) error {
	contacts, err := threadRooms(ctx, b.tx, []bridgebridge.Event{evt})
	if err != nil {
		return err
	}
	return store.LockChats(ctx, b.tx, append(contacts, evt.RoomID), chat)
}

// storeEvent finds the chat that an event belongs to, and stores the event unless there is no such chat, the chat is off,
// or it has the event already.
func (b *batch) storeEvent(ctx context.Context, evt bridgebridge.Event) error {
	at := b.inbox.sentAt(evt)
	stored, err := stateIntake{b}.storeConnection(ctx, evt, at)
	if err != nil {
		return err
	}
	if stored {
		return nil
	}
	if evt.StateKey == nil && b.inbox.ignored.has(evt.RoomID) {
		return nil
	}
	chat, known := b.chats[evt.RoomID]
	switch {
	case !known: // until the room is described, only the event's id is stored
		b.jobs = append(b.jobs, jobs.DescribeArgs{RoomID: evt.RoomID})
		b.pending, b.pendingRooms = append(b.pending, evt.ID), append(b.pendingRooms, evt.RoomID)
		return nil
	case !chat.IsIn(evt.RoomID) && !stillBelongs(*chat, evt):
		if changesRoom(evt.Event, b.inbox.settings) {
			b.jobs = append(b.jobs, jobs.DescribeArgs{RoomID: evt.RoomID}) // the chat may move back to this room
		}
		return nil
	case b.inbox.isOff(*chat):
		return b.handleOffChat(ctx, incoming{Event: evt, chat: chat, at: at})
	case !b.newEvents[evt.ID]:
		return nil
	}
	b.newEvents[evt.ID] = false // the same event may occur twice in one transaction
	return b.storeInChat(ctx, chat, evt, at)
}

// sentAt returns when an event was sent. The sender may give any time: one before 1970 becomes 1970, and one in the future becomes now.
func (in *Inbox) sentAt(evt bridgebridge.Event) time.Time {
	at, now := time.UnixMilli(evt.Timestamp), in.now()
	switch {
	case at.Unix() < 0:
		return time.Unix(0, 0)
	case at.After(now):
		return now
	default:
		return at
	}
}

// handleOffChat handles an event of a chat that is off. It stores nothing of such a chat but changes to the chat's own
// row. A sender can still delete a message that was stored before.
func (b *batch) handleOffChat(ctx context.Context, e incoming) error {
	switch {
	case e.StateKey != nil:
		return stateIntake{b}.storeState(ctx, e)
	case e.Type.Type == event.EventRedaction.Type:
		return b.storeRedaction(ctx, e)
	default:
		return nil
	}
}

// stillBelongs reports whether an event from the former room of a chat still belongs to the chat: a message from before the move, a
// redaction, a delivery status, or a message of the bridge bot.
func stillBelongs(chat store.Chat, evt bridgebridge.Event) bool {
	switch {
	case evt.StateKey != nil || chat.MovedAt == nil:
		return false
	case evt.Type.Type == event.EventRedaction.Type, evt.Type.Type == event.BeeperMessageStatus.Type, evt.Sender == chat.BridgeBot:
		return true
	default:
		return !time.UnixMilli(evt.Timestamp).After(*chat.MovedAt)
	}
}

// storeInChat stores one new event of a chat that is on, by its type. Events of other types are dropped.
func (b *batch) storeInChat(ctx context.Context, chat *store.Chat, evt bridgebridge.Event, at time.Time) error {
	e := incoming{Event: evt, chat: chat, author: b.author(*chat, evt), at: at}
	e.delivery, e.isDelivery = evt.DeliveryBy(chat.BridgeBot)
	switch {
	case evt.StateKey != nil && b.history:
		return nil // the room's present state was read when it was described
	case evt.StateKey != nil:
		return stateIntake{b}.storeState(ctx, e)
	case evt.Unsigned.RedactedBecause != nil: // the event was deleted, so its content is empty and nothing of it is stored
		return b.redact(ctx, deletion{chat: *chat, target: evt.ID, at: b.inbox.now()})
	case evt.Type.Type == event.EventRedaction.Type && evt.Mautrix.WasEncrypted:
		return nil // the homeserver decides who may delete what, but it could not see this redaction
	case evt.Type.Type == event.EventRedaction.Type:
		return b.storeRedaction(ctx, e)
	}
	withheld, err := b.interceptPIN(ctx, e)
	if err != nil {
		return err
	}
	if withheld {
		return nil
	}
	refused := e.refusal(b.inbox.settings.Bot)
	isMessage := bridgebridge.IsMessageType(evt.Type)
	if isMessage || evt.Type.Type == event.EventReaction.Type {
		if refused != "" && refused != policy.CodeEcho {
			return b.storeRefused(ctx, e, refused)
		}
	}
	switch {
	case isMessage && e.author == policy.AuthorBridgeBot:
		return stateIntake{b}.storeBridgeNotice(ctx, e)
	case isMessage:
		return b.storeMessage(ctx, e)
	case evt.Type.Type == event.BeeperMessageStatus.Type:
		return stateIntake{b}.storeDelivery(ctx, e)
	case evt.Type.Type == event.EventReaction.Type:
		return b.storeReaction(ctx, e)
	default:
		return nil
	}
}

// author determines who wrote an event, by Matrix ids only.
func (b *batch) author(chat store.Chat, evt bridgebridge.Event) policy.Author {
	ghost := chat.SelfGhost
	if chat.Unconfirmed {
		ghost = "" // an unconfirmed bridge must not pass a ghost off as the owner
	}
	contact := id.UserID("")
	if policy.NeedsViewer(b.inbox.mode(chat), chat.Kind) {
		contact = chat.Contact
	}
	return evt.Author(bridgebridge.Senders{
		Owner: b.inbox.settings.Owner, Bot: b.inbox.settings.Bot, Operators: b.inbox.settings.Operators,
		BridgeBot: chat.BridgeBot, SelfGhost: ghost, Contact: contact, SentByUs: b.ownEvents[evt.ID],
	})
}

// enqueue writes the jobs and the hook events. Equal jobs are written once.
func (f *sideEffects) enqueue(ctx context.Context, tx store.Tx) error {
	if len(f.hooks) > 0 {
		if err := jobs.EmitHookEvents(ctx, tx, f.hooks...); err != nil {
			return err
		}
	}
	if len(f.changedChats) > 0 {
		needed, err := jobs.AfterChanges(ctx, tx, f.changedChats...)
		if err != nil {
			return err
		}
		f.jobs = append(f.jobs, needed...)
	}
	for chat, labels := range f.labels {
		if err := store.AddLabels(ctx, tx, chat, labels...); err != nil {
			return err
		}
	}
	if len(f.threads) > 0 {
		open, err := store.OpenEscalationIDs(ctx, tx, f.threads)
		if err != nil {
			return err
		}
		for _, escalation := range open {
			f.jobs = append(f.jobs, jobs.UpdateEscalationArgs{EscalationID: escalation})
		}
	}
	var once []jobs.Args
	for _, args := range f.jobs {
		if !slices.Contains(once, args) {
			once = append(once, args)
		}
	}
	return jobs.Enqueue(ctx, tx, once...)
}
