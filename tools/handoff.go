package tools

import (
	"context"
	_ "embed"
)

//go:embed handoff.md
var handoffText string

// HandoffName is what the tool is called that passes a conversation on to another agent. Whoever runs the turn carries it out, as the
// other one goes on with the question.
const HandoffName = "handoff"

// HandoffArgs are its arguments.
type HandoffArgs struct {
	Agent   string `json:"agent" jsonschema:"the agent's name, or what it has to be good for"`
	Summary string `json:"summary" jsonschema:"what was said and done so far, and what is open: all that the other one has to know"`
}

// Handoff passes a conversation on to another agent.
type Handoff struct{}

// Spec describes it.
func (Handoff) Spec() Spec {
	return Spec{Name: HandoffName, Description: handoffText, Schema: Schema[HandoffArgs](), Tier: Read, Can: []string{"agents"}}
}

// Run is for callers that are no turn.
func (Handoff) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "There is nobody here to pass it on to."), nil
}
