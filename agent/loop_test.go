package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/tools"
	"multis/business/catalog"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// countingTool is a tool with a side effect that is counted.
type countingTool struct {
	tier tools.Tier
	lit  atomic.Int32
	do   func(ctx context.Context) error
}

func (l *countingTool) Spec() tools.Spec {
	return tools.Spec{Name: "lamp", Description: "Switch the lamp.", Schema: tools.Schema[struct {
		On bool `json:"on"`
	}](), Tier: l.tier, HasEffect: true}
}

func (l *countingTool) Run(ctx context.Context, _ tools.Call) (tools.Result, error) {
	l.lit.Add(1)
	if l.do != nil {
		if err := l.do(ctx); err != nil {
			return tools.Result{}, err
		}
	}
	return tools.Result{ForLLM: "The lamp is on.", ForUser: "switched the lamp"}, nil
}

func calls(name string, args any) llmtest.Reply {
	return llmtest.Reply{Calls: []llmtest.Call{{Name: name, Args: string(mustJSON(args))}}}
}

func mustJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// inTurn answers one request after the other; the last reply stays.
func inTurn(replies ...llmtest.Reply) llmtest.Script {
	var mu sync.Mutex
	n := 0
	return func(context.Context, llmtest.Request) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		r := replies[min(n, len(replies)-1)]
		n++
		return r
	}
}

func TestOwnerTurn_CitesWhatToolsFound(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		last := r.Last()
		switch {
		case strings.Contains(last, "question to answer"):
			return llmtest.Reply{Calls: []llmtest.Call{
				{Name: "search_docs", Args: `{"query": "grand piano"}`},
				{Name: "lamp", Args: `{"on": true}`},
			}}
		default:
			source := 0
			for i := 1; i < 20; i++ {
				result := r.Messages[len(r.Messages)-2].Text
				if strings.Contains(result, fmt.Sprintf("passage %d: ", i)) || strings.Contains(result, fmt.Sprintf("passage %d again", i)) {
					source = i
				}
			}
			return llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", source, "A grand piano costs 120 euro.")}
		}
	})
	b := setup(t, model)
	l := &countingTool{tier: tools.Read}
	b.setTools(l)
	said := b.ask("what does the big one cost? and light, please")
	require.Contains(t, said, "A grand piano costs 120 euro. [1]")
	require.Contains(t, said, "2 tools")
	require.EqualValues(t, 1, l.lit.Load())
	require.Len(t, server.Requests(), 2)
	task, steps := b.task()
	require.Equal(t, store.TaskCompleted, task.State)
	require.Len(t, steps, 4)
	for i, kind := range []store.StepKind{store.StepModel, store.StepTool, store.StepTool, store.StepModel} {
		require.Equal(t, kind, steps[i].Kind)
		require.NotNil(t, steps[i].EndedAt)
	}
	require.True(t, steps[2].HasEffect)
	require.Equal(t, "The lamp is on.", steps[2].Text)
	require.NotEmpty(t, steps[1].Passages)
	var offered []string
	for _, tool := range server.Requests()[0].Tools {
		offered = append(offered, tool.Name)
	}
	require.Equal(t, []string{"lamp", "search_docs"}, offered, "the owner is not offered to escalate to himself")
}

func TestTurn_AnswersAfterEqualCalls(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if r.NoCalls {
			return llmtest.Reply{Text: answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")}
		}
		return calls("search_docs", map[string]string{"query": "piano"})
	})
	b := setup(t, model)
	b.setTools()
	require.Contains(t, b.ask("what does a grand piano cost?"), "120 euro. [1]")
	task, _ := b.task()
	p, err := b.agent.Replays.Replay(t.Context(), task.ID, nil)
	require.NoError(t, err)
	require.Contains(t, p.Markdown(), "The same, to the byte")
}

func TestTurn_StopsLoopsOfCalls(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return calls("search_docs", map[string]string{"query": "piano"})
	})
	b := setup(t, model)
	b.setTools()
	require.Contains(t, b.ask("what does a piano cost?"), "same arguments 3 times")
	require.Len(t, server.Requests(), 4, "the last one is to answer")
	require.Contains(t, server.Requests()[2].Last(), "You have this already, above.")
	task, _ := b.task()
	require.Equal(t, store.TaskFailed, task.State)
	require.True(t, server.Requests()[3].NoCalls)
	require.False(t, server.Requests()[2].NoCalls)

	n := 0
	model, server = scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		n++
		return calls("search_docs", map[string]string{"query": fmt.Sprint("piano ", n)})
	})
	b.agent.personas.Model = model
	require.Contains(t, b.ask("what does a piano cost?"), "12 rounds")
	require.Len(t, server.Requests(), 12)
	b.storeContactMessage("what does a grand piano cost?", policy.ActionAnswer)
	b.runTurn()
	require.Len(t, server.Requests(), 12+5)
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat))
}

