package appservice

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeMessage stores a message with the decision about it, and enqueues the job that the decision needs.
func (b *batch) storeMessage(ctx context.Context, e incoming) error {
	msg := e.Message
	if err := b.markSent(ctx, e); err != nil {
		return err
	}
	if err := b.storePresence(ctx, e); err != nil {
		return err
	}
	if err := b.storeThreadPresence(ctx, e); err != nil {
		return err
	}
	if msg.Replaces != "" && msg.Kind != bridgebridge.Encrypted {
		return b.storeEdit(ctx, e)
	}
	early, wasEdited, err := b.takeEarlyEdit(ctx, e)
	if err != nil {
		return err
	}
	if wasEdited {
		e = b.applyEarlyEdit(e, early)
		msg = e.Message
	}
	decision, err := b.admit(ctx, *e.chat, admitInput{author: e.author, sender: e.Sender, msg: msg, at: e.at})
	switch {
	case err != nil:
		return err
	case decision.Code == policy.CodeFlood:
		return storeFlood(ctx, b.tx, e, decision)
	case decision.Action == policy.ActionIgnore:
		return nil
	}
	if e.IsNote && decision.Code == policy.CodeCommand {
		decision.Code, decision.Why = policy.CodeNote, policy.CodeNote.Sentence()
	}
	row := store.Message{
		ChatID:     e.chat.ID,
		EventID:    e.ID,
		Author:     e.author,
		Sender:     e.Sender,
		Kind:       string(msg.Kind),
		Body:       msg.Text,
		Attachment: attachmentOf(msg),
		RelatesTo:  msg.ReplyTo,
		Thread:     msg.Thread,
		At:         e.at,
		Action:     decision.Action,
		Code:       decision.Code,
		Reason:     decision.Why,
	}
	isEncrypted := e.Type.Type == event.EventEncrypted.Type
	b.recordChange(*e.chat)
	if !isEncrypted {
		b.markThread(*e.chat)
	}
	if err := b.rateByMessage(ctx, e); err != nil {
		return err
	}
	if isEncrypted {
		b.park(&row, e)
	}
	if wasEdited {
		row.EditedAt = &early.At
	}
	message, err := store.InsertMessage(ctx, b.tx, row)
	if err != nil {
		return err
	}
	b.storedCount++
	if b.keepsFile(e) {
		b.jobs = append(b.jobs, jobs.KeepFileArgs{MessageID: message})
	}
	if isEncrypted {
		b.jobs = append(b.jobs, jobs.DecryptArgs{MessageID: message})
		return nil
	}
	if e.Stands == bridgebridge.ForLater && decision.Action == policy.ActionEscalate {
		b.jobs = append(b.jobs, jobs.TurnArgs{ChatID: e.chat.ID, At: b.inbox.now().Add(awaitedDelay)})
		return nil
	}
	b.enqueueFollowUp(e.chat.ID, b.inbox.mode(*e.chat), message, decision)
	return nil
}

// awaitedDelay is how long a message that its bridge waits for may take to arrive before a person is told of its notice.
const awaitedDelay = 2 * time.Minute

// applyEarlyEdit returns an event as an edit that came before it left it. If the edit made a message of a notice, the message is as old as
// the edit.
func (b *batch) applyEarlyEdit(e incoming, early store.EarlyEdit) incoming {
	wasNotice := e.Stands != ""
	e.Event = e.WithEdit(bridgebridge.MessageKind(early.Kind), early.Body, (*bridgebridge.File)(early.Attachment))
	if wasNotice && e.Stands == "" {
		e.author, e.at = b.author(*e.chat, e.Event), early.At
	}
	return e
}

// attachmentOf returns the file of a message as it is stored; nil for none.
func attachmentOf(msg bridgebridge.Message) *store.Attachment { return (*store.Attachment)(msg.File) }

// keepsFile reports whether the file of a message is kept.
func (b *batch) keepsFile(e incoming) bool {
	return !b.history && e.Message.File != nil && b.inbox.settings.Keep.Keeps(e.author, e.Message.Kind == bridgebridge.Voice)
}

// takeEarlyEdit removes the edits of a message that came before it, and returns the newest of them.
func (b *batch) takeEarlyEdit(ctx context.Context, e incoming) (edit store.EarlyEdit, found bool, err error) {
	if b.editedBefore != nil && !b.editedBefore[e.ID] {
		return store.EarlyEdit{}, false, nil
	}
	return store.TakeEarlyEdit(ctx, b.tx, e.chat.ID, e.ID, e.Sender)
}

