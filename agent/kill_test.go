package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// The environment of a process that answers one question and is killed meanwhile.
const (
	killDatabase = "MULTIS_TEST_KILL_DATABASE"
	killModel    = "MULTIS_TEST_KILL_MODEL"
	killLamp     = "MULTIS_TEST_KILL_LAMP"
	killPaid     = "MULTIS_TEST_KILL_PAID" // a model that costs money, in place of killModel
	killMessage  = "MULTIS_TEST_KILL_MESSAGE"
	killPlan     = "MULTIS_TEST_KILL_PLAN" // the id of a plan's task that the process carries out; set in place of killMessage
	killTask     = "MULTIS_TEST_KILL_TASK" // the id of a task that the process resumes after an approval; set in place of killMessage
)

func TestMain(m *testing.M) {
	if os.Getenv(killDatabase) == "" {
		storetest.Main(m)
		return
	}
	if err := runOnce(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runOnce is the main function of the process that is killed: it answers a message, or carries out a plan.
func runOnce(ctx context.Context) error {
	st, err := store.Open(ctx, os.Getenv(killDatabase))
	if err != nil {
		return err
	}
	defer st.Close()
	if plan := os.Getenv(killPlan); plan != "" {
		task, err := strconv.ParseInt(plan, 10, 64)
		if err != nil {
			return err
		}
		a, err := newKillAgent(st, os.Getenv(killModel), os.Getenv(killLamp))
		if err != nil {
			return err
		}
		return runPlan(ctx, a, store.TaskID(task))
	}
	if approved := os.Getenv(killTask); approved != "" {
		task, err := strconv.ParseInt(approved, 10, 64)
		if err != nil {
			return err
		}
		a, err := newKillAgent(st, os.Getenv(killModel), os.Getenv(killLamp))
		if err != nil {
			return err
		}
		a.tools = askingRegistry(os.Getenv(killLamp))
		return a.Tasks.Resume(ctx, store.TaskID(task), false)
	}
	row, err := strconv.ParseInt(os.Getenv(killMessage), 10, 64)
	if err != nil {
		return err
	}
	m, err := store.MessageByID(ctx, st.DB(), store.MessageID(row))
	if err != nil {
		return err
	}
	room, err := store.AdminChat(ctx, st.DB())
	if err != nil {
		return err
	}
	a, err := newKillAgent(st, os.Getenv(killModel), os.Getenv(killLamp))
	if paid := os.Getenv(killPaid); paid != "" {
		a, err = payingAgent(st, paid)
	}
	if err != nil {
		return err
	}
	return a.Questions.Ask(ctx, room, m, m.Body)
}

// newKillAgent returns an agent whose lamp is somewhere else, as what a tool changes usually is.
func newKillAgent(st *store.Store, model, switchURL string) (*Agent, error) {
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: model, Local: true}}, Timeout: time.Minute,
		Budget: llm.Budget{Ledger: &unlimitedLedger{}, DayCap: 1, Today: func() string { return "2026-11-20" }},
	})
	if err != nil {
		return nil, err
	}
	m, err := models.Open([]string{"openai/test"}, "")
	if err != nil {
		return nil, err
	}
	far := newRemoteTool(tools.Read, switchURL)
	return New(Options{
		Store:    st,
		Search:   search.New(st),
		Personas: persona.Set{Model: m},
		Name:     "Nora",
		Zone:     time.UTC,
		Tools:    tools.NewRegistry(tools.TierPolicy{}, far),
		Box: outbox.New(st, outbox.Settings{
			Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
			Name:     "Nora",
			Disclose: func(string) bool { return true },
		}, nil),
	}), nil
}

// newRemoteTool returns a lamp that is lit by a request.
func newRemoteTool(tier tools.Tier, switchURL string) *countingTool {
	return &countingTool{tier: tier, do: func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, switchURL, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		return resp.Body.Close()
	}}
}

// askAndKill asks a question in a process that dies at a moment, has another one continue, and returns the name of that
// moment; empty if the process came to its end first.
func askAndKill(t *testing.T, at int) (moment string) {
	t.Helper()
	ctx := context.Background()
	v := storetest.NewFaultInjector(at)
	var lit atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		lit.Add(1)
		v.Reach("after the effect")
	}))
	t.Cleanup(far.Close)
	model, server := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		v.Reach("while the model thinks")
		switch last := r.Last(); {
		case strings.Contains(last, "The lamp is on."):
			return llmtest.Reply{Text: answerJSON("It is on.", 0, "")}
		case strings.Contains(last, "Nobody knows whether"):
			return llmtest.Reply{Text: answerJSON("I cannot tell.", 0, "")}
		default:
			return calls("lamp", map[string]bool{"on": true})
		}
	})
	b := setup(t, model)
	m := b.storeQuestion("light, please")

	moment = v.Run(t, b.store, killDatabase, killModel+"="+server.URL, killLamp+"="+far.URL, fmt.Sprintf("%s=%d", killMessage, m.ID))

	next, err := newKillAgent(b.store, server.URL, far.URL)
	require.NoError(t, err)
	for again := true; again; { // as the queue would
		err := next.Questions.Ask(ctx, b.admin, m, m.Body)
		again = err != nil
		if err != nil {
			var pg interface{ SQLState() string } // the dead process' connection may still hold a row for a moment
			require.ErrorAs(t, err, &pg, moment)
		}
	}
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1, moment)
	require.LessOrEqual(t, lit.Load(), int32(1), moment)
	unknown := strings.Contains(said[0], "whether it was done I don't know")
	switch lit.Load() {
	case 0:
		require.True(t, unknown, "%s: it was not done, and said was %q", moment, said[0])
	case 1:
		require.True(t, unknown || strings.Contains(said[0], "It is on."), "%s: said was %q", moment, said[0])
	}
	require.NotNil(t, b.messageByID(m.ID).AnsweredAt, moment)
	task, steps := b.task()
	require.Equal(t, store.TaskCompleted, task.State, moment)
	for _, s := range steps {
		require.NotNil(t, s.EndedAt, moment)
	}
	return moment
}

