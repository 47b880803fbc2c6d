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
	"multis/store"
)

// Rules is the part of the configuration that the inbox uses.
type Rules struct {
	Owner     id.UserID
	Bot       id.UserID
	Operators []id.UserID
	// Name is the assistant's name unless the owner renamed it.
	Name     string
	Defaults policy.Defaults
	// MaxAge is the age above which a message is not answered.
	MaxAge     time.Duration
	OwnerPause time.Duration
	// DeleteAnswers deletes an answer when the contact deletes the question.
	DeleteAnswers bool
	Keywords      []string
	// Listens is true if voice notes can be transcribed.
	Listens bool
	// Spaces are the Matrix spaces that decide who answers in their rooms.
	Spaces []id.RoomID
	// Keep says of whom files are kept.
	Keep     policy.Keep
	StoreCap policy.Rate
	SendCap  policy.Rate
}

// Inbox stores the events that the homeserver pushes and those that the owner's sync brings: each event once, in one transaction with
// the jobs that it asks for.
type Inbox struct {
	store *store.Store
	rules Rules
	// ignored are rooms that were described and are no chats. They are in memory only: nothing of them is stored.
	ignored *roomSet
	sources sourceMonitor
	now     func() time.Time
}

// NewInbox returns an inbox that writes to st.
func NewInbox(st *store.Store, rules Rules) *Inbox {
	return &Inbox{store: st, rules: rules, ignored: newRoomSet(), now: time.Now}
}

// Receive stores what is kept of events, with the jobs that they ask for. When it returns nil, all of it is committed. since is the sync
// position after these events, which is committed with them; empty when they did not come from a sync.
func (in *Inbox) Receive(ctx context.Context, events []*event.Event, since string) error {
	events = in.screen(ctx, events)
	err := in.commit(ctx, events, since)
	if !store.IsBadData(err) {
		return err
	}
	// One of them can never be stored. Each gets a transaction of its own, so that it holds up no other.
	for _, evt := range events {
		err := in.commit(ctx, []*event.Event{evt}, "")
		if store.IsBadData(err) {
			logLeftOut(ctx, evt, err)
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
			if err := store.PutSetting(ctx, tx, store.SettingSince, since); err != nil {
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

// logLeftOut logs that an event is not stored, because it never can be.
func logLeftOut(ctx context.Context, evt *event.Event, why error) {
	zerolog.Ctx(ctx).Warn().Err(why).Str("event_id", fmt.Sprintf("%.255s", evt.ID)).Msg("Left out an event that cannot be stored")
}

// screen drops events that cannot be stored, and those of ignored rooms unless they say whether a bridge is connected. An event that may
// turn an ignored room into a chat ends the ignoring.
func (in *Inbox) screen(ctx context.Context, events []*event.Event) []*event.Event {
	kept := make([]*event.Event, 0, len(events))
	for _, evt := range events {
		if err := bridgebridge.CheckIDs(evt); err != nil {
			logLeftOut(ctx, evt, err)
			continue
		}
		evt.Type.Class = event.MessageEventType
		if evt.StateKey != nil {
			evt.Type.Class = event.StateEventType
		}
		if changesRoom(evt, in.rules) {
			in.ignored.noteChange(evt.RoomID)
		}
		if _, says := bridgebridge.ReadConnection(evt); says || !in.ignored.has(evt.RoomID) {
			kept = append(kept, evt)
		}
	}
	return kept
}

// changesRoom reports whether an event can turn a room that was ignored into a chat.
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

// mode returns the mode in force for a chat.
func (in *Inbox) mode(c store.Chat) policy.Mode { return c.ModeIn(in.rules.Defaults) }

// isOff reports whether nothing of a chat is stored but its own row.
func (in *Inbox) isOff(c store.Chat) bool { return c.IsOff(in.rules.Defaults) }

// sentAt returns when an event was sent, as far as its sender is to be believed: not before 1970 and not in the future.
func (in *Inbox) sentAt(evt *event.Event) time.Time {
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
