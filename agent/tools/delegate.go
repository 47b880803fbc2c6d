package tools

import (
	"context"
	_ "embed"
	"errors"

	"multis/policy/rules"
)

//go:embed delegate.md
var delegateText string

// DelegateName is the name of the tool that gives work to another agent. The turn of the calling agent carries the call out itself, because
// the work takes as long as a turn and must not block a worker.
const DelegateName = "delegate"

// AgentTools returns the names of the tools for working with other agents.
func AgentTools() []string {
	return []string{DelegateName, HandoffName, SessionsListName, SessionsHistoryName, SessionsSendName}
}

// DelegateArgs are the arguments of delegate.
type DelegateArgs struct {
	Agent string `json:"agent" jsonschema:"the agent's name, or what it has to be good for"`
	Task  string `json:"task" jsonschema:"what to do, with everything that has to be known for it"`
}

// Delegate is the tool that gives a part of the work to another agent.
type Delegate struct {
	// ProgramOf returns the external command-line agent with a name or a capability. Nil if there are none.
	ProgramOf func(called string) (ExternalAgent, bool)
}

// ExternalAgent is an agent that is a program of this machine. Delegating work to it needs an approval, as a command does.
type ExternalAgent interface {
	// Argv returns the argument vector of its command, without the task.
	Argv() []string
	// Fingerprint returns a hash of what is run.
	Fingerprint(ctx context.Context) (string, error)
}

// program returns the external agent that a call is for.
func (t Delegate) program(c Call) (ExternalAgent, bool) {
	args, err := Decode[DelegateArgs](c)
	if err != nil {
		return nil, false
	}
	if c.AnyCall || t.ProgramOf == nil {
		return nil, false
	}
	return t.ProgramOf(args.Agent)
}

// TierOf returns Confirm for work that is delegated to an external agent, else Read.
func (t Delegate) TierOf(c Call) Tier {
	if _, is := t.program(c); is {
		return Confirm
	}
	return Read
}

// ClassOf returns the class of commands for work that is delegated to an external agent.
func (t Delegate) ClassOf(c Call) rules.Class {
	if _, is := t.program(c); is {
		return rules.ClassExec
	}
	return rules.ClassDelegate
}

// ResourceOf returns the command of an external agent.
func (t Delegate) ResourceOf(c Call) rules.Resource {
	if p, is := t.program(c); is {
		return rules.Resource{Argv: p.Argv()}
	}
	return rules.Resource{}
}

// Binding returns the fingerprint of an external agent, to which an approval is bound; empty for other agents.
func (t Delegate) Binding(ctx context.Context, c Call) (string, error) {
	if p, is := t.program(c); is {
		return p.Fingerprint(ctx)
	}
	return "", nil
}

// ErrProgramChanged says that approved work was not given to an external agent, because its program has changed.
var ErrProgramChanged = errors.New("the program of that agent changed after you approved this; ask again")

// Spec describes the tool.
func (Delegate) Spec() Spec {
	return Spec{
		Name:        DelegateName,
		Description: delegateText,
		Schema:      Schema[DelegateArgs](),
		Tier:        Read,
		Class:       rules.ClassDelegate,
		Kinds:       rules.Kinds{Argv: true},
		Foreign:     true,
	}
}

// Run refuses: an agent's turn carries the call out itself.
func (Delegate) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "There is nobody here to ask."), nil
}
