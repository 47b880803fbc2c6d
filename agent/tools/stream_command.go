package tools

import (
	"context"
	_ "embed"
	"time"

	"multis/policy/rules"
	"multis/safety/sandbox"
)

//go:embed stream_command.md
var streamCommandText string

// StreamCommand is the tool that starts a program in the background, in the sandbox.
type StreamCommand struct {
	Sandbox   *sandbox.Sandbox
	Processes *sandbox.Processes
}

type streamCommandArgs struct {
	Command string `json:"command" jsonschema:"one program with its arguments, quoted as in a shell"`
	Folder  string `json:"folder,omitempty" jsonschema:"the folder of the workspace to start in; empty for the workspace"`
	Seconds int    `json:"seconds,omitempty" jsonschema:"how long it may take, 600 unless told, which is the most"`
}

// firstOutputWait is how long a call waits for the first output, or for the end of a short command.
const firstOutputWait = time.Second

// Spec describes the tool.
func (StreamCommand) Spec() Spec {
	return Spec{
		Name:         "stream_command",
		Description:  streamCommandText,
		Schema:       Schema[streamCommandArgs](),
		Tier:         Pin,
		Class:        rules.ClassExec,
		Kinds:        rules.Kinds{Argv: true},
		NeedsFolders: true,
		HasEffect:    true,
		Foreign:      true,
	}
}

// TierOf returns Confirm for a command that only reads, else Pin.
func (StreamCommand) TierOf(c Call) Tier { return tierOfCommand(c) }

// ResourceOf returns the command.
func (StreamCommand) ResourceOf(c Call) rules.Resource { return commandResource(c) }

// Refusal returns why a command is never run; empty for a command that may be run.
func (t StreamCommand) Refusal(c Call) string { return refusalOf(t.Sandbox, c) }

// Binding returns the fingerprint of the command, to which an approval is bound.
func (t StreamCommand) Binding(ctx context.Context, c Call) (string, error) {
	return bindingOf(ctx, t.Sandbox, c)
}

// Run starts the command and returns its number and first output.
func (t StreamCommand) Run(ctx context.Context, c Call) (Result, error) {
	command, err := commandOf(c)
	if err != nil {
		return BadArguments(err), nil
	}
	if why := t.Refusal(c); why != "" {
		return Refused(CodeRefused, why), nil
	}
	if command.Timeout == 0 {
		command.Timeout = sandbox.MaxTimeout
	}
	id, err := t.Processes.Start(processOwner(c), command) //nolint:contextcheck // the command outlives the call
	if err != nil {
		return Failed(err.Error(), true), nil
	}
	waiting, cancel := context.WithTimeout(ctx, firstOutputWait)
	defer cancel()
	state, err := t.Processes.Wait(waiting, processOwner(c), id)
	if err != nil {
		return Failed(err.Error(), false), nil
	}
	result := stateResult(state)
	result.ForUser = "started " + sandbox.Quote(command.Argv) + " as process " + id
	return result, nil
}

// stateResult returns the state of a command in the background as a result.
func stateResult(s sandbox.State) Result {
	output := clipOutput(s.Output)
	switch {
	case s.Running:
		return Result{ForLLM: "process " + s.ID + ": running\n" + output}
	case s.Err != nil:
		return Result{ForLLM: "process " + s.ID + ": stopped: " + s.Err.Error() + "\n" + output, IsError: true, Code: CodeFailed}
	default:
		return Result{
			ForLLM:  "process " + s.ID + ": " + describeEnd(s.Result) + "\n" + output,
			IsError: s.Result.ExitCode != 0,
			Code:    codeOf(s.Result),
		}
	}
}
