package appservice

import (
	"context"
	"errors"
	"strconv"
	"time"

	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// stateIntake takes in what rooms and bridges say about themselves.
type stateIntake struct{ *batch }

// storeConnection stores a bridge's report about its connection to the network, from any room. The sender must be the bot of a known chat.
// It returns false if the event is no such report.
func (b stateIntake) storeConnection(ctx context.Context, evt bridgebridge.Event, at time.Time) (bool, error) {
	connection := evt.Connection
	if connection == nil || evt.Sender == b.inbox.settings.Owner || b.history {
		return false, nil
	}
	protocol, err := store.ProtocolOf(ctx, b.tx, evt.Sender)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // not the bot of a known chat: any user could write such an event
	}
	if err != nil {
		return false, err
	}
	isOwn, err := store.IsOwnLogin(ctx, b.tx, evt.Sender, connection.Login)
	if err != nil {
		return false, err
	}
	if !isOwn {
		return true, nil // of another user of the bridge
	}
	state := store.BridgeState{
		Bot:       evt.Sender,
		Login:     connection.Login,
		Protocol:  protocol,
		Reason:    connection.Why,
		ChangedAt: at,
	}
	return true, b.storeBridgeState(ctx, state, connection.Up)
}

// storeBridgeNotice stores what a bridge's bot says about the delivery of a message. An encrypted notice is stored like a
// message until its key arrives, and deleted after it was read.
func (b stateIntake) storeBridgeNotice(ctx context.Context, e incoming) error {
	if e.Type.Type != event.EventEncrypted.Type {
		return b.storeDelivery(ctx, e)
	}
	if b.history {
		return nil
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID:   e.chat.ID,
		EventID:  e.ID,
		Author:   policy.AuthorBridgeBot,
		Sender:   e.Sender,
		Kind:     string(bridgebridge.Encrypted),
		At:       e.at,
		Parked:   e.Content.VeryRaw,
		ParkedIn: e.RoomID,
		Action:   policy.ActionArchive,
		Code:     policy.CodeEncrypted,
		Reason:   policy.CodeEncrypted.Sentence(),
	})
	if err != nil {
		return err
	}
	b.jobs = append(b.jobs, jobs.DecryptArgs{MessageID: message})
	return nil
}

// storeDelivery stores that the bridge delivered a message or failed to deliver it. The status also shows whether the
// bridge is connected, even if the message is one that the owner wrote.
func (b stateIntake) storeDelivery(ctx context.Context, e incoming) error {
	if !e.isDelivery {
		return nil
	}
	delivery := e.delivery
	loggedOut := delivery.State == bridgebridge.Failed && bridgebridge.IsLoggedOut(delivery.Why)
	if loggedOut {
		var err error
		if loggedOut, err = store.IsOfOwner(ctx, b.tx, e.chat.ID, delivery.EventID); err != nil {
			return err
		}
	}
	if loggedOut || delivery.State == bridgebridge.Delivered {
		state := store.BridgeState{Bot: e.chat.BridgeBot, Login: e.chat.Login, Protocol: e.chat.Protocol, ChangedAt: e.at}
		if loggedOut {
			state.Reason = bridgebridge.LoggedOut
		}
		if err := b.storeBridgeState(ctx, state, !loggedOut); err != nil {
			return err
		}
	}
	out, err := store.OutboxMessageByEvent(ctx, b.tx, delivery.EventID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && out.ChatID != e.chat.ID) {
		return nil // the message is the owner's own, or belongs to another chat
	}
	if err != nil {
		return err
	}
	switch delivery.State {
	case bridgebridge.Delivered:
		return store.MarkDelivered(ctx, b.tx, out.ID, e.at)
	case bridgebridge.Failed:
		failed, err := store.MarkFailed(ctx, b.tx, out.ID, delivery.Why)
		if failed {
			b.jobs = append(b.jobs, jobs.UndeliveredArgs{OutboxID: out.ID})
		}
		return err
	default:
		return nil
	}
}

// storeBridgeState stores whether a bridge is connected. The owner gets one notice when it goes down, and one when it is up again.
func (b stateIntake) storeBridgeState(ctx context.Context, s store.BridgeState, up bool) error {
	if up {
		rows, err := store.MarkBridgeUp(ctx, b.tx, s.Bot, s.Login, s.ChangedAt)
		for _, row := range rows {
			b.jobs = append(b.jobs, jobs.NoticeArgs{Topic: jobs.TopicBridgeUp, SubjectID: row})
		}
		return err
	}
	row, first, err := store.MarkBridgeDown(ctx, b.tx, s)
	if err != nil {
		return err
	}
	if !first {
		return nil
	}
	b.jobs = append(b.jobs, jobs.NoticeArgs{Topic: jobs.TopicBridgeDown, SubjectID: row})
	b.hooks = append(b.hooks, store.HookEvent{Event: policy.HookBridgeDown, Reference: strconv.FormatInt(row, 10)})
	return nil
}

// HaveBridgesChanged reports whether CheckBridges would mark any bridge as down or up.
func (in *Inbox) HaveBridgesChanged(ctx context.Context) (bool, error) {
	return store.HasChangedBridges(ctx, in.store.DB())
}

// CheckBridges marks bridges as down that used to confirm messages and have confirmed none for minutes. It marks logins
// as up whose contacts write again. It enqueues a notice for each.
func (in *Inbox) CheckBridges(ctx context.Context) error {
	return in.store.InTx(ctx, func(tx store.Tx) error {
		silent, err := store.MarkSilentBridges(ctx, tx)
		if err != nil {
			return err
		}
		var args []jobs.Args
		for _, state := range silent {
			args = append(args, jobs.NoticeArgs{Topic: jobs.TopicBridgeDown, SubjectID: state})
			if err := jobs.EmitHookEvent(ctx, tx, policy.HookBridgeDown, strconv.FormatInt(state, 10)); err != nil {
				return err
			}
		}
		working, err := store.MarkRecoveredBridges(ctx, tx)
		if err != nil {
			return err
		}
		for _, state := range working {
			args = append(args, jobs.NoticeArgs{Topic: jobs.TopicBridgeUp, SubjectID: state})
		}
		return jobs.Enqueue(ctx, tx, args...)
	})
}
