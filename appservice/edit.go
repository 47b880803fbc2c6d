package appservice

import (
	"context"
	"errors"

	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeEdit changes the text of an earlier message. If that message still waits for an answer, it is decided again what
// is done with it, because its new text is what gets answered. Otherwise only the text changes.
func (b *batch) storeEdit(ctx context.Context, e incoming) error {
	msg := e.Message
	j := admitInput{
		author: e.author,
		sender: e.Sender,
		msg:    msg,
		at:     e.at,
		isEdit: true,
	}
	waiting, err := store.WaitingMessageOfEvent(ctx, b.tx, e.chat.ID, msg.Replaces)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	isWaiting := err == nil && waiting.Sender == e.Sender
	if isWaiting {
		j.at = waiting.At
		j.isEdit = false
		j.wasFresh = true
	}
	decision, err := b.admit(ctx, *e.chat, j)
	if err != nil {
		return err
	}
	if decision.Code == policy.CodeFlood {
		return storeFlood(ctx, b.tx, e, decision)
	}
	edited, err := store.EditMessage(ctx, b.tx, e.chat.ID, msg.Replaces, e.Sender, msg.Text, e.at)
	switch {
	case err != nil:
		return err
	case !edited && decision.Action == policy.ActionIgnore:
		return nil
	case !edited:
		return b.storeEarlyEdit(ctx, e)
	}
	b.recordChange(*e.chat)
	b.markThread(*e.chat)
	if !isWaiting && e.chat.Kind == policy.KindAdmin {
		return b.editCommand(ctx, e, msg.Replaces)
	}
	shown, err := store.EscalationsShowing(ctx, b.tx, e.chat.ID, msg.Replaces)
	if err != nil {
		return err
	}
	for _, escalation := range shown {
		b.jobs = append(b.jobs, jobs.UpdateEscalationArgs{EscalationID: escalation})
	}
	if !isWaiting {
		return nil
	}
	if decision.Action == policy.ActionIgnore {
		decision.Action = policy.ActionArchive
	}
	return store.SetAdmission(ctx, b.tx, waiting.ID, decision)
}

// storeEarlyEdit stores an edit that came before its message, because history is read backwards and keys come in any
// order. The edit is a message of its own until its message comes. If the message was deleted, nothing is stored.
func (b *batch) storeEarlyEdit(ctx context.Context, e incoming) error {
	msg := e.Message
	gone, err := store.IsProcessed(ctx, b.tx, msg.Replaces)
	if err != nil {
		return err
	}
	if gone && !b.newEvents[msg.Replaces] {
		return nil
	}
	_, err = store.InsertMessage(ctx, b.tx, store.Message{
		ChatID:    e.chat.ID,
		EventID:   e.ID,
		Author:    e.author,
		Sender:    e.Sender,
		Kind:      string(msg.Kind),
		Body:      msg.Text,
		RelatesTo: msg.Replaces,
		At:        e.at,
		Action:    policy.ActionArchive,
		Code:      policy.CodeEdited,
		Reason:    policy.CodeEdited.Sentence(),
	})
	return err
}

// editCommand changes what a reply in a thread sent. For another command that was already run, or is being run, it tells
// the owner that it is not run again.
func (b *batch) editCommand(ctx context.Context, e incoming, command id.EventID) error {
	m, err := store.MessageByEvent(ctx, b.tx, e.chat.ID, command)
	if err == nil && m.Thread != "" && e.IsNote {
		err = store.MarkNote(ctx, b.tx, m.ID) // now, because the text may change again before the job reads it
	}
	if err != nil {
		return err
	}
	if b.changeReply(m) {
		return nil
	}
	isTaken := m.AnsweredAt != nil
	if !isTaken { // a model may be working on what it said before
		if isTaken, err = store.HasTask(ctx, b.tx, m.ID); err != nil {
			return err
		}
	}
	if e.author.IsOwner() && isTaken {
		b.jobs = append(b.jobs, jobs.NoticeArgs{Topic: jobs.TopicEditIgnored})
	}
	return nil
}
