package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/policy/rules"
	"multis/safety/sandbox"
)

//go:embed exec.md
var execText string

// Exec is the tool that runs one program in the caller's workspace, in the sandbox, and waits for its end.
type Exec struct{ Sandbox *sandbox.Sandbox }

type execArgs struct {
	Command string `json:"command" jsonschema:"one program with its arguments, quoted as in a shell"`
	Folder  string `json:"folder,omitempty" jsonschema:"the folder of the workspace to start in; empty for the workspace"`
	Seconds int    `json:"seconds,omitempty" jsonschema:"how long it may take, 30 unless told, at most 50"`
}

// maxExecSeconds is less than callTimeout, so that a timeout is a result with the output so far.
const maxExecSeconds = 50

// Spec describes the tool.
func (Exec) Spec() Spec {
	return Spec{
		Name:         "exec",
		Description:  execText,
		Schema:       Schema[execArgs](),
		Tier:         Pin,
		Class:        rules.ClassExec,
		Kinds:        rules.Kinds{Argv: true},
		NeedsFolders: true,
		HasEffect:    true,
		Foreign:      true,
	}
}

// TierOf returns Confirm for a command that only reads, else Pin.
func (Exec) TierOf(c Call) Tier { return tierOfCommand(c) }

// ResourceOf returns the command.
func (Exec) ResourceOf(c Call) rules.Resource { return commandResource(c) }

// Refusal returns why a command is never run; empty for a command that may be run.
func (t Exec) Refusal(c Call) string { return refusalOf(t.Sandbox, c) }

// Binding returns the fingerprint of the command, to which an approval is bound.
func (t Exec) Binding(ctx context.Context, c Call) (string, error) {
	return bindingOf(ctx, t.Sandbox, c)
}

// Run runs the command and returns its output and exit status.
func (t Exec) Run(ctx context.Context, c Call) (Result, error) {
	command, err := commandOf(c)
	if err != nil {
		return BadArguments(err), nil
	}
	if why := t.Refusal(c); why != "" {
		return Refused(CodeRefused, why), nil
	}
	command.Timeout = min(command.Timeout, maxExecSeconds*time.Second)
	result, err := t.Sandbox.Run(ctx, command)
	switch {
	case ctx.Err() != nil:
		return Result{}, context.Cause(ctx)
	case errors.Is(err, sandbox.ErrChanged):
		return Refused(CodeRefused, err.Error()), nil
	case err != nil:
		return Failed(err.Error(), false), nil
	}
	return Result{
		ForLLM:  describeEnd(result) + "\n" + clipOutput(result.Output),
		ForUser: fmt.Sprintf("ran %s: %s", sandbox.Quote(command.Argv), describeEnd(result)),
		IsError: result.ExitCode != 0, Code: codeOf(result),
	}, nil
}

// commandOf returns the command of a call to exec or stream_command. Its error is for the model.
func commandOf(c Call) (sandbox.Command, error) {
	args, err := Decode[execArgs](c)
	if err != nil {
		return sandbox.Command{}, err
	}
	argv, err := sandbox.Parse(args.Command)
	if err != nil {
		return sandbox.Command{}, err
	}
	return sandbox.Command{
		Argv:        argv,
		Workspace:   c.Workspace,
		Dir:         args.Folder,
		ReadPaths:   c.ReadPaths,
		Timeout:     time.Duration(max(args.Seconds, 0)) * time.Second,
		Fingerprint: c.Binding,
	}, nil
}

func tierOfCommand(c Call) Tier {
	if command, err := commandOf(c); err == nil && sandbox.Classify(command.Argv).Class == sandbox.Harmless {
		return Confirm
	}
	return Pin
}

func commandResource(c Call) rules.Resource {
	command, err := commandOf(c)
	if err != nil {
		return rules.Resource{}
	}
	return rules.Resource{Argv: command.Argv, Inner: sandbox.Inner(command.Argv)}
}

// refusalOf returns why a command is never run, whoever allows it; empty for a command that may be run.
func refusalOf(s *sandbox.Sandbox, c Call) string {
	if s != nil { // else the tool is only described
		if err := s.Ready(); err != nil {
			return err.Error()
		}
	}
	if c.AnyCall || len(c.Args) == 0 {
		return "" // it is about all calls, not one command
	}
	command, err := commandOf(c)
	if err != nil {
		return err.Error()
	}
	if v := sandbox.Classify(command.Argv); v.Class == sandbox.Catastrophic {
		return "This command is never run, whoever allows it. " + v.Why
	}
	return ""
}

func bindingOf(ctx context.Context, s *sandbox.Sandbox, c Call) (string, error) {
	command, err := commandOf(c)
	if err != nil {
		return "", err
	}
	return s.Fingerprint(ctx, command)
}

// describeEnd describes how a command ended.
func describeEnd(r sandbox.Result) string {
	took := fmt.Sprintf("after %.1f s", r.Duration.Seconds())
	switch {
	case r.TimedOut:
		return "stopped " + took + ", because it took too long"
	case r.ExitCode < 0:
		return "ended by a signal " + took
	default:
		return fmt.Sprintf("exit status %d %s", r.ExitCode, took)
	}
}

func codeOf(r sandbox.Result) Code {
	switch {
	case r.TimedOut:
		return CodeTimeout
	case r.ExitCode != 0:
		return CodeFailed
	default:
		return ""
	}
}

// processOwner returns the owner of a background command, who alone can read and kill it: the agent, in the chat where it
// started the command.
func processOwner(c Call) string { return strings.Join([]string{c.Agent, fmt.Sprint(c.Chat.ID)}, "/") }
