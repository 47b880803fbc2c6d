package appservice

import (
	"context"
	"strconv"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeMessage stores a message with what is decided about it, and asks for the job that the decision needs.
func (b *batch) storeMessage(ctx context.Context, e incoming) error {
	msg := bridgebridge.ReadMessage(e.Event)
	if err := b.markSent(ctx, e); err != nil {
		return err
	}
	// Also an edit or a notice, and also what cannot be read yet: from now on the chat is the owner's, whatever he wrote.
	if !b.history && (e.author.IsOwner() || (e.author == policy.AuthorOtherBot && e.Sender == b.in.rules.Owner)) {
		if err := b.storeOwnerPresence(ctx, e); err != nil {
			return err
		}
	}
	isEdit := msg.Replaces != "" && msg.Kind != bridgebridge.Encrypted
	var early store.EarlyEdit
	var wasEdited bool
	if !isEdit {
		var err error
		if early, wasEdited, err = store.TakeEarlyEdit(ctx, b.tx, e.chat.ID, e.ID, e.Sender); err != nil {
			return err
		}
		if wasEdited {
			msg = msg.WithText(early.Body)
		}
	}
	decision, err := b.judge(ctx, *e.chat, judged{author: e.author, sender: e.Sender, msg: msg, at: e.at, edits: isEdit})
	switch {
	case err != nil:
		return err
	case decision.Code == policy.CodeFlood:
		return b.storeFlood(ctx, e, decision)
	case isEdit:
		return b.storeEdit(ctx, e, msg, decision)
	case decision.Action == policy.ActionIgnore:
		return nil
	}
	row := store.Message{
		ChatID: e.chat.ID, EventID: e.ID, Author: e.author, Sender: e.Sender, Kind: string(msg.Kind), Body: msg.Text, RelatesTo: msg.ReplyTo,
		At: e.at, Action: decision.Action, Code: decision.Code, Reason: decision.Why,
	}
	isEncrypted := e.Type.Type == event.EventEncrypted.Type
	if isEncrypted {
		row.Parked, row.ParkedIn = e.Content.VeryRaw, e.RoomID
		row.Action, row.Code, row.Reason = policy.ActionArchive, policy.CodeEncrypted, policy.CodeEncrypted.Sentence()
		if b.history {
			row.Code = policy.CodeBackfill
		}
	}
	if wasEdited {
		row.EditedAt = &early.At
	}
	if msg.File != nil {
		file := store.Attachment(*msg.File)
		row.Attachment = &file
	}
	keepFile := !b.history && msg.File != nil && b.in.rules.Keep.Keeps(e.author, msg.Kind == bridgebridge.Voice)
	message, err := store.InsertMessage(ctx, b.tx, row)
	if err != nil {
		return err
	}
	b.stored++
	if keepFile {
		b.jobs = append(b.jobs, jobs.KeepFileArgs{MessageID: message})
	}
	if isEncrypted {
		b.jobs = append(b.jobs, jobs.DecryptArgs{MessageID: message})
		return nil
	}
	b.follow(*e.chat, message, decision)
	return nil
}

// markSent marks an outbox message as sent when its event arrives. The event may come before the response to the send request.
func (b *batch) markSent(ctx context.Context, e incoming) error {
	if !b.own[e.ID] || (e.author != policy.AuthorMultisOwner && e.author != policy.AuthorMultisBot) {
		return nil
	}
	key, _ := bridgebridge.OutboxKey(e.Event)
	out, err := uuid.Parse(key)
	if err != nil {
		return nil //nolint:nilerr // without a valid outbox key the event was recognized by its id, which is stored
	}
	return store.MarkSent(ctx, b.tx, out, e.ID, e.RoomID)
}

// storeOwnerPresence stores when the owner wrote in a chat, which keeps the assistant quiet there, and closes the chat's escalation.
func (b *batch) storeOwnerPresence(ctx context.Context, e incoming) error {
	if e.chat.Kind == policy.KindAdmin {
		return nil
	}
	if err := store.SetOwnerWrote(ctx, b.tx, e.chat.ID, e.at); err != nil {
		return err
	}
	if e.chat.OwnerLastAt == nil || e.chat.OwnerLastAt.Before(e.at) {
		e.chat.OwnerLastAt = &e.at // the batch's later messages are judged by it
	}
	closed, err := store.CloseEscalation(ctx, b.tx, e.chat.ID, e.at)
	if err != nil || !closed {
		return err
	}
	b.hooks = append(b.hooks, hookCall{policy.HookResolved, strconv.FormatInt(int64(e.chat.ID), 10)})
	return nil
}

// storeFlood stores one empty message for a flood, with the reason. The rest of the flood leaves nothing.
func (b *batch) storeFlood(ctx context.Context, e incoming, d policy.Admission) error {
	noted, err := store.IsFlooding(ctx, b.tx, e.chat.ID, e.Sender)
	if err != nil || noted {
		return err
	}
	_, err = store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: e.chat.ID, EventID: e.ID, Author: e.author, Sender: e.Sender, Kind: string(bridgebridge.Other), At: e.at,
		Action: policy.ActionArchive, Code: d.Code, Reason: d.Why,
	})
	return err
}

// storeBridgeNotice stores what a bridge's bot says about the delivery of a message. An encrypted one waits for its key as a message
// does, and leaves nothing once it is read.
func (b *batch) storeBridgeNotice(ctx context.Context, e incoming) error {
	if e.Type.Type != event.EventEncrypted.Type {
		return b.storeDelivery(ctx, e)
	}
	if b.history {
		return nil
	}
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: e.chat.ID, EventID: e.ID, Author: policy.AuthorBridgeBot, Sender: e.Sender, Kind: string(bridgebridge.Encrypted), At: e.at,
		Parked: e.Content.VeryRaw, ParkedIn: e.RoomID, Action: policy.ActionArchive, Code: policy.CodeEncrypted, Reason: policy.CodeEncrypted.Sentence(),
	})
	if err != nil {
		return err
	}
	b.jobs = append(b.jobs, jobs.DecryptArgs{MessageID: message})
	return nil
}

// follow asks for the job that a decision needs. A question in business mode is also an event for the owner's hooks.
func (b *batch) follow(chat store.Chat, message store.MessageID, decision policy.Admission) {
	switch decision.Action {
	case policy.ActionAnswer, policy.ActionEscalate:
		b.jobs = append(b.jobs, jobs.TurnArgs{ChatID: chat.ID})
		if b.in.mode(chat) == policy.ModeBusiness {
			b.hooks = append(b.hooks, hookCall{policy.HookMessage, strconv.FormatInt(int64(message), 10)})
		}
	case policy.ActionCommand:
		b.jobs = append(b.jobs, jobs.CommandArgs{MessageID: message})
	case policy.ActionTranscribe:
		b.jobs = append(b.jobs, jobs.TranscribeArgs{MessageID: message})
	default: // it is stored, and nothing follows
	}
	if decision.Code == policy.CodeStale {
		b.jobs = append(b.jobs, jobs.DigestArgs{})
	}
}
