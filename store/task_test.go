package store_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func taskChat(t *testing.T, st *store.Store) store.Chat {
	t.Helper()
	room := id.RoomID("!tasks:x")
	var c store.Chat
	require.NoError(t, st.InTx(context.Background(), func(tx store.Tx) (err error) {
		c, err = store.UpsertChat(context.Background(), tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  "tasks",
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       "Ana",
			Encryption: policy.EncryptionNo,
		})
		return err
	}))
	return c
}

func endTask(t *testing.T, st *store.Store, task store.Task) (ended store.EndedTask, err error) {
	t.Helper()
	err = st.InTx(t.Context(), func(tx store.Tx) (err error) {
		ended, err = store.EndTask(t.Context(), tx, task)
		return err
	})
	return ended, err
}

func TestTask_KeyIsUnique(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	chat := taskChat(t, st)
	open := func() store.Task {
		task, err := store.InsertTask(ctx, st.Writer(), store.Task{Key: "ask:1", Kind: "ask", ChatID: chat.ID, Input: "what?"})
		require.NoError(t, err)
		return task
	}
	one, again := open(), open()
	require.Equal(t, one.ID, again.ID)
	first, err := store.ClaimTask(ctx, st.Writer(), open().ID)
	require.NoError(t, err)
	step := store.Step{
		Seq:       0,
		Kind:      store.StepTool,
		Name:      "send",
		CallID:    "c1",
		HasEffect: true,
	}
	require.NoError(t, store.BeginStep(ctx, st.Writer(), first, step))
	second, err := store.ClaimTask(ctx, st.Writer(), first.ID)
	require.NoError(t, err)
	require.ErrorIs(t, store.EndStep(ctx, st.Writer(), first, step), store.ErrTaskLost)
	_, err = endTask(t, st, first)
	require.ErrorIs(t, err, store.ErrTaskLost)
	steps, err := store.Steps(ctx, st.DB(), first.ID)
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Nil(t, steps[0].EndedAt, "begun, and nobody knows how it ended")
	require.NoError(t, store.BeginStep(ctx, st.Writer(), second, step), "it may begin again")
	step.Text, step.Passages = "done", json.RawMessage(`[]`)
	require.NoError(t, store.EndStep(ctx, st.Writer(), second, step))
	require.ErrorIs(t, store.EndStep(ctx, st.Writer(), second, step), store.ErrTaskLost, "what ended stays as it is")
	require.ErrorIs(t, store.BeginStep(ctx, st.Writer(), second, step), store.ErrTaskLost)
	second.State, second.Answer = store.TaskCompleted, "so"
	_, err = endTask(t, st, second)
	require.NoError(t, err)
	_, err = store.ClaimTask(ctx, st.Writer(), second.ID)
	require.ErrorIs(t, err, store.ErrTaskLost)
}

func TestDeletion_EmptiesTasks(t *testing.T) {
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
			Kind:    "text",
			Body:    "flowerpot",
			At:      time.Now(),
			Action:  policy.ActionAnswer,
		})
		return err
	}))
	task, err := store.InsertTask(ctx, st.Writer(), store.Task{
		Key:     "turn:1",
		Kind:    "turn",
		ChatID:  chat.ID,
		Input:   "flowerpot",
		Sources: []store.MessageID{row},
	})
	require.NoError(t, err)
	task, err = store.ClaimTask(ctx, st.Writer(), task.ID)
	require.NoError(t, err)
	forgotten, err := store.SetTaskRequest(ctx, st.Writer(), task, json.RawMessage(`{"t":"flowerpot"}`), []store.MessageID{row})
	require.NoError(t, err)
	require.False(t, forgotten)
	write := func(seq int) {
		s := store.Step{Seq: seq, Kind: store.StepModel, Name: "m", Arguments: "flowerpot"}
		require.NoError(t, store.BeginStep(ctx, st.Writer(), task, s))
		s.Text = "flowerpot"
		s.Calls = json.RawMessage(`["flowerpot"]`)
		s.Passages = json.RawMessage(`["flowerpot"]`)
		s.ForUser = "flowerpot"
		require.NoError(t, store.EndStep(ctx, st.Writer(), task, s))
	}
	write(0)
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, chat.ID, "$1", time.Now())
		return err
	}))
	write(1) // what is under way when it is deleted
	forgotten, err = store.SetTaskRequest(ctx, st.Writer(), task, json.RawMessage(`{"t":"flowerpot"}`), []store.MessageID{row})
	require.NoError(t, err)
	require.True(t, forgotten)
	task.State, task.Answer = store.TaskCompleted, "flowerpot"
	ended, err := endTask(t, st, task)
	require.NoError(t, err)
	require.Equal(t, store.EndedTask{Sources: []store.MessageID{row}, Forgotten: true}, ended)
	var all string
	require.NoError(t, st.DB().QueryRow(ctx,
		"select coalesce(string_agg(t::text || s::text, ' '), '') from tasks t join task_steps s on s.task_id = t.id").Scan(&all))
	require.NotEmpty(t, all)
	require.NotContains(t, all, "flowerpot")
}

func TestApproval_DecidedOnceInTime(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	chat := taskChat(t, st)
	task, err := store.InsertTask(ctx, st.Writer(), store.Task{Key: "ask:1", Kind: "ask", ChatID: chat.ID})
	require.NoError(t, err)
	now := time.Now()
	open := func(call string) store.Approval {
		a := storetest.OpenApproval(t, st, store.Approval{TaskID: task.ID, CallID: call, Tool: "send", ExpiresAt: now.Add(time.Minute)})
		return a
	}
	first := open("c1")
	require.Equal(t, first.ID, open("c1").ID)
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error {
		of, err := store.DecideApproval(ctx, tx, first.ID, store.ApprovalDecision{Allowed: true}, now)
		require.NoError(t, err)
		require.Equal(t, task.ID, of)
		_, err = store.DecideApproval(ctx, tx, first.ID, store.ApprovalDecision{Allowed: false}, now)
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = store.DecideApproval(ctx, tx, open("c2").ID, store.ApprovalDecision{Allowed: true}, now.Add(time.Hour))
		require.ErrorIs(t, err, store.ErrNotFound, "too late")
		return nil
	}))
	a, err := store.ApprovalOf(ctx, st.DB(), task.ID, "c1")
	require.NoError(t, err)
	require.True(t, *a.Allowed)
}
