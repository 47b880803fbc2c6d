package admin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/clock"
	"multis/jobs"
	"multis/store"
)

func TestHeartbeat_KeepsHours(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.heartbeats = []clock.Heartbeat{{Cron: "*/30 7,8,9 * * *"}, {Agent: "shop", Cron: "0 22 * * *"}}
	r.restart()
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	require.Empty(t, r.runUntil(7*24*time.Hour), "it says nothing by itself")
	require.Equal(t, 7*6+7, r.agent.heartbeats)
	require.Equal(t, 49, r.count("select count(*) from schedule_executions where state = 'done'"))
	require.Zero(t,
		r.count("select count(*) from schedule_executions where extract(hour from due_at at time zone 'Europe/Berlin') not in (7, 8, 9, 22)"))
	require.Contains(t, r.asOwner("/jobs upkeep"),
		"**heartbeat** — looks whether something needs you · last Fri 27 Nov, 09:30: done, looked as nobody in particular · next Sat 28 Nov, 07:00")
	require.Contains(t, r.asOwner("/jobs upkeep run heartbeat shop"), "Done now: Upkeep heartbeat shop.")
	r.runExecutions()
	require.Equal(t, 50, r.agent.heartbeats)

	r.heartbeats = r.heartbeats[:1] // no longer configured
	r.restart()
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.NotContains(t, r.asOwner("/jobs upkeep"), "heartbeat shop")
}

func TestHeartbeat_ThirdFailureStops(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.heartbeats = []clock.Heartbeat{{Cron: "0 * * * *"}}
	r.restart()
	require.NoError(t, r.clock.Prepare(r.ctx))
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	r.agent.err = jobs.Permanent(errors.New("the model is away"))
	require.Empty(t, r.runUntil(2*time.Hour), "two failures are no news")
	require.Equal(t,
		"⚠️ **I stopped looking around by myself**: it failed 3 times in a row, the last time because the model is away. `/jobs 1 resume` starts it again.", bodies(r.runUntil(24*time.Hour)))
	require.Equal(t, 3, r.agent.heartbeats, "and costs nothing from then on")
	require.NoError(t, r.clock.Prepare(r.ctx), "a restart does not start it again")
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	require.Empty(t, r.runUntil(24*time.Hour))
	require.Contains(t, r.asOwner("/jobs upkeep"), "⚠️ stopped: `/jobs 1 resume`")
	require.Contains(t, r.asOwner("/jobs 1 resume"), "Job 1 continues")
	require.Empty(t, r.runUntil(time.Hour), "one failure after that is one, not the fourth")
	r.agent.err = nil
	require.Empty(t, r.runUntil(3*time.Hour))
	require.Equal(t, 7, r.agent.heartbeats)
	require.Equal(t, 4, r.count("select count(*) from schedule_executions where state = 'failed'"))
}

func TestScheduledTask_KeepsSessionAndTools(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.tools = []tools.Spec{{Name: "search_docs"}, {Name: "fetch_url"}}
	require.Contains(t, r.asOwner("/cron --agent every day 9am sum up the mail"), "Set.")
	require.Contains(t, r.asOwner("/remind --agent --session main 2h go on with it"), "Set.")
	r.tools = append(r.tools, tools.Spec{Name: "exec"})
	s, err := store.ScheduleByID(r.ctx, r.st.DB(), 1)
	require.NoError(t, err)
	require.Equal(t, []string{"search_docs", "fetch_url"}, s.Tools)
	require.Equal(t, store.SessionIsolated, s.Session)
	s, err = store.ScheduleByID(r.ctx, r.st.DB(), 2)
	require.NoError(t, err)
	require.Equal(t, store.SessionMain, s.Session)
	require.Contains(t, r.asOwner("/remind --session main 2h x"), "goes with `--agent`")
	require.Contains(t, r.asOwner("/remind --agent --session both 2h x"), "goes with `--agent`")
	require.Contains(t, r.asOwner("/remind --tell 2h x"), "go with `--to`")
}

func TestExecution_UndeliveredMessageFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	require.Contains(t, r.asOwner("/remind 1h --to Ana --tell are you there?"), "Set.")
	require.Contains(t, r.asOwner("/remind 2h --to Ana --best-effort are you sure?"), "Set.")
	came := r.runUntil(time.Hour)
	require.Len(t, came, 2)
	require.Contains(t, bodies(came), "✉️ To **Ana · WhatsApp** goes: “are you there?”")
	r.runUntil(time.Hour)
	require.Equal(t, 2, r.count("select count(*) from schedule_executions where state = 'done'"))
	for n := range 2 {
		run, err := store.ExecutionsOf(r.ctx, r.st.DB(), store.ScheduleID(n+1), 1)
		require.NoError(t, err)
		r.exec("update outbox set state = 'failed', error = 'logged out' where id = $1", *run[0].OutboxID)
		require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, *run[0].OutboxID))
		require.Len(t, r.sendQueued(), 1, "told once")
	}
	require.Equal(t, "failed", r.lastExecutionState(1))
	require.Equal(t, "done", r.lastExecutionState(2))
	require.Contains(t, r.asOwner("/jobs 1 history"), "failed, logged out")
}

// lastExecutionState returns how the last execution of a schedule ended.
func (r *rig) lastExecutionState(job store.ScheduleID) string {
	r.t.Helper()
	runs, err := store.ExecutionsOf(r.ctx, r.st.DB(), job, 1)
	require.NoError(r.t, err)
	return string(runs[0].State)
}

func TestExecution_TimeoutEndsTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/remind --agent 1h sum up the day")
	r.exec(`insert into tasks (key, kind, chat_id, agent, model, input, state, execution_id) values ('execution:1', 'schedule', $1, '', 'm', 'x', 'running', 1)`, r.room.ID)
	r.now = r.now.Add(time.Hour)
	require.NoError(t, r.clock.Tick(r.ctx, 1, r.now))
	r.agent.err = errors.New("the model is away")
	require.Error(t, r.clock.Execute(r.ctx, 1, false))
	run, err := store.ExecutionByID(r.ctx, r.st.DB(), 1)
	require.NoError(t, err)
	require.Positive(t, run.Worked)
	r.exec("update schedule_executions set worked = '299.9 s'") // by the attempts before
	r.agent.blocks = true
	require.NoError(t, r.clock.Execute(r.ctx, 1, false), "no attempt follows: its time is over")
	require.Contains(t, bodies(r.sendQueued()), "did not work**: it took longer than 5 min.")
	require.Equal(t, "failed", r.lastExecutionState(1))
	require.Equal(t, 1, r.count("select count(*) from tasks where state = 'failed' and finished_at is not null"))
}
