package tools

import (
	"context"
	_ "embed"

	"multis/policy/rules"
	"multis/safety/sandbox"
)

//go:embed kill.md
var killText string

// Kill is the tool that ends a process that the caller started with stream_command, and no other.
type Kill struct{ Processes *sandbox.Processes }

type killArgs struct {
	Process string `json:"process" jsonschema:"the number of a process of stream_command"`
}

// Spec describes the tool.
func (Kill) Spec() Spec {
	return Spec{
		Name:         "kill",
		Description:  killText,
		Schema:       Schema[killArgs](),
		Tier:         Read,
		Class:        rules.ClassNotify,
		NeedsFolders: true,
		HasEffect:    true,
	}
}

// Run kills the process with all that it started.
func (t Kill) Run(_ context.Context, c Call) (Result, error) {
	args, err := Decode[killArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	state, err := t.Processes.Kill(processOwner(c), args.Process)
	if err != nil {
		return notFound(err), nil
	}
	return Result{ForLLM: stateResult(state).ForLLM, ForUser: "ended process " + state.ID}, nil
}
