package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/store"
	"multis/store/storetest"
)

// askingRegistry has a lamp that needs the owner's approval.
func askingRegistry(switchURL string) *tools.Registry {
	return tools.NewRegistry(tools.TierPolicy{}, newRemoteTool(tools.Confirm, switchURL))
}

// killedAfterApproval approves a call, resumes its task in a process that dies at a moment, has another one go on, and
// tells which moment it was; empty when the process came to its end first. Of an unattended call the task is the one that
// continues it.
func killedAfterApproval(t *testing.T, at int, unattended bool) (moment string) {
	t.Helper()
	v := storetest.NewFaultInjector(at)
	var lit atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		lit.Add(1)
		v.Reach("after the effect")
	}))
	t.Cleanup(far.Close)
	model, server := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		switch last := r.Last(); {
		case strings.Contains(last, "The lamp is on."):
			v.Reach("while the model thinks")
			return llmtest.Reply{Text: answerJSON("It is on.", 0, "")}
		case strings.Contains(last, "Nobody knows whether"):
			return llmtest.Reply{Text: answerJSON("I cannot tell.", 0, "")}
		case strings.Contains(last, "may answer later"):
			return llmtest.Reply{Text: answerJSON("The lamp is left to do.", 0, "")}
		default:
			return calls("lamp", map[string]bool{"on": true})
		}
	})
	b := setup(t, model)
	b.agent.tools = askingRegistry(far.URL)
	var task store.TaskID
	before := 0
	if unattended {
		run := b.runSchedule(store.Schedule{Body: "light", Session: store.SessionIsolated, Tools: []string{"lamp"}})
		require.NoError(t, b.agent.Questions.AnswerScheduled(t.Context(), b.admin, run, "light"))
		task, before = b.decideCard(yesToAll).Continued, 1
	} else {
		task = b.question("light, please").ID
		b.decideCard(yesToAll)
	}

	moment = v.Run(t, b.store, killDatabase, killModel+"="+server.URL, killLamp+"="+far.URL, fmt.Sprintf("%s=%d", killTask, task))

	next, err := newKillAgent(b.store, server.URL, far.URL)
	require.NoError(t, err)
	next.tools = askingRegistry(far.URL)
	for again := true; again; { // as the queue would
		err := next.Tasks.Resume(t.Context(), task, false)
		again = err != nil
		if err != nil {
			var pg interface{ SQLState() string } // the dead process' connection may still hold a row for a moment
			require.ErrorAs(t, err, &pg, moment)
		}
	}
	require.LessOrEqual(t, lit.Load(), int32(1), moment)
	said := b.queuedTexts(b.admin)
	require.Len(t, said, before+1, moment)
	unknown := strings.Contains(said[before], "whether it was done I don't know")
	require.True(t, unknown || (lit.Load() == 1 && strings.Contains(said[before], "It is on.")), "%s: lit %d times, and said was %q", moment,
		lit.Load(), said[before])
	require.Equal(t, store.TaskCompleted, b.taskByID(task).State, moment)
	return moment
}

func TestApproval_KillActsAtMostOnce(t *testing.T) {
	t.Parallel()
	for name, unattended := range map[string]bool{"attended": false, "continued": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const most = 100
			var moments []string
			for at := 1; at <= most; at++ {
				moment := killedAfterApproval(t, at, unattended)
				if moment == "" {
					break
				}
				moments = append(moments, moment)
			}
			t.Logf("killed at %d moments:\n%s", len(moments), strings.Join(moments, "\n"))
			all := strings.Join(moments, "\n")
			for _, want := range []string{
				"before update approvals", "after update approvals", "before insert into task_steps",
				"after insert into task_steps", "after the effect", "before update task_steps", "before commit", "after commit",
			} {
				require.Contains(t, all, want)
			}
			require.Less(t, len(moments), most)
		})
	}
}
