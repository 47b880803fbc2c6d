package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestMessages_ContactReadsOwnChats(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ctx := context.Background()
	var chats []store.ChatID
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error {
		for _, name := range []string{"ana", "ben"} {
			chat, err := store.UpsertChat(ctx, tx, store.Chat{
				Protocol:   "demo",
				ChannelID:  name,
				Kind:       policy.KindDM,
				Encryption: policy.EncryptionNo,
			})
			if err != nil {
				return err
			}
			chats = append(chats, chat.ID)
			if _, err := store.InsertMessage(ctx, tx, store.Message{
				ChatID:  chat.ID,
				EventID: id.EventID("$" + name),
				Author:  policy.AuthorContact,
				Kind:    "text",
				Body:    name + "'s secret",
				At:      time.Now(),
				Action:  policy.ActionArchive,
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, st.AsContact(ctx, policy.ContactScope(chats[0]), func(tx store.Tx) error {
		var bodies []string
		require.NoError(t, tx.QueryRow(ctx, "select array_agg(body) from messages").Scan(&bodies))
		require.Equal(t, []string{"ana's secret"}, bodies, "without any where")
		foreign, err := store.RecentMessages(ctx, tx, chats[1], time.Time{}, nil, 20)
		require.NoError(t, err)
		require.Empty(t, foreign)
		return nil
	}))
	require.ErrorIs(t, st.AsContact(ctx, policy.OwnerScope(), func(store.Tx) error { return nil }), store.ErrOwnerScope)
	require.ErrorIs(t, st.AsContact(ctx, policy.Scope{}, func(store.Tx) error { return nil }), policy.ErrNoScope)
}
