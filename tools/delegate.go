package tools

import (
	"context"
	_ "embed"
)

//go:embed delegate.md
var delegateText string

// DelegateName names the tool that gives work to another agent. The agent's turn carries it out itself, because it takes as long as
// a turn and no worker may wait for it.
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

// Delegate gives a piece of the work to another agent.
type Delegate struct{}

// Spec describes the tool.
func (Delegate) Spec() Spec {
	return Spec{Name: DelegateName, Description: delegateText, Schema: Schema[DelegateArgs](), Tier: Read}
}

// Run refuses: an agent's turn carries the call out itself.
func (Delegate) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "There is nobody here to ask."), nil
}
