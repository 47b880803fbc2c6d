package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestReplay_IsPlainText(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	dir := configured(t, dsn, "")
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(st.Close)
	var task store.Task
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		chat, err := store.UpsertChat(t.Context(), tx, store.Chat{
			Protocol:   "whatsapp",
			ChannelID:  "1",
			Kind:       policy.KindDM,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		if task, err = store.InsertTask(t.Context(), tx, store.Task{Key: "ask:1", Kind: "ask", ChatID: chat.ID}); err != nil {
			return err
		}
		model, tool := store.Step{
			Seq:  0,
			Kind: store.StepModel,
			Name: "some",
		}, store.Step{
			Seq:     1,
			Kind:    store.StepTool,
			Name:    "fetch_url",
			CallID:  "1",
			ForUser: "read \x1b]0;owned\a_this_",
		}
		for _, s := range []store.Step{model, tool} {
			if err := store.BeginStep(t.Context(), tx, task, s); err != nil {
				return err
			}
			if err := store.EndStep(t.Context(), tx, task, s); err != nil {
				return err
			}
		}
		_, err = tx.Exec(t.Context(), "update tasks set forgotten = true, request = '{}' where id = $1", task.ID)
		return err
	}))
	said, complaint, err := program(t, dir, "", "replay", "1")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "Task 1, replayed (ask, queued); nothing was done\n1. nothing\n   - fetch_url: read ]0;owned_this_\n")
	require.Contains(t, said, "its words are gone")
	_, complaint, err = program(t, dir, "", "replay", "99")
	require.Error(t, err)
	require.Equal(t, "multis: there is no task 99; tasks are kept for 30 days\n", complaint)
}
