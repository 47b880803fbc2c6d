package appservice

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/pin"
	"multis/policy"
	"multis/store"
)

// Settings is the part of the configuration that the inbox uses.
type Settings struct {
	Owner     id.UserID
	Bot       id.UserID
	Operators []id.UserID
	// OperatorsAnswer lets operators write to contacts from the threads of escalations.
	OperatorsAnswer bool
	// Name is the assistant's name unless the owner renamed it.
	Name     string
	Defaults policy.Defaults
	// ReplyMaxAge is the age above which a message is not answered.
	ReplyMaxAge time.Duration
	OwnerPause  time.Duration
	// DeleteAnswers deletes an answer when the contact deletes the question.
	DeleteAnswers      bool
	EscalationKeywords []string
	// CanTranscribe is true if voice notes can be transcribed.
	CanTranscribe bool
	// CanViewPictures is true if a model looks at pictures.
	CanViewPictures bool
	// Spaces are the Matrix spaces that decide who answers in their rooms.
	Spaces []id.RoomID
	// Keep says of whom files are kept.
	Keep policy.Keep
	// PIN takes messages with a PIN out; nil where there is none, as in a terminal.
	PIN      *pin.Keeper
	StoreCap policy.Rate
	SendCap  policy.Rate
}

// Inbox stores the events that the homeserver pushes and those that the owner's sync brings: each event once, in one transaction with
// the jobs that it asks for.
type Inbox struct {
	store    *store.Store
	settings Settings
	// ignored are rooms that were described and are no chats. They are in memory only: nothing of them is stored.
	ignored *roomSet
	sources sourceMonitor
	now     func() time.Time
}

// NewInbox returns an inbox that writes to st.
func NewInbox(st *store.Store, settings Settings) *Inbox {
	return &Inbox{store: st, settings: settings, ignored: newRoomSet(), now: time.Now}
}

// Receive stores what is kept of events, with the jobs that they ask for. When it returns nil, all of it is committed. since is the sync
// position after these events, which is committed with them; empty when they did not come from a sync.
func (in *Inbox) Receive(ctx context.Context, events []*event.Event, since string) error {
	events = in.filterEvents(ctx, events)
	err := in.commit(ctx, events, since)
	if !store.IsBadData(err) {
		return err
	}
	// One of them can never be stored. Each gets a transaction of its own, so that it holds up no other.
	for _, evt := range events {
		err := in.commit(ctx, []*event.Event{evt}, "")
		if store.IsBadData(err) {
			logSkippedEvent(ctx, evt, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return in.commit(ctx, nil, since)
}

// commit stores events and the sync position after them in one transaction.
func (in *Inbox) commit(ctx context.Context, events []*event.Event, since string) error {
	return in.store.InTx(ctx, func(tx store.Tx) error {
		if since != "" {
			if err := store.PutSetting(ctx, tx, store.SettingSyncToken, since); err != nil {
				return err
			}
		}
		if len(events) == 0 {
			return nil
		}
		return in.newBatch(tx).storeAll(ctx, events)
	})
}

// receiveHistory stores what was said before multis was there and returns how many messages were new.
func (in *Inbox) receiveHistory(ctx context.Context, tx store.Tx, events []*event.Event) (stored int, err error) {
	b := in.newBatch(tx)
	b.history = true
	err = b.storeAll(ctx, events)
	return b.stored, err
}

// logSkippedEvent logs that an event is not stored, because it never can be.
func logSkippedEvent(ctx context.Context, evt *event.Event, why error) {
	zerolog.Ctx(ctx).Warn().Err(why).Str("event_id", fmt.Sprintf("%.255s", evt.ID)).Msg("Left out an event that cannot be stored")
}

// filterEvents drops events that cannot be stored, and those of ignored rooms unless they say whether a bridge is connected. An event that may
// turn an ignored room into a chat ends the ignoring.
func (in *Inbox) filterEvents(ctx context.Context, events []*event.Event) []*event.Event {
	kept := make([]*event.Event, 0, len(events))
	for _, evt := range events {
		if err := bridgebridge.CheckIDs(evt); err != nil {
			logSkippedEvent(ctx, evt, err)
			continue
		}
		evt.Type.Class = event.MessageEventType
		if evt.StateKey != nil {
			evt.Type.Class = event.StateEventType
		}
		if changesRoom(evt, in.settings) {
			in.ignored.recordChange(evt.RoomID)
		}
		if _, says := bridgebridge.ParseConnection(evt); says || !in.ignored.has(evt.RoomID) {
			kept = append(kept, evt)
		}
	}
	return kept
}

// mode returns the mode in force for a chat.
func (in *Inbox) mode(c store.Chat) policy.Mode { return c.ModeIn(in.settings.Defaults) }

// isOff reports whether nothing of a chat is stored but its own row.
func (in *Inbox) isOff(c store.Chat) bool { return c.IsOff(in.settings.Defaults) }
