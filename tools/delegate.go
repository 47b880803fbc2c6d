package tools

import (
	"context"
	_ "embed"
)

//go:embed delegate.md
var delegateText string

// DelegateName is what the tool is called that has another agent work. Whoever runs the turn carries it out, because it takes as
// long as a turn does and nobody may wait for it.
const DelegateName = "delegate"

// AgentTools returns the names of the tools for working with other agents.
func AgentTools() []string {
	return []string{DelegateName, HandoffName, SessionsListName, SessionsHistoryName, SessionsSendName}
}

// DelegateArgs are its arguments.
type DelegateArgs struct {
	Agent string `json:"agent" jsonschema:"the agent's name, or what it has to be good for"`
	Task  string `json:"task" jsonschema:"what to do, with everything that has to be known for it"`
}

// Delegate has another agent do a piece of the work.
type Delegate struct{}

// Spec describes it.
func (Delegate) Spec() Spec {
	return Spec{Name: DelegateName, Description: delegateText, Schema: Schema[DelegateArgs](), Tier: Read, Can: []string{"agents"}}
}

// Run is for callers that are no turn.
func (Delegate) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "There is nobody here to ask."), nil
}
