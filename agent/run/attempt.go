package run

import (
	"context"
	"errors"
	"time"

	"multis/agent/tools"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

var (
	// ErrSuspended ends an attempt whose task waits for a person or another agent. A job resumes the task later.
	ErrSuspended = errors.New("the task waits for a person or another agent")
	// ErrSourceDeleted ends a task because one of its messages was deleted.
	ErrSourceDeleted = errors.New("a message it worked from was deleted")
)

// ForgottenText tells the owner that a task ended with ErrSourceDeleted.
func ForgottenText() string { return "I stopped: " + ErrSourceDeleted.Error() + ". Ask again." }

// Engine is what all attempts share.
type Engine struct {
	Store *store.Store
	Tools *tools.Registry
	Now   func() time.Time
	// Zone is the owner's time zone. Defaults to UTC.
	Zone *time.Location
	// Fence returns a new line that marks material in prompts; see NewFence.
	Fence func() string
}

// zone returns the owner's time zone.
func (e Engine) zone() *time.Location {
	if e.Zone == nil {
		return time.UTC
	}
	return e.Zone
}

// Handler carries out a call of one tool in place of the registry. It returns ErrSuspended if the task must wait for the result.
type Handler func(ctx context.Context, c tools.Call) (tools.Result, error)

// Attempt is one attempt at a task: its settings and its progress.
type Attempt struct {
	Evidence

	Task   store.Task
	Model  llm.Model
	Limits Limits
	// MaxRounds bounds the calls of the model.
	MaxRounds int
	// PayingAgent is the agent whose daily budget pays. PayingTask is the task whose budget per run pays; zero for the attempt's own task.
	PayingAgent string
	PayingTask  store.TaskID
	// Handlers carry out tools that the registry only describes, by name.
	Handlers map[string]Handler
	// Progress is called with the model's partial answer, or with the name of the running tool.
	Progress func(ctx context.Context, text string)

	// Check returns what is wrong with an answer; empty if nothing is. A wrong answer is asked for once more. Nil checks nothing.
	Check func(ctx context.Context, answer string) string
	// Judge decides whether a sentence follows from what it cites where the check of words cannot tell. Nil decides nothing.
	Judge llm.Model

	// Consulted names what gave the model text that is no passage: files and tools, each once.
	Consulted []string
	// CallLines has a line for the user about each tool call.
	CallLines []string
	// Made are the calls that succeeded, in their order.
	Made []llm.ToolCall
	// Failures are the calls that should have changed something, failed, and were not made again with success, by the name of
	// the tool: an answer may say all the same that it was done.
	Failures []Failure

	engine        Engine
	firstRequest  llm.Request
	modelInput    []string // all texts that the model was given: it invented any address that is in none of them
	earlierSteps  []store.Step
	nextSeq       int // the number of the next step
	callIDs       map[string]bool
	sameCalls     map[string]int    // how often the model made a call; see callKey
	firstPassages int               // how many of Passages are in the first request
	verdicts      map[string][]bool // of the judge, by the claims that he was asked about
	isReplay      bool              // nothing may be called
}

// Failure is the last failed call of a tool that changes something.
type Failure struct {
	Tool  string
	Error string // as the model read it
}

// NewAttempt returns an attempt with a model.
func (e Engine) NewAttempt(m llm.Model, l Limits) *Attempt {
	return &Attempt{Model: m, Limits: l.WithDefaults(), Progress: func(context.Context, string) {}, engine: e}
}

// LoopResult is the result of the loop: Text if the model answered, Summary if it handed the task off or escalated it,
// else Why, the reason why it stopped.
type LoopResult struct {
	Text    string
	Summary string
	ToAgent string // the agent that continues with Summary; empty for a person
	Danger  bool   // a person continues because somebody is in danger or in pain
	Why     string
}

// endedBy returns the result of a loop that the result of a call ends.
func endedBy(res tools.Result) LoopResult {
	return LoopResult{Summary: res.EndReason, ToAgent: res.Ref, Danger: res.Code == tools.CodeDanger}
}

// AttemptEnd says how an attempt ended.
type AttemptEnd int

// The endings of an attempt.
const (
	Failed      AttemptEnd = iota // a retry may succeed; see Err
	Finished                      // see LoopResult
	LeaseLost                     // another attempt has the task, or it is over: nothing may be written
	Suspended                     // the task waits, and is resumed by a job
	Stopped                       // cancelled, out of time, forgotten or too large: State and Why are those of the task
	OverBudget                    // see BudgetError
	ModelFailed                   // the provider's error is in Err
)

// AttemptResult is how an attempt ended. LoopResult is set if End is Finished or Stopped, State if it is Stopped,
// BudgetError if it is OverBudget, and Err unless it is Finished.
type AttemptResult struct {
	LoopResult
	End         AttemptEnd
	State       store.TaskState
	BudgetError *llm.OverBudgetError
	Err         error
}

// EndedTask returns the task as it ended, for store.EndTask. Secrets are removed from the texts.
func (a *Attempt) EndedTask(state store.TaskState, answer, failure string) store.Task {
	t := a.Task
	t.State = state
	t.Answer = policy.Redact(answer)
	t.Error = policy.Redact(failure)
	t.Tainted = a.Caller.Tainted
	return t
}

// Cost returns what the task has cost so far, in millionths of the currency: the calls of models, also by tasks it
// started, and what tools charged.
func (a *Attempt) Cost(ctx context.Context) (int64, error) {
	account := ""
	if a.Task.ParentID == nil { // else its calls are part of the parent's cost
		account = a.firstRequest.Run
	}
	return store.TaskCost(ctx, a.engine.Store.DB(), a.Task.ID, account)
}
