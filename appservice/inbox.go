package appservice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Rules are what the inbox knows from the configuration.
type Rules struct {
	Owner     id.UserID
	Bot       id.UserID
	Operators []id.UserID
	// Name is what the assistant is called unless the owner renamed it.
	Name     string
	Defaults policy.Defaults
	// MaxAge is how old a message may be to get an answer.
	MaxAge     time.Duration
	OwnerPause time.Duration
	// DeleteAnswers: when a contact deletes what was asked, what was answered is deleted as well.
	DeleteAnswers bool
	Keywords      []string
	// Listens: recordings can be turned into words.
	Listens bool
	// Spaces are the Matrix spaces that decide who answers in their rooms.
	Spaces []id.RoomID
	// Keep says which files of contacts are kept.
	Keep     Keep
	StoreCap policy.Rate
	SendCap  policy.Rate
}

// Inbox takes events in, whichever door they came through: each once, in one transaction, with the job it asks for.
type Inbox struct {
	store *store.Store
	rules Rules
	// ignored are rooms that were looked at and are none of ours. In memory only: nothing of them is stored.
	ignored *roomSet
	doors   doors
	now     func() time.Time
}

// NewInbox makes an inbox.
func NewInbox(st *store.Store, rules Rules) *Inbox {
	return &Inbox{store: st, rules: rules, ignored: newRoomSet(), now: time.Now}
}

