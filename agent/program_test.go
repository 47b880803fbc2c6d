package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/store"
)

// fakeProgram is an external agent.
type fakeProgram struct {
	tasks   []string
	version string
	work    func(ctx context.Context, task string) (string, error)
}

func (p *fakeProgram) Argv() []string                              { return []string{"coder", "-p"} }
func (p *fakeProgram) Fingerprint(context.Context) (string, error) { return p.version, nil }
func (p *fakeProgram) Work(ctx context.Context, task string) (string, error) {
	p.tasks = append(p.tasks, task)
	if p.work == nil {
		return "The bug is in line 7.", nil
	}
	return p.work(ctx, task)
}

// withProgram is a fixture whose model gives work to a program, and then says what came of it.
func withProgram(t *testing.T, first llmtest.Reply) (*fixture, *fakeProgram, *llmtest.Server, store.Task) {
	t.Helper()
	model, server := scripted(t, inTurn(first, llmtest.Reply{Text: answerJSON("Done.", 0, "")}))
	b := setup(t, model)
	p := &fakeProgram{version: "1"}
	b.agent.personas.All = []persona.Persona{
		{ID: "main", Default: true, Delegates: []string{"*"}},
		{ID: "coder", Program: p, Capabilities: []string{"code"}},
	}
	b.setTools(tools.Handoff{}, tools.SessionsSend{}, tools.Delegate{ProgramOf: func(called string) (tools.ExternalAgent, bool) {
		return p, called == "coder" || called == "code"
	}})
	m := b.storeQuestion("find the bug")
	require.NoError(t, b.agent.Questions.Ask(t.Context(), b.admin, m, m.Body))
	task, _ := b.task()
	return b, p, server, task
}

func giveWork() llmtest.Reply {
	return calls("delegate", map[string]string{"agent": "code", "task": "Find the bug in x.go"})
}

func TestProgram_OutputTaints(t *testing.T) {
	t.Parallel()
	b, p, server, task := withProgram(t, giveWork())
	require.Empty(t, b.children())
	require.Equal(t, 1, b.count("select count(*) from approvals where tool = 'delegate' and binding <> ''"), "you are asked, for this program")
	b.allow(task)
	children := b.children()
	require.Len(t, children, 1)
	require.Empty(t, p.tasks, "a job of its own does the work")
	b.resume(children[0].ID)
	require.Equal(t, []string{"Find the bug in x.go"}, p.tasks)
	b.resume(task.ID)
	require.Contains(t, server.Requests()[1].Last(), "The bug is in line 7.")
	require.Equal(t, 2, b.count("select count(*) from tasks where tainted and state = 'completed'"))
	require.Len(t, b.queuedTexts(b.admin), 1)
	require.Equal(t, 2, b.count("select count(*) from audit_entries where kind = 'tool' and action = 'run_program'"), "begun and done")
	b.resume(children[0].ID)
	require.Len(t, p.tasks, 1)
}

func TestProgram_ChangedAfterApprovalIsRefused(t *testing.T) {
	t.Parallel()
	b, p, server, task := withProgram(t, giveWork())
	p.version = "2"
	b.allow(task)
	require.Empty(t, b.children())
	require.Len(t, server.Requests(), 1)
	require.Equal(t, 1, b.count("select count(*) from approvals where allowed is null"), "you are asked again, for the new version")
	b.allow(task)
	require.Len(t, b.children(), 1)
}

// The work waits in a job of its own, perhaps over a restart, and another command of the workspace may change the program meanwhile.
func TestProgram_ChangedWhileWaitingIsRefused(t *testing.T) {
	t.Parallel()
	b, p, server, task := withProgram(t, giveWork())
	b.allow(task)
	p.version = "2"
	b.resume(b.children()[0].ID)
	require.Empty(t, p.tasks)
	b.resume(task.ID)
	require.Contains(t, server.Requests()[1].Last(), "changed after you approved this")
}

func TestProgram_NeverRunsTwice(t *testing.T) {
	t.Parallel()
	b, p, server, task := withProgram(t, giveWork())
	b.allow(task)
	child := b.children()[0]
	ctx, cancel := context.WithCancel(t.Context())
	p.work = func(context.Context, string) (string, error) {
		cancel() // multis is stopped meanwhile
		return "", errors.New("killed")
	}
	require.Error(t, b.agent.Tasks.Resume(ctx, child.ID, false))
	b.resume(child.ID)
	require.Len(t, p.tasks, 1)
	b.resume(task.ID)
	require.Contains(t, server.Requests()[1].Last(), "nobody knows how far it got")
}

func TestProgram_StopsWithTask(t *testing.T) {
	t.Parallel()
	b, p, _, task := withProgram(t, giveWork())
	b.allow(task)
	child := b.children()[0]
	p.work = func(ctx context.Context, _ string) (string, error) {
		err := b.store.InTx(context.WithoutCancel(ctx), func(tx store.Tx) error {
			_, err := store.StopTask(ctx, tx, child.ID, "you said so")
			return err
		})
		if err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
		return "half", ctx.Err()
	}
	b.resume(child.ID)
	child = b.children()[0]
	require.Equal(t, store.TaskKilled, child.State)
	require.Contains(t, child.Error, "you said so")
	require.Empty(t, child.Answer)
}

func TestProgram_TakesNoOtherWork(t *testing.T) {
	t.Parallel()
	b, p, server, _ := withProgram(t, calls("handoff", map[string]string{"agent": "coder", "summary": "yours"}))
	require.Contains(t, server.Requests()[1].Last(), "answers nobody")
	require.Equal(t, "main", b.agent.personas.ForQuestion(b.admin, "@coder hello").ID)
	b.chat.Agent = "coder"
	require.Equal(t, "main", b.agent.personaOf(b.chat).ID)
	require.Empty(t, p.tasks)
}
