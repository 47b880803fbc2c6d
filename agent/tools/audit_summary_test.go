package tools_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/store"
	"multis/store/storetest"
)

func TestAuditSummary_CountsActions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	room := newOwnersRoom(t, st)
	r := tools.NewRegistry(tools.TierPolicy{}, tools.AuditSummary{Store: st})
	owner := tools.Caller{Owner: true, Chat: room}
	require.Contains(t, do(t, r, tools.Call{Name: "audit_summary", Caller: owner}, false).ForLLM, "nothing happened")
	task, err := store.InsertTask(ctx, st.Writer(), store.Task{Key: "x", Kind: "ask", ChatID: room.ID, Input: "the secret plan"})
	require.NoError(t, err)
	task, err = store.ClaimTask(ctx, st.Writer(), task.ID)
	require.NoError(t, err)
	for seq, failed := range []bool{false, true} {
		step := store.Step{
			Seq:     seq,
			Kind:    store.StepTool,
			Name:    "lamp",
			CallID:  string(rune('a' + seq)),
			IsError: failed,
			Code:    "failed",
		}
		require.NoError(t, store.BeginStep(ctx, st.Writer(), task, step))
		require.NoError(t, store.EndStep(ctx, st.Writer(), task, step))
	}
	storetest.OpenApproval(t, st, store.Approval{TaskID: task.ID, CallID: "a", Tool: "lamp", ExpiresAt: time.Now()})
	text := do(t, r, tools.Call{Name: "audit_summary", Args: json.RawMessage(`{"hours": 2}`), Caller: owner}, false).ForLLM
	require.Contains(t, text, "tool lamp: 2 (1 failed)")
	require.Contains(t, text, "approval not answered: 1")
	require.Contains(t, text, "task ask running: 1")
	require.NotContains(t, text, "secret")
	text = do(t, r, tools.Call{Name: "audit_summary", Args: json.RawMessage(`{"task": 1}`), Caller: owner}, false).ForLLM
	require.Contains(t, text, "2 tool lamp: failed")
	require.NotContains(t, text, "secret")
	require.Equal(t, tools.CodeNotFound, do(t, r, tools.Call{
		Name:   "audit_summary",
		Args:   json.RawMessage(`{"task": 99}`),
		Caller: owner,
	}, false).Code)
	require.Equal(t, tools.CodeNotAllowed, do(t, r, tools.Call{Name: "audit_summary"}, false).Code)
}
