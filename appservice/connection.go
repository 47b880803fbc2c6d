package appservice

import (
	"context"
	"errors"
	"strconv"
	"time"

	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/store"
)

// takeConnection notes what a bridge says of the owner's login, in whatever room: who says it must be the bot of chats that are
// known. False: the event is none of that.
func (b *batch) takeConnection(ctx context.Context, evt *event.Event) (bool, error) {
	connection, ok := bridgebridge.ReadConnection(evt)
	if !ok || evt.Sender == b.in.rules.Owner || b.history {
		return false, nil
	}
	protocol, err := store.ProtocolOf(ctx, b.tx, evt.Sender)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // anybody could write it
	}
	if err != nil {
		return false, err
	}
	state := store.BridgeState{Bot: evt.Sender, Login: connection.Login, Protocol: protocol, Why: connection.Why, ChangedAt: b.in.timeOf(evt)}
	if connection.Up {
		return true, b.bridgeUp(ctx, state)
	}
	return true, b.bridgeDown(ctx, state)
}

// learnConnection reads off the fate of a message, also of one that the owner wrote himself, whether the login works.
func (b *batch) learnConnection(ctx context.Context, chat store.Chat, d bridgebridge.Delivery, at time.Time) error {
	state := store.BridgeState{Bot: chat.BridgeBot, Login: chat.Receiver, Protocol: chat.Protocol, ChangedAt: at}
	switch {
	case d.State == bridgebridge.Delivered:
		return b.bridgeUp(ctx, state)
	case d.State == bridgebridge.Failed && bridgebridge.IsLoggedOut(d.Why):
		state.Why = bridgebridge.LoggedOut
		return b.bridgeDown(ctx, state)
	default:
		return nil
	}
}

// bridgeDown has the owner told, once for each time.
func (b *batch) bridgeDown(ctx context.Context, s store.BridgeState) error {
	row, first, err := store.BridgeDown(ctx, b.tx, s)
	if err != nil || !first {
		return err
	}
	b.enqueue(jobs.NoticeArgs{Topic: jobs.TopicBridgeDown, SubjectID: row})
	return jobs.Emit(ctx, b.tx, store.HookBridgeDown, strconv.FormatInt(row, 10))
}

// bridgeUp has the owner told that it is over, if he was told that it began.
func (b *batch) bridgeUp(ctx context.Context, s store.BridgeState) error {
	rows, err := store.BridgeUp(ctx, b.tx, s.Bot, s.Login, s.ChangedAt)
	for _, row := range rows {
		b.enqueue(jobs.NoticeArgs{Topic: jobs.TopicBridgeUp, SubjectID: row})
	}
	return err
}

// CheckBridges notes bridges that do not confirm what was sent minutes ago, although they confirmed messages before, and logins whose
// contacts write again, and has the owner told of both.
func (in *Inbox) CheckBridges(ctx context.Context) error {
	return in.store.InTx(ctx, func(tx store.Tx) error {
		silent, err := store.SilentBridges(ctx, tx)
		if err != nil {
			return err
		}
		var args []jobs.Args
		for _, state := range silent {
			args = append(args, jobs.NoticeArgs{Topic: jobs.TopicBridgeDown, SubjectID: state})
			if err := jobs.Emit(ctx, tx, store.HookBridgeDown, strconv.FormatInt(state, 10)); err != nil {
				return err
			}
		}
		working, err := store.HeardAgain(ctx, tx)
		if err != nil {
			return err
		}
		for _, state := range working {
			args = append(args, jobs.NoticeArgs{Topic: jobs.TopicBridgeUp, SubjectID: state})
		}
		return jobs.Enqueue(ctx, tx, args...)
	})
}