// park keeps an encrypted event in its row until its key is there.
func (b *batch) park(row *store.Message, e incoming) {
	row.Parked = e.Content.VeryRaw
	row.ParkedIn = e.RoomID
	row.Action = policy.ActionArchive
	row.Code = policy.CodeEncrypted
	row.Reason = policy.CodeEncrypted.Sentence()
	if b.history {
		row.Code = policy.CodeBackfill
	}
}

// recordChange records that a message was stored, changed or deleted in a chat with contacts, which may have withdrawn a draft.
func (b *batch) recordChange(chat store.Chat) {
	if !b.history && chat.Kind != policy.KindAdmin && !slices.Contains(b.changedChats, chat.ID) {
		b.changedChats = append(b.changedChats, chat.ID)
	}
}

// markSent marks an outbox message as sent when its event arrives, which may be before the response to the send request.
func (b *batch) markSent(ctx context.Context, e incoming) error {
	if !b.ownEvents[e.ID] || (e.author != policy.AuthorMultisOwner && e.author != policy.AuthorMultisBot) {
		return nil
	}
	out, err := uuid.Parse(e.OutboxKey)
	if err != nil {
		return nil //nolint:nilerr // without a valid outbox key the event was recognized by its id, which is stored
	}
	return jobs.MarkSent(ctx, b.tx, out, e.ID, e.RoomID)
}

// storePresence stores when the owner or an operator wrote in a chat, which keeps the assistant quiet there, and that the
// chat's escalation was answered. This includes edits, notices, and messages that cannot be read yet: whatever a person
// wrote, he is active in the chat now.
func (b *batch) storePresence(ctx context.Context, e incoming) error {
	by := b.inbox.settings.Owner // also where a bridge relays him
	switch {
	case b.history || e.chat.Kind == policy.KindAdmin:
		return nil
	case e.author == policy.AuthorOperator:
		by = e.Sender
	case !e.author.IsOwner() && (e.author != policy.AuthorOtherBot || e.Sender != by):
		return nil
	}
	if err := b.markWrote(ctx, e.chat.ID, by, e.at); err != nil {
		return err
	}
	answered, err := store.AnswerEscalation(ctx, b.tx, e.chat.ID, by, e.at)
	for _, escalation := range answered {
		b.hooks = append(b.hooks, store.HookEvent{Event: policy.HookResolved, Reference: strconv.FormatInt(int64(e.chat.ID), 10)})
		b.jobs = append(b.jobs, jobs.UpdateEscalationArgs{
			EscalationID: escalation,
			At:           b.inbox.now().Add(b.inbox.settings.OwnerPause).Truncate(time.Second),
		})
	}
	return err
}

// markWrote stores that a person wrote to a contact. Later messages of the batch are decided with this.
func (b *batch) markWrote(ctx context.Context, in store.ChatID, by id.UserID, at time.Time) error {
	operator := store.OperatorID(by, b.inbox.settings.Owner)
	for _, chat := range b.chats {
		if chat.ID == in && (chat.OwnerWroteAt == nil || chat.OwnerWroteAt.Before(at)) {
			chat.OwnerWroteAt, chat.OwnerWroteBy = &at, operator
		}
	}
	return store.MarkOwnerWrote(ctx, b.tx, in, operator, at)
}

// enqueueFollowUp enqueues the job that a decision needs. In business mode, a message that gets one is also an event for the owner's hooks.
func (f *sideEffects) enqueueFollowUp(chat store.ChatID, mode policy.Mode, message store.MessageID, decision policy.Admission) {
	switch decision.Action {
	case policy.ActionAnswer, policy.ActionEscalate:
		f.jobs = append(f.jobs, jobs.TurnArgs{ChatID: chat})
		if mode == policy.ModeBusiness {
			f.hooks = append(f.hooks, store.HookEvent{Event: policy.HookMessage, Reference: strconv.FormatInt(int64(message), 10)})
		}
	case policy.ActionCommand:
		f.jobs = append(f.jobs, jobs.CommandArgs{MessageID: message})
	case policy.ActionTranscribe:
		f.jobs = append(f.jobs, jobs.TranscribeArgs{MessageID: message})
	default: // the message is only stored
	}
	if decision.Code == policy.CodeStale {
		f.jobs = append(f.jobs, jobs.LateMessagesArgs{})
	}
}
