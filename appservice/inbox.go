package appservice

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// Settings is the part of the configuration that the inbox uses.
type Settings struct {
	Owner     id.UserID
	Bot       id.UserID
	Operators []id.UserID
	// OperatorsAnswer lets operators write to contacts from the threads of escalations.
	OperatorsAnswer bool
	// Name is the assistant's name, unless the owner renamed the assistant.
	Name     string
	Defaults policy.Defaults
	// ReplyMaxAge is the age above which messages are not answered.
	ReplyMaxAge time.Duration
	OwnerPause  time.Duration
	// DeleteAnswers means that an answer is deleted when the contact deletes the question.
	DeleteAnswers      bool
	EscalationKeywords []string
	// CanTranscribe is true if voice notes can be transcribed.
	CanTranscribe bool
	// CanViewPictures is true if a model that can look at pictures is configured.
	CanViewPictures bool
	// Spaces are the Matrix spaces whose rooms are assigned to agents.
	Spaces []id.RoomID
	// Keep selects the files of contacts that are stored.
	Keep policy.Keep
	// PIN intercepts messages with a PIN; nil where no PIN is used, as in a terminal.
	PIN      *pin.Keeper
	StoreCap policy.Rate
	SendCap  policy.Rate
}

// Inbox stores the events that arrive by push and by the owner's sync: each event once, in one transaction with the jobs that
// result from it.
type Inbox struct {
	store    *store.Store
	settings Settings
	// ignored are rooms that were described and are no chats. They are kept in memory only, because nothing about them is stored.
	ignored *roomSet
	sources sourceMonitor
	now     func() time.Time
}

// NewInbox returns an inbox that writes to st.
func NewInbox(st *store.Store, settings Settings) *Inbox {
	return &Inbox{store: st, settings: settings, ignored: newRoomSet(), now: time.Now}
}

// Receive stores events, as far as they are kept, and the jobs that they need. When it returns nil, all of it is
// committed. since is the sync position after these events, which is committed with them; empty when they did not come
// from a sync.
func (in *Inbox) Receive(ctx context.Context, events []*event.Event, since string) error {
	parsed := parseEvents(ctx, events)
	return in.receiveParsed(ctx, parsed, since)
}

// receiveParsed implements Receive.
func (in *Inbox) receiveParsed(ctx context.Context, events []bridgebridge.Event, since string) error {
	events = in.filterEvents(events)
	err := in.commit(ctx, events, since)
	if !store.IsBadData(err) {
		return err
	}
	// One of them can never be stored. Each gets a transaction of its own, so that this one does not block the others.
	for _, evt := range events {
		err := in.commit(ctx, []bridgebridge.Event{evt}, "")
		if store.IsBadData(err) {
			logSkippedEvent(ctx, evt.ID, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return in.commit(ctx, nil, since)
}

// commit stores events and the sync position after them in one transaction.
func (in *Inbox) commit(ctx context.Context, events []bridgebridge.Event, since string) error {
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

// receiveHistory stores messages from before multis was there and returns how many of them were new.
func (in *Inbox) receiveHistory(ctx context.Context, tx store.Tx, events []bridgebridge.Event) (stored int, err error) {
	b := in.newBatch(tx)
	b.history = true
	err = b.storeAll(ctx, events)
	return b.storedCount, err
}

// logSkippedEvent logs that an event is skipped because it can never be stored.
func logSkippedEvent(ctx context.Context, evt id.EventID, why error) {
	zerolog.Ctx(ctx).Warn().Err(why).Str("event_id", fmt.Sprintf("%.255s", evt)).Msg("Left out an event that cannot be stored")
}

// parseEvents parses events, and leaves out those that cannot be stored.
func parseEvents(ctx context.Context, events []*event.Event) []bridgebridge.Event {
	all := make([]bridgebridge.Event, 0, len(events))
	for _, evt := range events {
		evt.Type.Class = event.MessageEventType
		if evt.StateKey != nil {
			evt.Type.Class = event.StateEventType
		}
		parsed, err := bridgebridge.Parse(evt)
		if err != nil {
			logSkippedEvent(ctx, evt.ID, err)
			continue
		}
		all = append(all, parsed)
	}
	return all
}

// filterEvents drops events of ignored rooms, except reports whether a bridge is connected. An event that may turn an
// ignored room into a chat makes the room no longer ignored.
func (in *Inbox) filterEvents(events []bridgebridge.Event) []bridgebridge.Event {
	kept := make([]bridgebridge.Event, 0, len(events))
	for _, evt := range events {
		if changesRoom(evt.Event, in.settings) {
			in.ignored.recordChange(evt.RoomID)
		}
		if evt.Connection != nil || !in.ignored.has(evt.RoomID) {
			kept = append(kept, evt)
		}
	}
	return kept
}

// mode returns the effective mode of a chat.
func (in *Inbox) mode(c store.Chat) policy.Mode { return c.ModeIn(in.settings.Defaults) }

// isOff reports whether nothing of a chat is stored except the chat's own row.
func (in *Inbox) isOff(c store.Chat) bool { return c.IsOff(in.settings.Defaults) }
