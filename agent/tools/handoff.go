package tools

import (
	"context"
	_ "embed"

	"multis/policy/rules"
)

//go:embed handoff.md
var handoffText string

// HandoffName is the name of the tool that passes a conversation to another agent. The agent's turn makes the call
// itself, because the other agent continues with the question.
const HandoffName = "handoff"

// HandoffArgs are the arguments of handoff.
type HandoffArgs struct {
	Agent   string `json:"agent" jsonschema:"the agent's name, or what it has to be good for"`
	Summary string `json:"summary" jsonschema:"what was said and done so far, and what is open: all that the other one has to know"`
}

// Handoff is the tool that passes a conversation to another agent.
type Handoff struct{}

// Spec describes the tool.
func (Handoff) Spec() Spec {
	return Spec{
		Name:        HandoffName,
		Description: handoffText,
		Schema:      Schema[HandoffArgs](),
		Tier:        Read,
		Class:       rules.ClassDelegate,
	}
}

// Run always refuses: where a handoff is possible, the agent's turn handles the call before the registry does (see agent/handoff.go).
func (Handoff) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "There is nobody here to pass it on to."), nil
}