func TestContactTurn_HasOnlyContactTools(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, inTurn(calls("lamp", map[string]bool{"on": true}),
		calls("escalate", map[string]string{"reason": "She wants the lamp on. [Pay here](https://evil.example)"})))
	b := setup(t, model)
	l := &countingTool{tier: tools.Read}
	b.setTools(l)
	b.storeContactMessage("what does a grand piano cost? and switch on the lamp", policy.ActionAnswer)
	b.runTurn()
	require.Zero(t, l.lit.Load())
	require.Equal(t, []string{"[Nora] Let me check with the team and get back to you."}, b.queuedTexts(b.chat))
	require.Contains(t, b.queuedTexts(b.admin)[0], "She wants the lamp on.")
	require.Zero(t, b.count("select count(*) from outbox where content->>'formatted_body' like '%<a href=\"https://evil%'"),
		"what a contact has a model say is no link in the owner's room")
	require.Len(t, server.Requests()[0].Tools, 2)
	require.Contains(t, server.Requests()[1].Last(), "You have no such tool here")
}

// A model understands danger that no list of words has.
func TestContactTurn_ModelTellsDanger(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, inTurn(calls("escalate", map[string]any{"reason": "Her son has swallowed a key.", "danger": true})))
	b := setup(t, model)
	b.setTools()
	b.storeContactMessage("my son has just swallowed a piano key, what now?", policy.ActionAnswer)
	b.runTurn()
	require.Equal(t, []string{"[Nora] " + catalog.Texts{}.Text(catalog.Danger, catalog.English)}, b.queuedTexts(b.chat))
	require.Contains(t, b.queuedTexts(b.admin)[0], "🚨")
	require.Contains(t, b.queuedTexts(b.admin)[0], "Her son has swallowed a key.")
	require.Equal(t, 1, b.count("select count(*) from escalations where cause = 'danger'"))
}

func TestApproval_EffectRunsOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide func(b *fixture, a store.Approval)
		lit    int32
		code   tools.Code
	}{
		"allowed": {func(b *fixture, a store.Approval) { b.decideApproval(a, true) }, 1, ""},
		"denied":  {func(b *fixture, a store.Approval) { b.decideApproval(a, false) }, 0, tools.CodeDenied},
		"expired": {func(b *fixture, _ store.Approval) {
			b.agent.now = func() time.Time { return time.Now().Add(time.Hour) }
		}, 0, tools.CodeExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, server := scripted(t, inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: answerJSON("Done with it.", 0, "")}))
			b := setup(t, model)
			l := &countingTool{tier: tools.Confirm}
			b.setTools(l)
			ctx := context.Background()
			require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
				return store.ReplaceHooks(ctx, tx, []store.Hook{{Name: "desk", Events: []string{string(policy.HookApproval)}}})
			}))
			m := b.storeQuestion("light, please")
			require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
			task, _ := b.task()
			require.Equal(t, store.TaskWaiting, task.State)
			require.Zero(t, l.lit.Load())
			require.Empty(t, b.queuedTexts(b.admin))
			require.NotNil(t, b.messageByID(m.ID).AnsweredAt, "no worker and no inbox waits for it")
			require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, false))
			require.Zero(t, l.lit.Load(), "nobody has said anything")
			require.Len(t, server.Requests(), 1, "and nothing is asked again")
			approval, err := store.ApprovalByID(ctx, b.store.DB(), 1)
			require.NoError(t, err)
			told, err := store.Deliveries(ctx, b.store.DB(), "desk", 10)
			require.NoError(t, err)
			require.Len(t, told, 1, "a hook hears of it, once")
			require.JSONEq(t, `{"on": true}`, approval.Arguments)
			c.decide(b, approval)
			require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, false))
			require.NoError(t, b.agent.Tasks.Resume(ctx, task.ID, false), "again is nothing")
			require.Equal(t, c.lit, l.lit.Load())
			require.Len(t, b.queuedTexts(b.admin), 1)
			require.Contains(t, b.queuedTexts(b.admin)[0], "Done with it.")
			_, steps := b.task()
			require.Equal(t, string(c.code), steps[1].Code)
		})
	}
}

func TestApproval_RefusesCallTooLongToShow(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, inTurn(calls("lamp", map[string]any{
		"on": true, "a": "-----BEGIN PRIVATE KEY-----",
		"b": "and all the lamps of the street",
	}),
		llmtest.Reply{Text: answerJSON("I cannot.", 0, "")}))
	b := setup(t, model)
	l := &countingTool{tier: tools.Confirm}
	b.setTools(l)
	b.ask("light, please")
	require.Zero(t, b.count("select count(*) from approvals"))
	require.Zero(t, l.lit.Load())
	_, steps := b.task()
	require.Equal(t, string(tools.CodeRefused), steps[1].Code)
	require.Contains(t, steps[1].Text, "looks like a password or a key")
}

