package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

// callLampThen returns a script that calls the tool lamp, and goes on with another script once the lamp is on.
func callLampThen(then llmtest.Script) llmtest.Script {
	return func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		if !strings.Contains(r.Last(), "The lamp is on.") {
			return calls("lamp", map[string]bool{"on": true})
		}
		return then(ctx, r)
	}
}

func TestTask_UnfinishedReportsEffects(t *testing.T) {
	t.Parallel()
	const told = "Done before that: switched the lamp."
	broken := func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Status: 400} }
	for name, c := range map[string]struct {
		then llmtest.Script
		says string
	}{
		"the model is gone": {broken, "The model did not answer"},
		"it goes in circles": {func(context.Context, llmtest.Request) llmtest.Reply {
			return calls("search_docs", map[string]string{"query": "x"})
		}, "got no further"},
		"it comes to a proper end":  {llmtest.Say(answerJSON("The light is on.", 0, "")), "The light is on."},
		"it has nothing to say now": {llmtest.Say(""), "The model gave no answer."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := 0
			model, _ := scripted(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
				if turn++; turn == 1 {
					return calls("lamp", map[string]bool{"on": true})
				}
				return c.then(ctx, r)
			})
			b := setup(t, model)
			b.setTools(&countingTool{tier: tools.Read})
			said := b.ask("light, please")
			require.Contains(t, said, c.says)
			task, _ := b.task()
			require.Equal(t, task.State != store.TaskCompleted, strings.Contains(said, told), said)
		})
	}
}

func TestBudget_CapReportsEffects(t *testing.T) {
	t.Parallel()
	for limit, want := range map[policy.Cap]string{
		policy.CapDay: "**💶 openai/test: today's budget is used up. I answer from documents only until midnight.** I found nothing about that in your documents or chats.\n\nDone before that: switched the lamp.",
		policy.CapRun: "**💶 openai/test: the budget of this task is used up.** I found nothing about that in your documents or chats.\n\nDone before that: switched the lamp.",
	} {
		p := &fakeLedger{}
		model, _ := paidBy(t, p, callLampThen(llmtest.Say("never")))
		b := setup(t, model)
		b.setTools(&countingTool{tier: tools.Read, do: func(context.Context) error { p.refuse = limit; return nil }})
		require.Equal(t, want, b.ask("light, please"))
	}
}

// newFailingTool returns a tool that can be called once; then it fails with the error.
func newFailingTool() (*countingTool, error) {
	gone := errors.New("the disk is gone")
	l := &countingTool{tier: tools.Read}
	l.do = func(context.Context) error {
		if l.lit.Load() == 1 {
			return nil
		}
		return gone
	}
	return l, gone
}

func TestFailedTask_ReportsEffects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, _ := scripted(t, callLampThen(func(context.Context, llmtest.Request) llmtest.Reply {
		return calls("lamp", map[string]bool{"on": false})
	}))
	b := setup(t, model)
	l, gone := newFailingTool()
	b.setTools(l)
	m := b.storeQuestion("light, please")
	require.ErrorIs(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body), gone)
	task, _ := b.task()
	b.agent.personas.Model = llm.None{}
	_, err := b.store.Pool().Exec(ctx, "update tasks set request = '[]' where id = $1", task.ID)
	require.NoError(t, err)
	require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, true))
	require.Contains(t, b.queuedTexts(b.admin)[0],
		"did not work out.** The log says why; then ask again.\n\nDone before that: switched the lamp. ⚠️ lamp was under way: whether it was done I don't know.")
}

func TestTask_GivenUpNotifiesWaiting(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	l, gone := newFailingTool()
	b, _, _ := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question to answer") {
			return calls("delegate", map[string]string{"agent": "shop", "task": "Switch the light on."})
		}
		return llmtest.Reply{Text: answerJSON("It did not work out.", 0, "")}
	}, callLampThen(func(context.Context, llmtest.Request) llmtest.Reply {
		return calls("lamp", map[string]bool{"on": false})
	}))
	b.setTools(tools.Delegate{}, l)
	m := b.storeQuestion("have the light switched on")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	child := b.children()[0]
	require.ErrorIs(t, b.agent.Tasks.Resume(ctx, child.ID, false), gone)
	waiting := b.jobs("task")
	for range 2 { // the second time there is nothing to do
		require.NoError(t, b.agent.Tasks.GiveUp(ctx, child.ID))
	}
	require.Equal(t, waiting+1, b.jobs("task"), "who had it work goes on")
	child = b.children()[0]
	require.Equal(t, store.TaskFailed, child.State)
	require.Contains(t, child.Error,
		"multis ended while it was at it. Done before that: switched the lamp. ⚠️ lamp was under way: whether it was done I don't know.")

	for range 2 {
		require.NoError(t, b.agent.Tasks.GiveUp(ctx, *child.ParentID))
	}
	require.Equal(t, store.TaskFailed, b.taskByID(*child.ParentID).State)
	require.Len(t, b.queuedTexts(b.admin), 1)
	require.Contains(t, b.queuedTexts(b.admin)[0], "did not work out.** The log says why; then ask again.")
}

func TestDelegate_FailureReportsEffects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _, _ := newTeam(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "question to answer") {
			return calls("delegate", map[string]string{"agent": "shop", "task": "Switch the light on."})
		}
		return llmtest.Reply{Text: answerJSON("It did not work out.", 0, "")}
	}, callLampThen(func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Status: 400} }))
	b.setTools(tools.Delegate{}, &countingTool{tier: tools.Read})
	m := b.storeQuestion("have the light switched on")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	child := b.children()[0]
	require.NoError(t, b.agent.Tasks.Resume(ctx, child.ID, false))
	child = b.children()[0]
	require.Equal(t, store.TaskFailed, child.State)
	require.Equal(t, "it did not work out. Done before that: switched the lamp.", child.Error)

	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.StopTask(ctx, tx, *child.ParentID, "you asked me to")
		return err
	}))
	require.NoError(t, b.agent.Tasks.Resume(ctx, *child.ParentID, false))
	require.Contains(t, b.queuedTexts(b.admin)[0], "Stopped: you asked me to.\n\nDone before that: switched the lamp.")
}

func TestPlan_BrokenOffReportsEffects(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _ := newPlanner(t, twoSteps, callLampThen(func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Status: 400}
	}))
	b.setTools(&countingTool{tier: tools.Read})
	plan := b.plan("light the shop")
	b.answerPlan(plan, true)
	require.NoError(t, b.agent.Tasks.Resume(ctx, b.children()[0].ID, false))
	b.resume(plan.ID)
	said := strings.Join(b.queuedTexts(b.admin), "\n")
	require.Contains(t, said, "is not done: step 1 did not work out: it did not work out.\n\nDone before that: switched the lamp.")
	require.Equal(t, 1, strings.Count(said, "switched the lamp"))
}
