package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestGrant_DoesNotAnswerHook(t *testing.T) {
	t.Parallel()
	post := llmtest.Call{Name: "post", Args: `{"site":"a.example"}`}
	model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "result of") {
			return llmtest.Reply{Text: answerJSON("Done with it.", 0, "")}
		}
		return llmtest.Reply{Calls: []llmtest.Call{post}}
	})
	b := setup(t, model)
	p := &sendingTool{countingTool: countingTool{tier: tools.Confirm}, name: "post"}
	b.setTools(p)
	decision := policy.HookAllow
	b.agent.tools.SetBeforeCall(func(context.Context, tools.Spec, tools.Call) (policy.HookVerdict, error) {
		return policy.HookVerdict{Decision: decision, Why: "The hook asks."}, nil
	})
	task := b.question("post it")
	require.True(t, b.openCard()[0].Grantable)
	hour := yesToAll
	hour.Grant = time.Hour
	require.Len(t, b.decideCard(hour).Grants, 1)
	b.resume(task.ID)
	require.EqualValues(t, 1, p.lit.Load())
	task = b.question("post it again")
	require.Equal(t, store.TaskCompleted, b.taskByID(task.ID).State)
	require.EqualValues(t, 2, p.lit.Load(), "the grant allows it")

	decision = policy.HookAsk
	task = b.question("and again")
	require.Equal(t, store.TaskWaiting, b.taskByID(task.ID).State)
	require.False(t, b.openCard()[0].Grantable, "nor is a grant offered")
	require.EqualValues(t, 2, p.lit.Load())
	b.decideCard(yesToAll)
	b.resume(task.ID)
	require.EqualValues(t, 3, p.lit.Load())
}

func TestApproval_RefusesArgumentsOver16KB(t *testing.T) {
	t.Parallel()
	long := false
	model, server := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "result of") {
			return llmtest.Reply{Text: answerJSON("Done with it.", 0, "")}
		}
		n := 10_000
		if long {
			n = 16 << 10
		}
		return llmtest.Reply{Calls: []llmtest.Call{{Name: "post", Args: `{"text":"` + strings.Repeat("x", n) + `"}`}}}
	})
	b := setup(t, model)
	b.setTools(&sendingTool{countingTool: countingTool{tier: tools.Confirm}, name: "post"})
	task := b.question("post it")
	require.Equal(t, store.TaskWaiting, b.taskByID(task.ID).State)
	b.decideCard(noToAll)
	b.resume(task.ID)
	long = true
	task = b.question("post more")
	require.Equal(t, store.TaskCompleted, b.taskByID(task.ID).State)
	requests := server.Requests()
	require.Contains(t, requests[len(requests)-1].Last(), "The arguments are longer than 16 KB")
	require.Zero(t, b.count("select count(*) from approvals where task_id = $1", task.ID))
}
