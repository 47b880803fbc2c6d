package admin_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// taskOf stores a task of the owner's that runs.
func (r *rig) taskOf(question string) store.Task {
	r.t.Helper()
	task, err := store.OpenTask(r.ctx, r.st.DB(), store.Task{Key: "ask:" + question, Kind: "ask", ChatID: r.room.ID, Input: question})
	require.NoError(r.t, err)
	task, err = store.ClaimTask(r.ctx, r.st.DB(), task.ID)
	require.NoError(r.t, err)
	return task
}

func TestATaskIsStoppedByItsNumberOrAReaction(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "Nothing runs that could be stopped.", r.owner("/cancel-task"))
	first, second := r.taskOf("what is going on?"), r.taskOf("and what else?")
	require.Contains(t, r.owner("/cancel-task"), "what is going on?")
	require.Contains(t, r.owner(fmt.Sprintf("/cancel-task %d", first.ID)), fmt.Sprintf("Stopping task %d", first.ID))
	require.NoError(t, store.SetTaskLive(r.ctx, r.st.DB(), second, "$live"))
	r.reacts("$live", "❌")
	for _, task := range []store.Task{first, second} {
		why, err := store.TaskStop(r.ctx, r.st.DB(), task.ID)
		require.NoError(t, err)
		require.Equal(t, "you asked me to", why)
	}
}

func TestAToolCallIsAllowedOrRefusedOnceAndInTime(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ask := func(call string) store.Approval {
		task := r.taskOf(call)
		approval, err := store.OpenApproval(r.ctx, r.st.DB(), store.Approval{
			TaskID: task.ID, CallID: call, Tool: "send_file", Arguments: `{"path": "**offer**.pdf", "to": 3}`, ExpiresAt: r.now.Add(15 * time.Minute),
		})
		require.NoError(t, err)
		require.NoError(t, r.admin.AskApproval(r.ctx, approval.ID))
		r.flush()
		return approval
	}
	decided := func(a store.Approval) *bool {
		now, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
		require.NoError(t, err)
		return now.Allowed
	}
	yes := ask("c1")
	require.Contains(t, r.last().Body, "wants to use `send_file`")
	require.Contains(t, r.last().HTML, "**offer**.pdf", "what a model wrote stands there as it is")
	require.Contains(t, r.reacts(r.last().Event, "👍"), "Allowed")
	require.True(t, *decided(yes))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'task'"))

	no := ask("c2")
	require.Contains(t, r.owner("no"), "Not done")
	require.False(t, *decided(no))

	long := strings.Repeat("x", 2500)
	task := r.taskOf("long")
	hidden, err := store.OpenApproval(r.ctx, r.st.DB(), store.Approval{TaskID: task.ID, CallID: "c9", Tool: "send_file", Arguments: `{"text": "` + long + `"}`, ExpiresAt: r.now.Add(time.Minute)})
	require.NoError(t, err)
	require.NoError(t, r.admin.AskApproval(r.ctx, hidden.ID))
	r.flush()
	require.Contains(t, r.last().Body, "and 500 more characters, which are not shown")
	r.owner("no")

	late := ask("c3")
	r.now = r.now.Add(16 * time.Minute)
	r.owner("yes")
	require.Nil(t, decided(late))
	require.NoError(t, r.admin.AskApproval(r.ctx, late.ID), "and what is over is not asked for again")
	require.Empty(t, r.flush())
}
