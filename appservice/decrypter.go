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

// Decrypter decrypts messages that were stored encrypted because their key was missing, and stores their content as Inbox would have done.
type Decrypter struct {
	inbox *Inbox
	vault *Vault
}

// NewDecrypter returns a decrypter that stores into inbox with the keys of vault.
func NewDecrypter(inbox *Inbox, vault *Vault) *Decrypter {
	return &Decrypter{inbox: inbox, vault: vault}
}

const (
	otherProcessDelay = 500 * time.Millisecond // retry delay of a job that only the process with the keys can run
	keyPollInterval   = time.Second
	keyRequestDelay   = 3 * time.Second  // keys often arrive shortly after the message
	keyTimeout        = 30 * time.Second // after that no job polls; the arrival of the key starts one
)

// Decrypt decrypts one stored message. If its key is missing, it requests the key and retries for keyTimeout. After that the arrival of
// the key starts another Decrypt job.
func (d *Decrypter) Decrypt(ctx context.Context, what jobs.DecryptArgs) error {
	msg, err := store.MessageByID(ctx, d.inbox.store.DB(), what.MessageID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && msg.Parked == nil) {
		return nil // decrypted or deleted meanwhile
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
	evt := encryptedEvent(msg, room)
	plain, err := d.vault.decrypt(ctx, who, evt)
	switch {
	case errors.Is(err, errKeysElsewhere):
		return jobs.Snooze(otherProcessDelay)
	case what.KeyRequests > 0 && (errors.Is(err, crypto.ErrNoSessionFound) || errors.Is(err, crypto.ErrGroupSessionWithheld)):
		return d.requestKeyAgain(ctx, chat, what, who, evt)
	case errors.Is(err, crypto.ErrNoSessionFound):
		return d.awaitKey(ctx, chat, msg, who, evt)
	case errors.Is(err, crypto.ErrGroupSessionWithheld): // the key may still be sent once multis is verified
		return d.giveUp(ctx, chat, msg, "It is encrypted, and I was refused its key; I ask again after multis verify.")
	case err != nil:
		zerolog.Ctx(ctx).Warn().Err(err).Stringer("event_id", msg.EventID).Msg("Cannot read an encrypted message")
		return d.giveUp(ctx, chat, msg, "It is encrypted, and its key does not open it.")
	}
	parsed, err := bridgebridge.Parse(plain)
	if err == nil {
		err = d.storeDecrypted(ctx, msg, parsed)
		if !store.IsBadData(err) {
			return err
		}
	}
	logSkippedEvent(ctx, plain.ID, err)
	return d.giveUp(ctx, chat, msg, "It was encrypted, and what it says cannot be stored.")
}

// encryptedEvent rebuilds the encrypted event of a stored message.
func encryptedEvent(msg store.Message, room id.RoomID) *event.Event {
	return &event.Event{
		ID:        msg.EventID,
		RoomID:    room,
		Sender:    msg.Sender,
		Type:      event.EventEncrypted,
		Timestamp: msg.At.UnixMilli(),
		Content:   event.Content{VeryRaw: msg.Parked},
	}
}

// awaitKey decides what happens while the key is missing: retry soon, request the key after keyRequestDelay, give up after keyTimeout. For
// history it requests the key once and gives up at once.
func (d *Decrypter) awaitKey(ctx context.Context, chat store.Chat, msg store.Message, who policy.SendAs, evt *event.Event) error {
	switch waited := d.inbox.now().Sub(msg.ReceivedAt); {
	case msg.Code == policy.CodeBackfill:
		if err := d.requestKeyOnce(ctx, chat, msg, who, evt); err != nil {
			return err
		}
		return d.giveUp(ctx, chat, msg, "It is from before I was here, and I have no key for it.")
	case waited < keyRequestDelay:
		return jobs.Snooze(keyPollInterval)
	case waited < keyTimeout:
		if err := d.vault.requestKey(ctx, who, evt, chat.BridgeBot, d.inbox.settings.Owner); err != nil {
			return err
		}
		return jobs.Snooze(keyTimeout - waited)
	default:
		return d.giveUp(ctx, chat, msg, "It is encrypted, and its key has not come.")
	}
}

// requestKeyOnce requests the key of a message from history, unless it requested the key of that session for an earlier message.
func (d *Decrypter) requestKeyOnce(ctx context.Context, chat store.Chat, msg store.Message, who policy.SendAs, evt *event.Event) error {
	first, err := store.IsFirstOfSession(ctx, d.inbox.store.DB(), msg.ID)
	if err != nil {
		return err
	}
	if !first {
		return nil
	}
	return d.vault.requestKey(ctx, who, evt, chat.BridgeBot, d.inbox.settings.Owner)
}

// requestKeyAgain requests a key that was refused or never arrived, because another client may send it now. While
// requests remain, it enqueues the next one.
func (d *Decrypter) requestKeyAgain(ctx context.Context, chat store.Chat, what jobs.DecryptArgs, who policy.SendAs,
	evt *event.Event,
) error {
	if err := d.vault.requestKey(ctx, who, evt, chat.BridgeBot, d.inbox.settings.Owner); err != nil {
		return err
	}
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		err := store.SetParkedReason(ctx, tx, what.MessageID, "It is encrypted, and I asked for its key again.")
		if err != nil {
			return err
		}
		if what.KeyRequests == 1 {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.DecryptArgs{MessageID: what.MessageID, KeyRequests: what.KeyRequests - 1})
	})
}

// giveUp stores why a message cannot be decrypted. For a command in the admin room it also sends the owner one notice, because the command
// gets no other answer.
func (d *Decrypter) giveUp(ctx context.Context, chat store.Chat, msg store.Message, why string) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if chat.Kind == policy.KindAdmin && msg.Author.MayCommandAsOwner() && msg.Code == policy.CodeEncrypted &&
			msg.Reason == msg.Code.Sentence() {
			if err := jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicUndecryptable}); err != nil {
				return err
			}
		}
		return store.SetParkedReason(ctx, tx, msg.ID, why)
	})
}

// storeDecrypted replaces a stored encrypted message by its decrypted event and decides what to do with it.
func (d *Decrypter) storeDecrypted(ctx context.Context, msg store.Message, plain bridgebridge.Event) error {
	return d.inbox.store.InTx(ctx, func(tx store.Tx) error {
		b := d.inbox.newBatch(tx)
		if err := b.lockChats(ctx, plain, msg.ChatID); err != nil {
			return err
		}
		chat, err := store.ChatByID(ctx, tx, msg.ChatID)
		if err != nil {
			return err
		}
		taken, err := store.DeleteParked(ctx, tx, msg.ID)
		if err != nil {
			return err
		}
		if !taken {
			return nil
		}
		if chat.RoomID != nil {
			plain.RoomID = *chat.RoomID // the chat may have moved since
		}
		b.history = msg.Code == policy.CodeBackfill
		if err := b.load(ctx, []bridgebridge.Event{plain}); err != nil {
			return err
		}
		if b.inbox.isOff(chat) {
			return nil // the chat was switched off while the key was missing: nothing is stored
		}
		current := &chat // b.chats lacks the chat while the chat has no room
		if known, ok := b.chats[plain.RoomID]; ok && known.ID == chat.ID {
			current = known
		}
		if err := b.storeInChat(ctx, current, plain, b.inbox.sentAt(plain)); err != nil {
			return fmt.Errorf("store %s: %w", plain.ID, err)
		}
		return b.enqueue(ctx, b.tx)
	})
}
