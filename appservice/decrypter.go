package appservice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Decrypter reads what could not be read at once and takes in what it says, as if it came now.
type Decrypter struct {
	inbox *Inbox
	vault *Vault
}

// NewDecrypter makes a decrypter.
func NewDecrypter(inbox *Inbox, vault *Vault) *Decrypter {
	return &Decrypter{inbox: inbox, vault: vault}
}

const (
	elsewhereWait = 500 * time.Millisecond // until the process that holds the keys may take the job
	keyPoll       = time.Second
	keyPatience   = 3 * time.Second  // keys often come a moment after the message
	keyDeadline   = 30 * time.Second // after that the message waits for its key without anybody looking
)

// Decrypt reads one message. Without its key it asks for it, waits a little, and then leaves the message until the key comes.
func (d *Decrypter) Decrypt(ctx context.Context, what jobs.DecryptArgs) error {
	msg, err := store.MessageByID(ctx, d.inbox.store.DB(), what.MessageID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && msg.Parked == nil) {
		return nil // read or deleted meanwhile
	}
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, d.inbox.store.DB(), msg.ChatID)
	if err != nil {
		return err
	}
	room := msg.ParkedIn
	if room == "" {
		return nil
	}
	who := policy.AsOwner
	if chat.Kind == policy.KindAdmin {
		who = policy.AsBot
	}
	evt := sealed(msg, room)
	plain, err := d.vault.decrypt(ctx, who, evt)
	switch {
	case errors.Is(err, errElsewhere):
		return jobs.Later(elsewhereWait)
	case what.KeyRequests > 0 && (errors.Is(err, crypto.ErrNoSessionFound) || errors.Is(err, crypto.ErrGroupSessionWithheld)):
		return d.askAgain(ctx, chat, what, who, evt)
	case errors.Is(err, crypto.ErrNoSessionFound):
		return d.wait(ctx, chat, msg, who, evt)
	case errors.Is(err, crypto.ErrGroupSessionWithheld): // it may come all the same, once multis is verified
		return d.giveUp(ctx, chat, msg, "It is encrypted, and I was refused its key; I ask again after multis verify.")
	case err != nil:
		zerolog.Ctx(ctx).Warn().Err(err).Stringer("event_id", msg.EventID).Msg("Cannot read an encrypted message")
		return d.giveUp(ctx, chat, msg, "It is encrypted, and its key does not open it.")
	}
	err = bridgebridge.CheckIDs(plain)
	if err == nil {
		err = d.takeIn(ctx, msg, plain)
		if !store.IsBadData(err) {
			return err
		}
	}
	leftOut(ctx, plain, err)
	return d.giveUp(ctx, chat, msg, "It was encrypted, and what it says cannot be stored.")
}

// sealed is the encrypted event as it came.
func sealed(msg store.Message, room id.RoomID) *event.Event {
	return &event.Event{
		ID: msg.EventID, RoomID: room, Sender: msg.Sender, Type: event.EventEncrypted, Timestamp: msg.At.UnixMilli(),
		Content: event.Content{VeryRaw: msg.Parked},
	}
}

// wait looks again soon, asks for the key when it is late, and stops looking when it does not come.
func (d *Decrypter) wait(ctx context.Context, chat store.Chat, msg store.Message, who policy.SendAs, evt *event.Event) error {
	switch waited := d.inbox.now().Sub(msg.ReceivedAt); {
	case msg.Code == policy.CodeBackfill:
		if err := d.askOnce(ctx, chat, msg, who, evt); err != nil {
			return err
		}
		return d.giveUp(ctx, chat, msg, "It is from before I was here, and I have no key for it.")
	case waited < keyPatience:
		return jobs.Later(keyPoll)
	case waited < keyDeadline:
		if err := d.vault.request(ctx, who, evt, chat.BridgeBot, d.inbox.rules.Owner); err != nil {
			return err
		}
		return jobs.Later(keyDeadline - waited)
	default:
		return d.giveUp(ctx, chat, msg, "It is encrypted, and its key has not come.")
	}
}

