package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/store"
)

// newPlanner returns a fixture whose model plans in the given words, and does each step as do says.
func newPlanner(t *testing.T, plan string, do llmtest.Script) (*fixture, *llmtest.Server) {
	t.Helper()
	model, server := scripted(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.System, "Break the goal into") {
			return llmtest.Reply{Text: plan}
		}
		return do(ctx, r)
	})
	b := setup(t, model)
	b.setTools()
	return b, server
}

const twoSteps = `{"steps": [{"text": "Look up what a grand piano costs"}, {"text": "Say whether **120** euro is enough"}]}`

func TestPlan_RunsAfterApproval(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server := newPlanner(t, twoSteps, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "Your step: Look up") {
			return llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")}
		}
		return llmtest.Reply{Text: answerJSON("It is enough.", 0, "")}
	})
	b.agent.fence = func() string { return "=== FENCE" }
	plan := b.plan("tune the grand piano for 120 euro")
	require.Equal(t, store.TaskWaiting, plan.State)
	require.Empty(t, b.queuedTexts(b.admin), "the admin room asks, by a job of its own")
	require.Equal(t, 1, b.jobs("approval"))
	steps := b.children()
	require.Len(t, steps, 2)
	require.Equal(t, store.TaskPending, steps[0].State)
	a, err := store.ApprovalOf(ctx, b.store.DB(), plan.ID, store.PlanCall)
	require.NoError(t, err)
	require.Contains(t, a.Arguments, `2. Say whether \*\*120\*\* euro is enough`)
	b.resume(plan.ID)
	require.Zero(t, b.jobs("subtask"), "nothing is done before he agrees")

	b.answerPlan(plan, true)
	require.Equal(t, 1, b.jobs("subtask"))
	b.resume(plan.ID) // a second process, or the one after a crash
	require.Equal(t, 1, b.jobs("subtask"))
	require.Equal(t, store.TaskWaiting, b.taskByID(plan.ID).State)
	b.resume(steps[0].ID)
	b.resume(steps[0].ID)
	b.resume(plan.ID)
	require.Equal(t, 2, b.jobs("subtask"))
	require.Equal(t, store.TaskPending, steps[1].State)
	b.resume(steps[1].ID)
	b.resume(plan.ID)
	b.resume(plan.ID)
	require.Equal(t, store.TaskCompleted, b.taskByID(plan.ID).State)
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "A grand piano costs 120 euro. [prices.md › Pianos")
	require.Contains(t, said[0], "It is enough.")

	requests := server.Requests()
	require.Len(t, requests, 3, "each is asked once")
	require.Empty(t, requests[0].Tools, "planning does nothing")
	requireGolden(t, "plan.txt", requestText(requests[0]))
	requireGolden(t, "step.txt", requestText(requests[2]))
	for _, task := range []store.TaskID{plan.ID, steps[0].ID, steps[1].ID} {
		p, err := b.agent.Replays.Replay(ctx, task, nil)
		require.NoError(t, err)
		require.Empty(t, p.Difference+p.Incomplete)
	}
}

func TestPlan_EndsWithFailedStep(t *testing.T) {
	t.Parallel()
	b, server := newPlanner(t, `{"steps": [{"text": "one"}, {"text": "two"}, {"text": "three"}]}`,
		func(_ context.Context, r llmtest.Request) llmtest.Reply {
			if strings.Contains(r.Last(), "Your step: two") {
				return llmtest.Reply{Status: 400}
			}
			return llmtest.Reply{Text: answerJSON("One is done.", 0, "")}
		})
	plan := b.plan("count")
	b.answerPlan(plan, true)
	for _, step := range b.children()[:2] {
		require.NoError(t, b.agent.Tasks.Resume(context.Background(), step.ID, true))
		b.resume(plan.ID)
	}
	require.Equal(t, store.TaskFailed, b.taskByID(plan.ID).State)
	require.Equal(t, store.TaskKilled, b.children()[2].State)
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "One is done.")
	require.Contains(t, said[0], "step 2 did not work out")
	require.Len(t, server.Requests(), 3)
}

func TestPlan_StuckCancelsSteps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _ := newPlanner(t, twoSteps, llmtest.Say(answerJSON("Done.", 0, "")))
	plan := b.plan("count")
	_, err := b.store.Pool().Exec(ctx, "update tasks set request = '[]' where id = $1", plan.ID)
	require.NoError(t, err)
	_, err = b.store.Pool().Exec(ctx, "update approvals set allowed = true where task_id = $1", plan.ID)
	require.NoError(t, err)
	require.Error(t, b.agent.Tasks.Resume(ctx, plan.ID, false), "another attempt may mend it")
	require.NoError(t, b.agent.Tasks.Resume(ctx, plan.ID, true))
	require.Equal(t, store.TaskFailed, b.taskByID(plan.ID).State)
	for _, step := range b.children() {
		require.Equal(t, store.TaskKilled, step.State)
	}
	require.Contains(t, b.queuedTexts(b.admin)[0], "did not work out")
}

