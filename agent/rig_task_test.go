package agent

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/skills"
	"multis/jobs"
	"multis/store"
)

// question stores a question of the owner's and makes the first attempt at it. It returns the task.
func (b *fixture) question(text string) store.Task {
	b.t.Helper()
	m := b.storeQuestion(text)
	require.NoError(b.t, b.agent.Questions.Ask(b.t.Context(), b.admin, m, m.Body))
	task, _ := b.task()
	return task
}

// plan has a goal planned and returns its task.
func (b *fixture) plan(goal string) store.Task {
	b.t.Helper()
	ctx := context.Background()
	m := b.storeQuestion("/plan " + goal)
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error { return b.agent.Plans.Plan(ctx, tx, b.admin, m, goal) }))
	task, _ := b.task()
	b.resume(task.ID)
	return b.taskByID(task.ID)
}

func (b *fixture) task() (store.Task, []store.Step) {
	b.t.Helper()
	var row store.TaskID
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(), "select max(id) from tasks").Scan(&row))
	task, err := store.TaskByID(context.Background(), b.store.DB(), row)
	require.NoError(b.t, err)
	steps, err := store.Steps(context.Background(), b.store.DB(), row)
	require.NoError(b.t, err)
	return task, steps
}

func (b *fixture) taskByID(task store.TaskID) store.Task {
	b.t.Helper()
	t, err := store.TaskByID(context.Background(), b.store.DB(), task)
	require.NoError(b.t, err)
	return t
}

// children are the tasks that others wait for, the oldest first.
func (b *fixture) children() (all []store.Task) {
	b.t.Helper()
	rows, err := b.store.DB().Query(context.Background(), "select id from tasks where parent_id is not null order by id")
	require.NoError(b.t, err)
	var ids []int64
	for rows.Next() {
		var row int64
		require.NoError(b.t, rows.Scan(&row))
		ids = append(ids, row)
	}
	require.NoError(b.t, rows.Err())
	for _, row := range ids {
		task, err := store.TaskByID(context.Background(), b.store.DB(), store.TaskID(row))
		require.NoError(b.t, err)
		all = append(all, task)
	}
	return all
}

// begin begins a saved task and works on it, or finds what stands against it.
func (b *fixture) begin(s skills.SavedTask, problem string) store.Task {
	b.t.Helper()
	ctx, m := context.Background(), b.storeQuestion("/run week")
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		found, err := b.agent.Questions.StartSavedTask(ctx, tx, b.admin, m, s)
		require.Equal(b.t, problem, found)
		return err
	}))
	if problem != "" {
		return store.Task{}
	}
	task, _ := b.task()
	b.resume(task.ID)
	b.resume(task.ID)
	return b.taskByID(task.ID)
}

func (b *fixture) resume(task store.TaskID) {
	b.t.Helper()
	require.NoError(b.t, b.agent.Tasks.Resume(context.Background(), task, false))
}

// runSchedule inserts a schedule and starts a run of it. It returns the run.
func (b *fixture) runSchedule(s store.Schedule) store.ExecutionID { return b.runLateSchedule(s, 0) }

// runLateSchedule is runSchedule with a run that was due some time ago.
func (b *fixture) runLateSchedule(s store.Schedule, late time.Duration) store.ExecutionID {
	b.t.Helper()
	var run store.ExecutionID
	require.NoError(b.t, b.store.InTx(b.t.Context(), func(tx store.Tx) (err error) {
		if s.ID, err = store.NextScheduleID(b.t.Context(), tx); err != nil {
			return err
		}
		s.Kind = "at"
		s.Zone = "UTC"
		s.Action = store.ActionAsk
		s.CatchUp = store.CatchOnce
		s.CreatedBy = "@you:x"
		if err := store.InsertSchedule(b.t.Context(), tx, s); err != nil {
			return err
		}
		run, _, err = store.StartExecution(b.t.Context(), tx, s.ID, time.Now().Add(-late), time.Now())
		return err
	}))
	return run
}

// openCard returns the calls on the card that waits for the owner.
func (b *fixture) openCard() []store.Approval {
	b.t.Helper()
	var card int64
	require.NoError(b.t, b.store.DB().QueryRow(b.t.Context(),
		"select coalesce(max(coalesce(card, id)), 0) from approvals where allowed is null").Scan(&card))
	require.NotZero(b.t, card, "nothing is asked")
	calls, err := store.ApprovalsOnCard(b.t.Context(), b.store.DB(), card)
	require.NoError(b.t, err)
	return calls
}

// decideCard decides about the card that waits, and returns the result.
func (b *fixture) decideCard(d jobs.CardDecision) jobs.DecidedCard {
	b.t.Helper()
	var result jobs.DecidedCard
	card := b.openCard()[0].ID
	require.NoError(b.t, b.store.InTx(b.t.Context(), func(tx store.Tx) error {
		decided, ok, err := jobs.DecideCard(b.t.Context(), tx, card, d, b.agent.now())
		require.True(b.t, ok)
		result = decided
		return err
	}))
	return result
}

func (b *fixture) decideApproval(a store.Approval, allowed bool) {
	b.t.Helper()
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		_, err := store.DecideApproval(context.Background(), tx, a.ID, store.ApprovalDecision{Allowed: allowed}, time.Now())
		return err
	}))
}

// answerPlan has the owner allow or refuse a plan, and resumes it.
func (b *fixture) answerPlan(plan store.Task, allowed bool) {
	b.t.Helper()
	ctx := context.Background()
	a, err := store.ApprovalOf(ctx, b.store.DB(), plan.ID, store.PlanCall)
	require.NoError(b.t, err)
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.DecideApproval(ctx, tx, a.ID, store.ApprovalDecision{Allowed: allowed}, b.agent.now())
		return err
	}))
	b.resume(plan.ID)
}

// allow gives the owner's yes to the only approval of a task, and resumes it.
func (b *fixture) allow(task store.Task) {
	b.t.Helper()
	var call string
	require.NoError(b.t, b.store.DB().QueryRow(b.t.Context(), "select call_id from approvals where task_id = $1", task.ID).Scan(&call))
	a, err := store.ApprovalOf(b.t.Context(), b.store.DB(), task.ID, call)
	require.NoError(b.t, err)
	b.decideApproval(a, true)
	b.resume(task.ID)
}

func (b *fixture) granted() store.GrantUse {
	b.t.Helper()
	use, err := store.CountGranted(b.t.Context(), b.store.DB(), time.Now().Add(-time.Hour), time.Time{})
	require.NoError(b.t, err)
	return use
}
