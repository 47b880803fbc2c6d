package admin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// showPlan stores a plan with one step and asks the owner about it.
func (r *rig) showPlan(goal string) store.Task {
	r.t.Helper()
	asked := r.storeCommand(store.Message{Body: "/plan " + goal})
	r.exec("update messages set answered_at = now() where id = $1", asked)
	plan, err := store.InsertTask(r.ctx, r.st.Writer(), store.Task{
		Key:       "plan:" + goal,
		Kind:      "plan",
		ChatID:    r.room.ID,
		MessageID: &asked,
		Sources:   []store.MessageID{asked},
		Input:     goal,
	})
	require.NoError(r.t, err)
	a := storetest.OpenApproval(r.t, r.st, store.Approval{
		TaskID:    plan.ID,
		CallID:    store.PlanCall,
		Tool:      store.PlanCall,
		Arguments: "🗺️ **" + goal + "**\n\n1. Do it",
		ExpiresAt: r.now.Add(15 * time.Minute),
	})
	require.NoError(r.t, r.admin.Tasks.RequestApproval(r.ctx, a.ID))
	r.sendQueued()
	return plan
}

func (r *rig) task(id store.TaskID) store.Task {
	r.t.Helper()
	task, err := store.TaskByID(r.ctx, r.st.DB(), id)
	require.NoError(r.t, err)
	return task
}

func TestPlan_ShownAndApproved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/plan"), "What would you like to get done?")
	require.Equal(t, "[👀]", r.asOwner("/plan sell the piano"))
	require.Equal(t, []string{"sell the piano"}, r.agent.goals)
	require.Contains(t, r.asOperator("/plan sell it"), "Only the owner can use")

	plan := r.showPlan("sell the piano")
	require.Contains(t, r.lastSent().Body, "1. Do it")
	require.Contains(t, r.lastSent().Body, "reply with what should change. Open until")
	event := r.lastSent().Event
	require.Equal(t, "I begin.", r.react(event, "👍"))
	a, err := store.ApprovalOf(r.ctx, r.st.DB(), plan.ID, store.PlanCall)
	require.NoError(t, err)
	require.True(t, *a.Allowed)
	require.Equal(t, event, r.task(plan.ID).ProgressEvent, "from then on it shows how far it is")
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'task'"))
	require.Contains(t, r.handle(store.Message{Body: "with less noise", RelatesTo: event})[0].Body, "That plan is under way, or over.")
	r.react(event, "❌")
	require.Equal(t, "you asked me to", r.task(plan.ID).StopReason)

	dropped := r.showPlan("buy a piano")
	require.Empty(t, r.asOwner("no"))
	a, err = store.ApprovalOf(r.ctx, r.st.DB(), dropped.ID, store.PlanCall)
	require.NoError(t, err)
	require.False(t, *a.Allowed)
}

func TestPlan_ReplyRevises(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	plan := r.showPlan("sell the piano")
	event := r.lastSent().Event
	require.Equal(t, "[👀]", bodies(r.handle(store.Message{Body: "ask Ben first", RelatesTo: event})))
	require.Equal(t, "sell the piano\nask Ben first", r.task(plan.ID).Input)
	require.Equal(t, 1, r.count(fmt.Sprintf("select count(*) from river.river_job where kind = 'task' and args->>'task' = '%d'", plan.ID)))
	require.Contains(t, r.react(event, "👍"), "That question is closed.", "the plan that was shown is not the one that is made")
	require.Contains(t, bodies(r.handle(store.Message{Body: "and Eva", RelatesTo: event})), "under way, or over")

	replied := r.showPlan("rent a piano")
	require.Equal(t, "I begin.", bodies(r.handle(store.Message{Body: "yes", RelatesTo: r.lastSent().Event})))
	require.Equal(t, 1, r.count("select count(*) from approvals where task_id = $1 and allowed", replied.ID))

	late := r.showPlan("tune a piano")
	r.exec("update approvals set expires_at = $2 where task_id = $1", late.ID, r.now.Add(-time.Second)) // the question was shown late
	require.Equal(t, "That plan is no longer open, so I do not begin it. `/plan` makes another one.",
		bodies(r.handle(store.Message{Body: "yes", RelatesTo: r.lastSent().Event})))

	other := r.showPlan("buy a piano")
	event = r.lastSent().Event
	r.now = r.now.Add(16 * time.Minute)
	require.Equal(t, "[👀]", bodies(r.handle(store.Message{Body: "too late", RelatesTo: event})))
	require.Equal(t, "buy a piano", r.task(other.ID).Input)
}
