package appservice

import (
	"context"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// StoreTranscript stores the transcript of a voice note and decides again what is done with it, as if the contact had
// typed it. Only the age is not checked again. It stores nothing if the voice note was deleted meanwhile or its chat was
// switched off.
func (in *Inbox) StoreTranscript(ctx context.Context, tx store.Tx, message store.MessageID, text string) error {
	b, chat, m, err := in.lockVoiceNote(ctx, tx, message)
	if err != nil {
		return err
	}
	if b == nil {
		return nil
	}
	if withheld, err := b.interceptSpokenPIN(ctx, chat, m, text); err != nil {
		return err
	} else if withheld {
		return b.enqueue(ctx, b.tx)
	}
	note := bridgebridge.Message{Kind: bridgebridge.Voice}.WithTranscript(text)
	decision, err := b.admit(ctx, chat, admitInput{
		author:    m.Author,
		sender:    m.Sender,
		msg:       note,
		at:        m.At,
		wasFresh:  true,
		isCounted: true,
	})
	if err != nil {
		return err
	}
	switch {
	case decision.Action == policy.ActionIgnore:
		failed := policy.Admission{Action: policy.ActionArchive, Code: decision.Code, Why: decision.Why}
		if err := store.SetTranscriptionFailed(ctx, tx, m.ID, failed); err != nil {
			return err
		}
		return b.enqueue(ctx, b.tx)
	case chat.Kind == policy.KindAdmin:
		decision.Code, decision.Why = policy.CodeTranscribed, policy.CodeTranscribed.Sentence()
	}
	if err := store.SetTranscript(ctx, tx, m.ID, text, decision); err != nil {
		return err
	}
	b.enqueueFollowUp(chat.ID, b.inbox.mode(chat), m.ID, decision)
	b.markThread(chat)
	return b.enqueue(ctx, b.tx)
}

// FailTranscription stores why a voice note could not be transcribed. A voice note of the owner in the admin room still
// counts as a command, so that he gets an answer with the reason. A contact's voice note in a business chat is escalated.
func (in *Inbox) FailTranscription(ctx context.Context, tx store.Tx, message store.MessageID, why string) error {
	b, chat, m, err := in.lockVoiceNote(ctx, tx, message)
	if err != nil {
		return err
	}
	if b == nil {
		return nil
	}
	decision := policy.Admission{
		Action: policy.ActionArchive,
		Code:   policy.CodeTranscriptionFailed,
		Why:    "It is a voice note, and I could not listen to it: " + why + ".",
	}
	switch {
	case chat.Kind == policy.KindAdmin:
		decision.Action = policy.ActionCommand
	case b.inbox.mode(chat) == policy.ModeBusiness:
		decision.Action = policy.ActionEscalate // the contact may have asked something, and nobody has heard it
	}
	if err := store.SetTranscriptionFailed(ctx, tx, m.ID, decision); err != nil {
		return err
	}
	b.enqueueFollowUp(chat.ID, b.inbox.mode(chat), m.ID, decision)
	return b.enqueue(ctx, b.tx)
}

// lockVoiceNote locks the chat of a voice note and then the voice note, the order that every caller uses. The batch is
// nil if the voice note no longer waits for a transcript.
func (in *Inbox) lockVoiceNote(ctx context.Context, tx store.Tx, message store.MessageID) (*batch, store.Chat, store.Message, error) {
	found, err := store.MessageByID(ctx, tx, message)
	if err != nil {
		return nil, store.Chat{}, store.Message{}, err
	}
	chat, err := store.ChatByID(ctx, tx, found.ChatID)
	if err != nil {
		return nil, store.Chat{}, store.Message{}, err
	}
	if chat.RoomID != nil {
		held, err := store.LockChatsByRoom(ctx, tx, []id.RoomID{*chat.RoomID})
		if err != nil {
			return nil, store.Chat{}, store.Message{}, err
		}
		if now, there := held[*chat.RoomID]; there {
			chat = now
		}
	}
	waiting, err := store.LockMessages(ctx, tx, []store.MessageID{message})
	if err != nil {
		return nil, store.Chat{}, store.Message{}, err
	}
	if len(waiting) == 0 || waiting[0].Action != policy.ActionTranscribe {
		return nil, store.Chat{}, store.Message{}, nil
	}
	b := in.newBatch(tx)
	b.state, err = in.store.AdmissionState(ctx, tx, in.settings.Name)
	return b, chat, waiting[0], err
}