// Receive stores what is kept of events and the jobs they ask for. When it returns nil, all of it is committed; since, if
// not empty, is the sync position that they bring us to and is committed with them.
func (in *Inbox) Receive(ctx context.Context, events []*event.Event, since string) error {
	events = in.relevant(ctx, events)
	err := in.store.InTx(ctx, func(tx store.Tx) error { return in.receive(ctx, tx, events, since) })
	if !store.IsBadData(err) {
		return err
	}
	// One of them can never be stored. Each for itself, so that it holds up no other.
	for _, evt := range events {
		err := in.store.InTx(ctx, func(tx store.Tx) error { return in.receive(ctx, tx, []*event.Event{evt}, "") })
		if store.IsBadData(err) {
			leftOut(ctx, evt, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return in.store.InTx(ctx, func(tx store.Tx) error { return in.receive(ctx, tx, nil, since) })
}

// leftOut notes that an event is not stored, because it never can be.
func leftOut(ctx context.Context, evt *event.Event, why error) {
	zerolog.Ctx(ctx).Warn().Err(why).Str("event_id", fmt.Sprintf("%.255s", evt.ID)).Msg("Left out an event that cannot be stored")
}

func (in *Inbox) receive(ctx context.Context, tx store.Tx, events []*event.Event, since string) error {
	if since != "" {
		if err := store.PutSetting(ctx, tx, store.SettingSince, since); err != nil {
			return err
		}
	}
	if len(events) == 0 {
		return nil
	}
	return in.newBatch(tx).receive(ctx, events)
}

// relevant leaves out what cannot be stored, and the rooms that are none of ours, unless an event may change that.
func (in *Inbox) relevant(ctx context.Context, events []*event.Event) []*event.Event {
	kept := make([]*event.Event, 0, len(events))
	for _, evt := range events {
		if err := bridgebridge.CheckIDs(evt); err != nil {
			leftOut(ctx, evt, err)
			continue
		}
		evt.Type.Class = event.MessageEventType
		if evt.StateKey != nil {
			evt.Type.Class = event.StateEventType
		}
		if changesRoom(evt, in.rules) {
			in.ignored.changed(evt.RoomID)
		}
		if _, says := bridgebridge.ReadConnection(evt); says || !in.ignored.has(evt.RoomID) {
			kept = append(kept, evt)
		}
	}
	return kept
}

// changesRoom tells whether an event can turn a room that was none of ours into a chat.
func changesRoom(evt *event.Event, rules Rules) bool {
	switch evt.Type.Type {
	case event.StateBridge.Type, event.StateHalfShotBridge.Type:
		return evt.StateKey != nil
	case event.StateMember.Type:
		return evt.StateKey != nil && (*evt.StateKey == rules.Owner.String() || *evt.StateKey == rules.Bot.String())
	default:
		return false
	}
}

// mode is the mode in force for a chat.
func (in *Inbox) mode(c store.Chat) policy.Mode { return c.ModeIn(in.rules.Defaults) }

// batch is what is known about the events of one transaction.
type batch struct {
	in    *Inbox
	tx    store.Tx
	chats map[id.RoomID]store.Chat
	fresh map[id.EventID]bool
	own   map[id.EventID]bool
	jobs  []jobs.Args
	asked map[jobs.Args]bool
	// counted are the rates of the contacts met so far.
	counted map[from]*rates
	// history marks what was said before: it is kept and asks for nothing. stored counts its messages.
	history bool
	stored  int
	// parked are events of rooms not described yet, parkedIn their rooms.
	parked   []id.EventID
	parkedIn []id.RoomID
	// name and paused are read once for all messages; nothing in a transaction of the homeserver's changes them.
	name   string
	paused bool
}

// receiveHistory stores what was said before multis was there and returns how many messages were new.
func (in *Inbox) receiveHistory(ctx context.Context, tx store.Tx, events []*event.Event) (stored int, err error) {
	b := in.newBatch(tx)
	b.history = true
	err = b.receive(ctx, events)
	return b.stored, err
}

func (in *Inbox) newBatch(tx store.Tx) *batch {
	return &batch{in: in, tx: tx, asked: map[jobs.Args]bool{}, counted: map[from]*rates{}}
}

func (b *batch) receive(ctx context.Context, events []*event.Event) error {
	if err := b.look(ctx, events); err != nil {
		return err
	}
	for _, evt := range events {
		if err := b.receiveOne(ctx, evt); err != nil {
			return fmt.Errorf("take in %s: %w", evt.ID, err)
		}
	}
	if len(b.parked) > 0 {
		if err := store.AddPending(ctx, b.tx, b.parked, b.parkedIn); err != nil {
			return err
		}
	}
	return jobs.Enqueue(ctx, b.tx, b.jobs...)
}

// receiveOne takes in an event as far as it is one of ours.
func (b *batch) receiveOne(ctx context.Context, evt *event.Event) error {
	taken, err := b.takeConnection(ctx, evt)
	if err != nil || taken || (b.in.ignored.has(evt.RoomID) && evt.StateKey == nil) {
		return err
	}
	chat, known := b.chats[evt.RoomID]
	switch {
	case !known:
		b.park(evt)
		return nil
	case !chat.LivesIn(evt.RoomID) && !belongsToFormer(chat, evt):
		if changesRoom(evt, b.in.rules) {
			b.enqueue(jobs.DescribeArgs{RoomID: evt.RoomID}) // it may move back
		}
		return nil
	case b.in.mode(chat) == policy.ModeOff && chat.Kind != policy.KindAdmin:
		switch {
		case evt.StateKey != nil:
			return b.takeState(ctx, chat, evt)
		case evt.Type.Type == event.EventRedaction.Type:
			return b.takeRedaction(ctx, chat, evt) // what was stored before goes all the same
		default:
			return nil // nothing of an off room is written but the chat's own row
		}
	case !b.fresh[evt.ID]:
		return nil
	}
	b.fresh[evt.ID] = false // the same event may stand twice in one transaction
	return b.take(ctx, chat, evt)
}

// belongsToFormer tells whether an event of the room where a chat lived before is still the chat's: what was said there before
// it moved and came late, and what is said about that.
func belongsToFormer(chat store.Chat, evt *event.Event) bool {
	switch {
	case evt.StateKey != nil || chat.MovedAt == nil:
		return false
	case evt.Type.Type == event.EventRedaction.Type, evt.Type.Type == event.BeeperMessageStatus.Type, evt.Sender == chat.BridgeBot:
		return true
	default:
		return !time.UnixMilli(evt.Timestamp).After(*chat.MovedAt)
	}
}

// remember has what follows in the transaction see a chat as it is now.
func (b *batch) remember(chat store.Chat) {
	for room, known := range b.chats {
		if known.ID == chat.ID {
			b.chats[room] = chat
		}
	}
}

// look reads what the whole batch needs.
func (b *batch) look(ctx context.Context, events []*event.Event) (err error) {
	var rooms []id.RoomID
	for _, evt := range events {
		rooms = append(rooms, evt.RoomID)
	}
	if b.chats, err = store.HoldChats(ctx, b.tx, rooms); err != nil {
		return err
	}
	var ids []id.EventID
	var seen []store.Seen
	for _, evt := range events {
		chat, known := b.chats[evt.RoomID]
		if !known || (chat.Kind != policy.KindAdmin && b.in.mode(chat) == policy.ModeOff) {
			continue
		}
		ids = append(ids, evt.ID)
		if evt.Sender == b.in.rules.Owner || evt.Sender == b.in.rules.Bot {
			key, _ := bridgebridge.OutboxKey(evt)
			seen = append(seen, store.Seen{Event: evt.ID, Key: key, Room: evt.RoomID})
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := b.lookUp(ctx); err != nil {
		return err
	}
	if b.fresh, err = store.MarkSeen(ctx, b.tx, ids); err != nil {
		return err
	}
	if len(seen) > 0 {
		b.own, err = store.OwnEvents(ctx, b.tx, seen)
	}
	return err
}

// lookUp reads what every judgement needs.
func (b *batch) lookUp(ctx context.Context) (err error) {
	if b.name, err = store.AssistantName(ctx, b.tx, b.in.rules.Name); err != nil {
		return err
	}
	b.paused, err = store.PausedAll(ctx, b.tx)
	return err
}

// park keeps the ids of a room that nobody has described yet, and asks for its description.
func (b *batch) park(evt *event.Event) {
	b.enqueue(jobs.DescribeArgs{RoomID: evt.RoomID})
	b.parked, b.parkedIn = append(b.parked, evt.ID), append(b.parkedIn, evt.RoomID)
}

// enqueue asks for a job once per transaction.
func (b *batch) enqueue(args jobs.Args) {
	if !b.asked[args] {
		b.asked[args] = true
		b.jobs = append(b.jobs, args)
	}
}

// take stores one event of a chat that is listened to.
func (b *batch) take(ctx context.Context, chat store.Chat, evt *event.Event) error {
	if evt.StateKey != nil && b.history {
		return nil // how the room was then; how it is now was described
	}
	if evt.StateKey != nil {
		return b.takeState(ctx, chat, evt)
	}
	if evt.Unsigned.RedactedBecause != nil { // there is nothing in it, and nothing is kept of what was
		return b.redact(ctx, chat, evt.ID, b.in.now())
	}
	if b.forgeable(chat, evt) {
		return b.distrust(ctx, chat, evt)
	}
	switch evt.Type.Type {
	case event.EventMessage.Type, event.EventSticker.Type, event.EventEncrypted.Type:
		return b.takeMessage(ctx, chat, evt)
	case event.EventReaction.Type:
		return b.takeReaction(ctx, chat, evt)
	case event.EventRedaction.Type:
		if evt.Mautrix.WasEncrypted {
			return nil // the homeserver, which judges who may delete what, could not see it
		}
		return b.takeRedaction(ctx, chat, evt)
	case event.BeeperMessageStatus.Type:
		return b.takeStatus(ctx, chat, evt)
	default:
		return nil
	}
}

// takeStatus notes that something we sent was delivered, or was not.
func (b *batch) takeStatus(ctx context.Context, chat store.Chat, evt *event.Event) error {
	status, ok := bridgebridge.DeliveryStatus(evt, chat.BridgeBot)
	if !ok {
		return nil
	}
	if err := b.learnConnection(ctx, chat, status, b.in.timeOf(evt)); err != nil {
		return err
	}
	out, err := store.OutByEvent(ctx, b.tx, status.EventID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && out.ChatID != chat.ID) {
		return nil // the owner's own message, or somebody else's business
	}
	if err != nil {
		return err
	}
	switch status.State {
	case bridgebridge.Delivered:
		return store.DeliverOut(ctx, b.tx, out.ID, b.in.timeOf(evt))
	case bridgebridge.Failed:
		failed, err := store.FailOut(ctx, b.tx, out.ID, status.Why)
		if failed {
			b.enqueue(jobs.UndeliveredArgs{OutboxID: out.ID})
		}
		return err
	default:
		return nil
	}
}

// takeRedaction empties the message that was deleted, and what quoted it; also what answered it, where the owner wants that.
func (b *batch) takeRedaction(ctx context.Context, chat store.Chat, evt *event.Event) error {
	target := evt.Redacts
	if target == "" {
		if c, ok := parsed[event.RedactionEventContent](ctx, evt); ok {
			target = c.Redacts
		}
	}
	if target == "" {
		return nil
	}
	return b.redact(ctx, chat, target, b.in.timeOf(evt))
}

func (b *batch) redact(ctx context.Context, chat store.Chat, target id.EventID, at time.Time) error {
	var gone []uuid.UUID
	var err error
	off := chat.Kind != policy.KindAdmin && b.in.mode(chat) == policy.ModeOff
	if !off { // what comes through the slower door after its deletion is not taken in any more
		if _, err := store.MarkSeen(ctx, b.tx, []id.EventID{target}); err != nil {
			return err
		}
		if b.fresh[target] {
			b.fresh[target] = false
		}
	}
	if b.in.rules.DeleteAnswers && chat.Kind != policy.KindAdmin && !off {
		if gone, err = store.EmptyAnswers(ctx, b.tx, chat.ID, target); err != nil {
			return err
		}
	}
	quotes, err := store.RedactMessage(ctx, b.tx, chat.ID, target, at)
	if err != nil {
		return err
	}
	gone = append(gone, quotes...)
	for _, out := range gone {
		b.enqueue(jobs.RetractArgs{OutboxID: out})
	}
	return nil
}

// parsed reads an event's content as a T. False: it is not one.
func parsed[T any](ctx context.Context, evt *event.Event) (*T, bool) {
	if evt.Content.Parsed == nil {
		if err := evt.Content.ParseRaw(evt.Type); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Stringer("event_id", evt.ID).Msg("Cannot read the content of an event")
			return nil, false
		}
	}
	c, ok := evt.Content.Parsed.(*T)
	return c, ok
}
