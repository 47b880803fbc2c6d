package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestKeptFile_StoredDuringDeletion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	chat := taskChat(t, st)
	var row store.MessageID
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(ctx, tx, store.Message{
			ChatID:  chat.ID,
			EventID: "$1",
			Author:  policy.AuthorContact,
			Kind:    "voice",
			Body:    "[voice note]",
			At:      time.Now(),
			Action:  policy.ActionArchive,
		})
		return err
	}))
	deleted := make(chan error, 1)
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error {
		if err := store.KeepFile(ctx, tx, row, []byte("zanzibar"), time.Now().Add(time.Hour)); err != nil {
			return err
		}
		go func() {
			deleted <- st.InTx(ctx, func(tx store.Tx) error {
				_, err := store.RedactMessage(ctx, tx, chat.ID, "$1", time.Now())
				return err
			})
		}()
		select {
		case err := <-deleted: // it did not wait for the file
			deleted <- err
		case <-time.After(300 * time.Millisecond):
		}
		return nil
	}))
	require.NoError(t, <-deleted)
	require.Empty(t, storetest.ColumnsContaining(t, st, "zanzibar"))
}