// askOnce asks for the key of old messages, for the first of those that have the same.
func (d *Decrypter) askOnce(ctx context.Context, chat store.Chat, msg store.Message, who policy.SendAs, evt *event.Event) error {
	first, err := store.FirstOfSession(ctx, d.inbox.store.DB(), msg.ID)
	if err != nil || !first {
		return err
	}
	return d.vault.request(ctx, who, evt, chat.BridgeBot, d.inbox.rules.Owner)
}

// askAgain asks for a key that was refused or never came, now that it may be given, and once more a little later.
func (d *Decrypter) askAgain(ctx context.Context, chat store.Chat, what jobs.DecryptArgs, who policy.SendAs, evt *event.Event) error {
	if err := d.vault.request(ctx, who, evt, chat.BridgeBot, d.inbox.rules.Owner); err != nil {
		return err
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.ExplainParked(ctx, tx, what.MessageID, "It is encrypted, and I asked for its key again."); err != nil || what.KeyRequests == 1 {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.DecryptArgs{MessageID: what.MessageID, KeyRequests: what.KeyRequests - 1})
	})
}

// giveUp stores why a message cannot be read. Of a command the owner is told, once: nothing else would answer him.
func (d *Decrypter) giveUp(ctx context.Context, chat store.Chat, msg store.Message, why string) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if chat.Kind == policy.KindAdmin && msg.Author.IsOwner() && msg.Code == policy.CodeEncrypted && msg.Reason == msg.Code.Sentence() {
			if err := jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicUndecryptable}); err != nil {
				return err
			}
		}
		return store.ExplainParked(ctx, tx, msg.ID, why)
	})
}

// takeIn puts what a message says in its place, with what is decided about it.
func (d *Decrypter) takeIn(ctx context.Context, msg store.Message, plain *event.Event) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		chat, err := store.HoldChat(ctx, tx, msg.ChatID)
		if err != nil {
			return err
		}
		taken, err := store.TakeParked(ctx, tx, msg.ID)
		if err != nil || !taken {
			return err
		}
		if chat.RoomID != nil {
			plain.RoomID = *chat.RoomID // the chat may have moved since
		}
		b := d.inbox.newBatch(tx)
		b.history = msg.Code == policy.CodeBackfill
		if err := b.look(ctx, []*event.Event{plain}); err != nil {
			return err
		}
		if b.in.mode(chat) == policy.ModeOff && chat.Kind != policy.KindAdmin {
			return nil // switched off while the key was on its way: nothing is kept
		}
		if known, ok := b.chats[plain.RoomID]; ok && known.ID == chat.ID {
			chat = known
		} else {
			b.chats[plain.RoomID] = chat // it has no room at the moment
		}
		if err := b.take(ctx, chat, plain); err != nil {
			return fmt.Errorf("take in %s: %w", plain.ID, err)
		}
		return jobs.Enqueue(ctx, tx, b.jobs...)
	})
}

// forgeable tells whether a message in an encrypted admin room may come from another than its sender: from a device that is
// neither cross-signed nor verified by hand, or from whoever can write there in plain text.
func (b *batch) forgeable(chat store.Chat, evt *event.Event) bool {
	if chat.Kind != policy.KindAdmin || evt.Sender == b.in.rules.Bot {
		return false
	}
	if evt.Mautrix.WasEncrypted {
		return evt.Mautrix.TrustState < id.TrustStateCrossSignedTOFU
	}
	isMessage := evt.Type.Type == event.EventMessage.Type || evt.Type.Type == event.EventSticker.Type
	return chat.Encrypted == policy.EncryptionYes && isMessage // clients encrypt no reactions
}

// distrust stores that somebody wrote in the admin room from a device that is not the owner's for sure. What it said is not
// kept; the owner is told how to mend it.
func (b *batch) distrust(ctx context.Context, chat store.Chat, evt *event.Event) error {
	author := b.author(chat, evt)
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: chat.ID, EventID: evt.ID, Author: author, Sender: evt.Sender, Kind: "untrusted", At: b.in.timeOf(evt),
		Action: policy.ActionCommand, Code: policy.CodeUntrusted, Reason: policy.CodeUntrusted.Sentence(),
	})
	if err != nil {
		return err
	}
	b.enqueue(jobs.CommandArgs{MessageID: message})
	return nil
}