func TestTurn_KillActsAtMostOnce(t *testing.T) {
	t.Parallel()
	const most = 200
	var moments []string
	for at := 1; at <= most; at++ {
		moment := askAndKill(t, at)
		if moment == "" {
			break
		}
		moments = append(moments, moment)
	}
	t.Logf("killed at %d moments:\n%s", len(moments), strings.Join(moments, "\n"))
	all := strings.Join(moments, "\n")
	for _, want := range []string{
		"while the model thinks", "after the effect", "before insert into task_steps",
		"after insert into task_steps", "before update task_steps", "after update task_steps", "before commit", "after commit",
	} {
		require.Contains(t, all, want)
	}
	require.Less(t, len(moments), most)
}

// runPlan goes on with a plan and its steps until it is over, as the queue does that has a job for each.
func runPlan(ctx context.Context, a *Agent, plan store.TaskID) error {
	for {
		task, err := store.TaskByID(ctx, a.store.DB(), plan)
		if err != nil {
			return err
		}
		if task.State.IsOver() {
			return nil
		}
		steps, err := store.Children(ctx, a.store.DB(), plan)
		if err != nil {
			return err
		}
		for _, t := range append(steps, task) {
			if t.State == store.TaskPending || t.State.IsOver() {
				continue
			}
			if err := a.Tasks.Resume(ctx, t.ID, false); err != nil {
				return err
			}
		}
	}
}

// planAndKill carries a plan out in a process that dies at a moment, has another one continue, and returns the name of
// that moment; empty if the process came to its end first.
func planAndKill(t *testing.T, at int) (moment string) {
	t.Helper()
	ctx := context.Background()
	v := storetest.NewFaultInjector(at)
	var lit atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { lit.Add(1) }))
	t.Cleanup(far.Close)
	b, server := newPlanner(t, `{"steps": [{"text": "light the lamp"}, {"text": "say so"}]}`,
		func(_ context.Context, r llmtest.Request) llmtest.Reply {
			v.Reach("while the model thinks")
			switch last := r.Last(); {
			case strings.Contains(last, "Your step: say so"):
				return llmtest.Reply{Text: answerJSON("It was said.", 0, "")}
			case strings.Contains(last, "The lamp is on."):
				return llmtest.Reply{Text: answerJSON("It is on.", 0, "")}
			case strings.Contains(last, "Nobody knows whether"):
				return llmtest.Reply{Text: answerJSON("I cannot tell.", 0, "")}
			default:
				return calls("lamp", map[string]bool{"on": true})
			}
		})
	plan := b.plan("light")
	a, err := store.ApprovalOf(ctx, b.store.DB(), plan.ID, store.PlanCall)
	require.NoError(t, err)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.DecideApproval(ctx, tx, a.ID, store.ApprovalDecision{Allowed: true}, time.Now())
		return err
	}))

	moment = v.Run(t, b.store, killDatabase, killModel+"="+server.URL, killLamp+"="+far.URL, fmt.Sprintf("%s=%d", killPlan, plan.ID))

	next, err := newKillAgent(b.store, server.URL, far.URL)
	require.NoError(t, err)
	for again := true; again; { // as the queue would
		err := runPlan(ctx, next, plan.ID)
		again = err != nil
		if err != nil {
			var pg interface{ SQLState() string } // the dead process' connection may still hold a row for a moment
			require.ErrorAs(t, err, &pg, moment)
		}
	}
	require.LessOrEqual(t, lit.Load(), int32(1), moment)
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1, moment)
	require.Contains(t, said[0], "It was said.", moment)
	unknown := strings.Contains(said[0], "I cannot tell.")
	require.True(t, unknown || (lit.Load() == 1 && strings.Contains(said[0], "It is on.")), "%s: lit %d times, and said was %q", moment,
		lit.Load(), said[0])
	require.Equal(t, store.TaskCompleted, b.taskByID(plan.ID).State, moment)
	for _, step := range b.children() {
		require.Equal(t, store.TaskCompleted, step.State, moment)
	}
	return moment
}

func TestPlan_KillContinuesAtStep(t *testing.T) {
	t.Parallel()
	const most, stride = 200, 4 // the moments of a step are those of a question, which are all tried above
	var moments []string
	for at := 1; at <= most; at += stride {
		moment := planAndKill(t, at)
		if moment == "" {
			break
		}
		moments = append(moments, moment)
	}
	t.Logf("killed at %d moments:\n%s", len(moments), strings.Join(moments, "\n"))
	all := strings.Join(moments, "\n")
	for _, want := range []string{"update tasks", "update task_steps", "commit"} {
		require.Contains(t, all, want)
	}
	require.Greater(t, len(moments), 10)
	require.Less(t, len(moments), most/stride)
}
