package appservice

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

func TestLockOrder_DecryptedThreadReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	contact := b.chat("!a:x", policy.ModeBusiness)
	room := id.RoomID("!admin:x")
	asked := b.text("!a:x", ana, "My lamp is broken")
	b.receive(asked)
	plain := b.event("m.room.message", room, owner,
		`{"msgtype":"m.text","body":"Which lamp?","m.relates_to":{"rel_type":"m.thread","event_id":"$card"}}`)
	plain.Mautrix.WasEncrypted, plain.Mautrix.TrustState = true, id.TrustStateVerified
	var admin store.Chat
	var msg store.Message
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) (err error) {
		admin, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  room.String(),
			RoomID:     &room,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionYes,
		})
		if err != nil {
			return err
		}
		msg = store.Message{
			ChatID:   admin.ID,
			EventID:  plain.ID,
			Author:   policy.AuthorOwnerClient,
			Sender:   owner,
			Kind:     "encrypted",
			At:       time.Now(),
			Parked:   []byte(`{}`),
			ParkedIn: room,
			Action:   policy.ActionArchive,
			Code:     policy.CodeEncrypted,
			Reason:   policy.CodeEncrypted.Sentence(),
		}
		msg.ID, err = store.InsertMessage(ctx, tx, msg)
		return err
	}))
	require.Less(t, contact.ID, admin.ID)
	_, err := b.store.Pool().Exec(ctx,
		`with card as (insert into outbox (id, chat_id, send_as, purpose, event_type, content, state, event_id, code, reason)
			values (gen_random_uuid(), $1, 'bot', 'notice', 'm.room.message', '{}', 'sent', '$card', '', '') returning id)
		insert into escalations (chat_id, message_id, reason, card_id) select $2, $3, '', id from card`, admin.ID, contact.ID,
		b.message(asked).ID)
	require.NoError(t, err)

	other, err := b.store.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = other.Rollback(context.WithoutCancel(ctx)) }()
	_, err = other.Exec(ctx, "select from chats where id = $1 for no key update", contact.ID)
	require.NoError(t, err)
	stored := make(chan error, 1)
	decrypted := parseEvent(t, plain)
	go func() { stored <- (&Decrypter{inbox: b.inbox}).storeDecrypted(ctx, msg, decrypted) }()
	require.Eventually(t, func() bool {
		return b.count("pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
	}, time.Minute, 10*time.Millisecond)
	_, err = other.Exec(ctx, "select from chats where id = $1 for no key update nowait", admin.ID)
	require.NoError(t, err, "it waits for the contact's chat and has not locked the one with the higher number")
	require.NoError(t, other.Commit(ctx))
	require.NoError(t, <-stored)
	require.Equal(t, "Which lamp?", b.message(plain).Body)
	require.Equal(t, 1, b.count("chats where id = $1 and owner_last_at is not null", contact.ID), "the assistant is quiet there")
}
