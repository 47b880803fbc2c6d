package appservice

import (
	"context"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

// Heard takes in what a voice note says, as if it had been written: it is judged anew, but for its age. Nothing is kept of one
// that was deleted meanwhile, or whose chat was switched off.
func (in *Inbox) Heard(ctx context.Context, tx store.Tx, message int64, text string) error {
	b, chat, m, err := in.reopen(ctx, tx, message)
	if err != nil || b == nil {
		return err
	}
	note := bridgebridge.Message{Kind: bridgebridge.Voice}.Spoken(text)
	decision, err := b.judge(ctx, chat, judged{author: m.Author, sender: m.Sender, msg: note, at: m.At, again: true})
	if err != nil {
		return err
	}
	switch {
	case decision.Action == policy.ActionIgnore:
		return store.Unheard(ctx, tx, m.ID, policy.Admission{Action: policy.ActionArchive, Code: decision.Code, Why: decision.Why})
	case chat.Kind == policy.KindAdmin:
		decision.Code, decision.Why = policy.CodeHeard, policy.CodeHeard.Sentence()
	}
	if err := store.Heard(ctx, tx, m.ID, text, decision); err != nil {
		return err
	}
	b.follow(chat, m.ID, decision)
	return b.enqueue(ctx)
}

// Unheard notes why a voice note could not be listened to. It stays what it was; the owner is told of one of his own.
func (in *Inbox) Unheard(ctx context.Context, tx store.Tx, message int64, why string) error {
	b, chat, m, err := in.reopen(ctx, tx, message)
	if err != nil || b == nil {
		return err
	}
	decision := policy.Admission{Action: policy.ActionArchive, Code: policy.CodeUnheard, Why: "It is a voice note, and I could not listen to it: " + why + "."}
	if chat.Kind == policy.KindAdmin {
		decision.Action = policy.ActionCommand
	}
	if err := store.Unheard(ctx, tx, m.ID, decision); err != nil {
		return err
	}
	b.follow(chat, m.ID, decision)
	return b.enqueue(ctx)
}

// reopen holds a voice note that waits for its words, and its chat, in the order of everybody who takes both. A nil batch
// means that it waits no more.
func (in *Inbox) reopen(ctx context.Context, tx store.Tx, message int64) (*batch, store.Chat, store.Message, error) {
	found, err := store.MessageByID(ctx, tx, message)
	if err != nil {
		return nil, store.Chat{}, store.Message{}, err
	}
	chat, err := store.ChatByID(ctx, tx, found.ChatID)
	if err != nil {
		return nil, store.Chat{}, store.Message{}, err
	}
	if chat.RoomID != nil {
		held, err := store.HoldChats(ctx, tx, []id.RoomID{*chat.RoomID})
		if err != nil {
			return nil, store.Chat{}, store.Message{}, err
		}
		if now, there := held[*chat.RoomID]; there {
			chat = now
		}
	}
	waiting, err := store.HoldMessages(ctx, tx, []int64{message})
	if err != nil || len(waiting) == 0 || waiting[0].Action != policy.ActionListen {
		return nil, store.Chat{}, store.Message{}, err
	}
	b := in.newBatch(tx)
	return b, chat, waiting[0], b.loadSettings(ctx)
}
