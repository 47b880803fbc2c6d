package appservice

import (
	"context"
	"errors"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// storeEdit changes the text of an earlier message. If that message still waits for an answer, it is decided again what
// is done with it, because its new text is what gets answered. Otherwise only the text changes.
func (b *batch) storeEdit(ctx context.Context, e incoming) error {
	msg := e.Message
	before, err := store.MessageByEvent(ctx, b.tx, e.chat.ID, msg.Replaces)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	isOwn := err == nil && before.Sender == e.Sender
	switch {
	case isOwn && changesNothing(before, msg):
		return nil
	case isOwn && isDescription(before) && msg.Kind != bridgebridge.Notice:
		return b.storeDescribed(ctx, e, before)
	}
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

// changesNothing reports whether an edit leaves the words of its message as they are. Bridges send such edits, for instance when a file
// was fetched, and what was made from the message stays then.
func changesNothing(before store.Message, edit bridgebridge.Message) bool {
	kind := bridgebridge.MessageKind(before.Kind)
	if kind != edit.Kind || before.RedactedAt != nil {
		return false
	}
	switch kind {
	case bridgebridge.Voice:
		return edit.Words() == ""
	case bridgebridge.Image, bridgebridge.Video, bridgebridge.Audio, bridgebridge.Document:
		name := ""
		if before.Attachment != nil {
			name = before.Attachment.Name
		}
		return edit.Words() == bridgebridge.CaptionOf(kind, before.Body, name)
	default:
		return edit.Text == before.Body
	}
}

// isDescription reports whether a message is a notice that the bridge wrote because it could not show the message.
func isDescription(m store.Message) bool {
	return m.Kind == string(bridgebridge.Notice) && m.RedactedAt == nil &&
		(m.Author == policy.AuthorOtherBot || m.Author == policy.AuthorContact)
}

// storeDescribed stores the message in place of the notice that stood for it, and decides about it as if it came now.
func (b *batch) storeDescribed(ctx context.Context, e incoming, before store.Message) error {
	msg := e.Message
	decision, err := b.admit(ctx, *e.chat, admitInput{author: e.author, sender: e.Sender, msg: msg, at: e.at})
	if err != nil {
		return err
	}
	if decision.Code == policy.CodeFlood {
		return storeFlood(ctx, b.tx, e, decision)
	}
	if decision.Action == policy.ActionIgnore {
		return nil
	}
	err = store.ReplaceDescription(ctx, b.tx, store.Message{
		ID:         before.ID,
		Author:     e.author,
		Kind:       string(msg.Kind),
		Body:       msg.Text,
		Attachment: attachmentOf(msg),
		At:         e.at,
		Action:     decision.Action,
		Code:       decision.Code,
		Reason:     decision.Why,
	})
	if err != nil {
		return err
	}
	b.recordChange(*e.chat)
	b.markThread(*e.chat)
	if b.keepsFile(e) {
		b.jobs = append(b.jobs, jobs.KeepFileArgs{MessageID: before.ID})
	}
	b.enqueueFollowUp(e.chat.ID, b.inbox.mode(*e.chat), before.ID, decision)
	return nil
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
	if b.editedBefore != nil {
		b.editedBefore[msg.Replaces] = true
	}
	_, err = store.InsertMessage(ctx, b.tx, store.Message{
		ChatID:     e.chat.ID,
		EventID:    e.ID,
		Author:     e.author,
		Sender:     e.Sender,
		Kind:       string(msg.Kind),
		Body:       msg.Text,
		Attachment: attachmentOf(msg),
		RelatesTo:  msg.Replaces,
		At:         e.at,
		Action:     policy.ActionArchive,
		Code:       policy.CodeEdited,
		Reason:     policy.CodeEdited.Sentence(),
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