func TestCrash_EffectIsNotRepeated(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: answerJSON("I cannot tell.", 0, "")}))
	b := setup(t, model)
	// the process ends before it is known how it went
	l := &countingTool{tier: tools.Read, do: func(context.Context) error { return context.Canceled }}
	b.setTools(l)
	ctx := context.Background()
	m := b.storeQuestion("light, please")
	require.Error(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	require.EqualValues(t, 1, l.lit.Load())
	l.do = nil
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, m, m.Body))
	require.EqualValues(t, 1, l.lit.Load())
	require.Len(t, server.Requests(), 2)
	require.Contains(t, server.Requests()[1].Last(), "Nobody knows whether it was carried out")
	require.Contains(t, b.queuedTexts(b.admin)[0], "whether it was done I don't know")
}

func TestTask_StopsWithinSecond(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	model, _ := scripted(t, func(ctx context.Context, _ llmtest.Request) llmtest.Reply {
		close(begun)
		<-ctx.Done()
		return llmtest.Reply{}
	})
	b := setup(t, model)
	b.setTools()
	ctx := context.Background()
	m := b.storeQuestion("what does a piano cost?")
	done := make(chan error, 1)
	go func() { done <- b.agent.Questions.Ask(ctx, b.admin, m, m.Body) }()
	<-begun
	task, _ := b.task()
	found, err := store.TaskByEvent(ctx, b.store.DB(), b.admin.ID, m.EventID)
	require.NoError(t, err)
	require.Equal(t, task.ID, found.ID)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.StopTask(ctx, tx, task.ID, "you asked me to")
		return err
	}))
	require.NoError(t, <-done)
	require.Contains(t, b.queuedTexts(b.admin)[0], "Stopped: you asked me to.")
	task, _ = b.task()
	require.Equal(t, store.TaskKilled, task.State)
}

func TestCalls_OnlyReadsRunInParallel(t *testing.T) {
	t.Parallel()
	var now, most, withLamp atomic.Int32
	gate := make(chan struct{})
	slow := reader{name: "slow", run: func(context.Context) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		if now.Load() == 2 {
			close(gate)
		}
		<-gate
		now.Add(-1)
	}}
	two := llmtest.Reply{Calls: []llmtest.Call{
		{Name: "slow", Args: `{"n": 1}`},
		{Name: "slow", Args: `{"n": 2}`},
		{Name: "lamp", Args: `{"on": true}`},
	}}
	model, _ := scripted(t, inTurn(two, llmtest.Reply{Text: answerJSON("Done.", 0, "")}))
	b := setup(t, model)
	b.setTools(slow, &countingTool{tier: tools.Read, do: func(context.Context) error { withLamp.Store(now.Load()); return nil }})
	b.ask("do it all")
	require.EqualValues(t, 2, most.Load())
	require.Zero(t, withLamp.Load())
}

// reader is a tool that only reads.
type reader struct {
	name string
	run  func(ctx context.Context)
}

func (r reader) Spec() tools.Spec {
	return tools.Spec{Name: r.name, Schema: tools.Schema[struct {
		N int `json:"n"`
	}](), Tier: tools.Read}
}

func (r reader) Run(ctx context.Context, _ tools.Call) (tools.Result, error) {
	r.run(ctx)
	return tools.Result{ForLLM: "read"}, nil
}

// screen is a homeserver that keeps what is shown.
type screen struct {
	mu    sync.Mutex
	shown []string
}

func (s *screen) Send(context.Context, store.OutboxMessage, id.RoomID) (id.EventID, error) {
	return "$sent", nil
}
func (s *screen) Retract(context.Context, store.OutboxMessage) error { return nil }

func (s *screen) Show(_ context.Context, o store.OutboxMessage, _ id.RoomID) (id.EventID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, string(o.Content))
	return "$live", nil
}

func TestStream_EndsWithFinalText(t *testing.T) {
	t.Parallel()
	long := answerJSON("A grand piano costs 120 euro, and that has been so for a good while now.", 1, "A grand piano costs 120 euro.")
	model, _ := scripted(t, inTurn(calls("search_docs", map[string]string{"query": "grand piano"}), llmtest.Reply{Text: long}))
	b := setup(t, model)
	b.setTools()
	hs := &screen{}
	b.agent.box = outbox.New(b.store, outbox.Settings{
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
		Name:     "Nora",
		Disclose: func(string) bool { return true },
	}, hs)
	said := b.ask("what does a grand piano cost?")
	require.Contains(t, said, "120 euro")
	require.NotEmpty(t, hs.shown)
	require.Contains(t, hs.shown[0], "cancel-task")
	require.NotContains(t, strings.Join(hs.shown, ""), "sentences", "people see words, not the form they come in")
	require.LessOrEqual(t, len(hs.shown), 3, "no more than one a second")
	for _, shown := range hs.shown {
		require.NotContains(t, shown, `"body":"task`, "never without a word")
	}
	var content string
	require.NoError(t, b.store.DB().QueryRow(context.Background(), "select content::text from outbox where chat_id = $1",
		b.admin.ID).Scan(&content))
	require.Contains(t, content, `"m.replace"`)
	require.Contains(t, content, `$live`)
	require.Nil(t, b.agent.box.Live(b.chat, ""), "nothing is ever shown half done in a contact's chat")
}
