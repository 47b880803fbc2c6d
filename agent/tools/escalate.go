package tools

import (
	"context"
	_ "embed"
	"strings"

	"multis/policy/rules"
)

//go:embed escalate.md
var escalateText string

// Escalate is the tool that ends a contact's turn and escalates the chat to the owner.
type Escalate struct{}

type escalateArgs struct {
	Reason string `json:"reason" jsonschema:"why a person is needed, in one sentence for the owner"`
	Danger bool   `json:"danger,omitempty" jsonschema:"true if the customer says that somebody is in danger or in pain now"`
}

// maxReasonBytes is the maximum length of a reason, in bytes.
const maxReasonBytes = 300

// Spec describes the tool.
func (Escalate) Spec() Spec {
	return Spec{
		Name:        "escalate",
		Description: escalateText,
		Schema:      Schema[escalateArgs](),
		Tier:        Read,
		Class:       rules.ClassNotify,
	}
}

// Run ends the turn.
func (Escalate) Run(_ context.Context, c Call) (Result, error) {
	args, err := Decode[escalateArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	reason := strings.Join(strings.Fields(args.Reason), " ")
	if reason == "" {
		reason = "The model asked for a person."
	}
	result := Result{ForLLM: "A person will take over.", ForUser: "asked for a person", EndReason: Clip(reason, maxReasonBytes)}
	if args.Danger {
		result.Code = CodeDanger
	}
	return result, nil
}