func TestPlan_RefusedIsNotRun(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server := newPlanner(t, twoSteps, llmtest.Say(answerJSON("Done.", 0, "")))
	refused := b.plan("one thing")
	b.answerPlan(refused, false)
	require.Equal(t, store.TaskKilled, b.taskByID(refused.ID).State)

	late := b.plan("another thing")
	now := b.agent.now
	b.agent.now = func() time.Time { return now().Add(16 * time.Minute) }
	b.resume(late.ID)
	require.Equal(t, store.TaskKilled, b.taskByID(late.ID).State)
	b.agent.now = now

	stopped := b.plan("a third thing")
	b.answerPlan(stopped, true)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.StopTask(ctx, tx, stopped.ID, "you asked me to")
		return err
	}))
	b.resume(stopped.ID)
	all := b.children()
	b.resume(all[4].ID)
	for _, step := range b.children() {
		require.Equal(t, store.TaskKilled, step.State, step.Input)
	}
	said := strings.Join(b.queuedTexts(b.admin), "\n")
	require.Contains(t, said, "another thing** is not done: nobody agreed to it in 15 minutes.")
	require.Contains(t, said, "a third thing** is not done: you asked me to.")
	require.Len(t, server.Requests(), 3, "no step asked its model")

	b.agent.personas.Model, _ = scripted(t, llmtest.Say("I would rather not."))
	vague := b.plan("something")
	require.Equal(t, store.TaskFailed, b.taskByID(vague.ID).State)
	require.Contains(t, strings.Join(b.queuedTexts(b.admin), "\n"), "Say it in other words")
}

func TestPlan_IsRevised(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server := newPlanner(t, twoSteps, llmtest.Say(answerJSON("Done.", 0, "")))
	plan := b.plan("tune the piano")
	wish := b.storeQuestion("without the second step")
	revise := func() error {
		return b.store.InTx(ctx, func(tx store.Tx) error {
			return store.RevisePlan(ctx, tx, plan.ID, wish.ID, wish.Body, b.agent.now())
		})
	}
	require.NoError(t, revise())
	b.resume(plan.ID)
	require.Len(t, b.children(), 2, "they took the place of the others")
	again := server.Requests()[1].Last()
	require.Contains(t, again, "work so far\n1. Look up what a grand piano costs\n2. Say whether")
	require.Contains(t, again, "tune the piano\nwithout the second step")
	require.Contains(t, b.taskByID(plan.ID).Sources, wish.ID)
	b.answerPlan(plan, true)
	require.ErrorIs(t, revise(), store.ErrPlanStarted, "it is under way")
	require.Equal(t, 1, b.jobs("subtask"))
}

func TestPlan_DeletedWithItsMessage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _ := newPlanner(t, twoSteps, llmtest.Say(answerJSON("Done.", 0, "")))
	plan := b.plan("sell the flowerpot")
	b.answerPlan(plan, true)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, b.admin.ID, b.messageByID(*plan.MessageID).EventID, time.Now())
		return err
	}))
	b.resume(b.children()[0].ID)
	b.resume(plan.ID)
	require.Equal(t, store.TaskKilled, b.taskByID(plan.ID).State)
	var all string
	require.NoError(t, b.store.DB().QueryRow(ctx,
		"select coalesce(string_agg(t::text, ' '), '') || (select coalesce(string_agg(a::text, ' '), '') from approvals a) from tasks t").Scan(&all))
	require.NotContains(t, all, "flowerpot")
	require.NotContains(t, all, "grand piano")
}

func TestPlan_StepNeedsApprovalAsAgent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, server := newPlanner(t, `{"steps": [{"text": "Switch it on", "agent": "shop"}, {"text": "Say so", "agent": "nobody"}]}`,
		inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: answerJSON("It is on.", 0, "")}))
	b.agent.personas.All = []persona.Persona{
		{ID: "main", Default: true, Delegates: []string{"shop"}},
		{ID: "shop", Capabilities: []string{"lamps"}},
		{ID: "zebra"},
	}
	l := &countingTool{tier: tools.Confirm}
	b.setTools(l)
	plan := b.plan("light")
	require.Contains(t, server.Requests()[0].System, "There are: shop (lamps).")
	require.NotContains(t, server.Requests()[0].System, "zebra")
	b.answerPlan(plan, true)
	steps := b.children()
	require.Equal(t, []string{"shop", "main"}, []string{steps[0].Agent, steps[1].Agent})
	b.resume(steps[0].ID)
	require.Zero(t, l.lit.Load())
	var asked int64
	require.NoError(t, b.store.DB().QueryRow(ctx, "select id from approvals where task_id = $1", steps[0].ID).Scan(&asked))
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.DecideApproval(ctx, tx, asked, store.ApprovalDecision{Allowed: true}, time.Now())
		return err
	}))
	b.resume(steps[0].ID)
	b.resume(plan.ID)
	require.EqualValues(t, 1, l.lit.Load())
	require.Equal(t, store.TaskCompleted, b.children()[0].State)
	require.Equal(t, 2, b.jobs("subtask"))
}

func TestPlan_StepIsAsShown(t *testing.T) {
	t.Parallel()
	p, err := parseProposal(`{"steps": [{"text": "Write\n to  \u202eBen\u200b"}]}`)
	require.NoError(t, err)
	require.Equal(t, "Write to Ben", p.Steps[0].Text)
}
