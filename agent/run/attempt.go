package run

import (
	"context"
	"errors"
	"time"

	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/tools"
)

var (
	// ErrParked ends an attempt whose task waits for a person or another agent. A job resumes it.
	ErrParked = errors.New("the task waits for a person")
	// ErrForgotten ends a task one of whose messages was deleted.
	ErrForgotten = errors.New("a message it worked from was deleted")

	errTimeout = errors.New("it took longer than 5 minutes")
)

// ForgottenText tells the owner that a task ended with ErrForgotten.
func ForgottenText() string { return "I stopped: " + ErrForgotten.Error() + ". Ask again." }

// Engine is what all attempts share.
type Engine struct {
	Store *store.Store
	Tools *tools.Registry
	Now   func() time.Time
	// Fence returns a new line that marks material in prompts; see NewFence.
	Fence func() string
}

// Handler carries out a call of one tool in place of the registry. It returns ErrParked if the task must wait for the result.
type Handler func(ctx context.Context, c tools.Call) (tools.Result, error)

// Attempt is one attempt at a task: its settings, and how far it is.
type Attempt struct {
	Task   store.Task
	Model  llm.Model
	Limits Limits
	// MaxRounds bounds the calls of the model.
	MaxRounds int
	// Payer is the agent whose daily budget pays. Account is the task whose budget per run it counts against; zero for its own.
	Payer   string
	Account store.TaskID
	Caller  tools.Caller
	// Instructions are what the model was told; no sentence that quotes them is cited.
	Instructions string
	// Handlers carry out tools that the registry only describes, by name.
	Handlers map[string]Handler
	// Progress is called with what the model has said so far, or with the tool that runs.
	Progress func(ctx context.Context, text string)

	// Passages are what an answer may cite, counted from 1, in the order in which the model saw them.
	Passages []search.Hit
	// Used has a line for people about each tool call.
	Used []string

	engine   Engine
	first    llm.Request
	given    []string // all that the model was given to read; an address in an answer that is not in it was made up
	done     []store.Step
	next     int // number of the next step
	ids      map[string]bool
	invented int // citations of the model that do not hold
}

// New returns an attempt with a model.
func (e Engine) New(m llm.Model, l Limits) *Attempt {
	return &Attempt{Model: m, Limits: l.WithDefaults(), Progress: func(context.Context, string) {}, engine: e}
}

// Outcome is what the loop came to. Without Text and Handover it stopped, and Why says for what reason.
type Outcome struct {
	Text     string
	Handover string
	To       string // the agent that continues after a handover; empty for a person
	Why      string
}

// Ending says how an attempt ended.
type Ending int

// The endings of an attempt.
const (
	Failed      Ending = iota // Err may be gone at another attempt
	Finished                  // Outcome says what the loop came to
	Lost                      // another attempt works on the task, or it is over: nothing may be written
	Parked                    // the task waits, and is resumed by a job
	Stopped                   // cancelled, out of time, forgotten or too large: State and Why are those of the task
	OverBudget                // Over says which cap
	ModelFailed               // the provider's error is in Err
)

// End is how an attempt ended. Outcome is set if it is Finished or Stopped, State if Stopped, Over if OverBudget, and Err unless Finished.
type End struct {
	Outcome
	Ending Ending
	State  store.TaskState
	Over   *llm.OverBudgetError
	Err    error
}

// EndedTask returns the task as it ended, for store.EndTask. Secrets are removed from the texts.
func (a *Attempt) EndedTask(state store.TaskState, answer, failure string) store.Task {
	t := a.Task
	t.State, t.Answer, t.Error = state, policy.Redact(answer), policy.Redact(failure)
	return t
}

// Cost returns what the task has cost so far, in millionths of the currency: the calls of models, also by tasks it started, and what tools charged.
func (a *Attempt) Cost(ctx context.Context) (int64, error) {
	account := ""
	if a.Task.ParentID == nil { // else its calls are part of the parent's cost
		account = a.first.Run
	}
	return store.TaskCost(ctx, a.engine.Store.DB(), a.Task.ID, account)
}
