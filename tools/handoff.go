package tools

import (
	"context"
	_ "embed"
)

//go:embed handoff.md
var handoffText string

// HandoffName names the tool that hands a conversation off to another agent. The agent's turn carries it out itself, because the other
// agent continues with the question.
const HandoffName = "handoff"

// HandoffArgs are the arguments of handoff.
type HandoffArgs struct {
	Agent   string `json:"agent" jsonschema:"the agent's name, or what it has to be good for"`
	Summary string `json:"summary" jsonschema:"what was said and done so far, and what is open: all that the other one has to know"`
}

// Handoff hands a conversation off to another agent.
type Handoff struct{}

// Spec describes the tool.
func (Handoff) Spec() Spec {
	return Spec{Name: HandoffName, Description: handoffText, Schema: Schema[HandoffArgs](), Tier: Read}
}

// Run refuses: an agent's turn carries the call out itself.
func (Handoff) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "There is nobody here to pass it on to."), nil
}
