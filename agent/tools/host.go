package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"multis/policy"
	"multis/policy/rules"
	"multis/safety/sandbox"
	"multis/store"
)

// Host runs the owner's commands on this machine and reads its files. The rules decide about them like about the calls of a tool.
type Host struct {
	Sandbox  *sandbox.Sandbox
	Registry *Registry
	// Workspace is the folder in which commands run that name no agent.
	Workspace string
	// SetAgent sets the agent of a caller, with the agent's tools and folders. It returns an error for the owner if there is no such agent.
	SetAgent func(agent string, c *Caller) error
}

// HostRequest is what the owner typed.
type HostRequest struct {
	Room    store.Chat
	Message store.MessageID // rules with a limit count it once, however often it is judged
	Text    string          // a command line or a path
}

// HostCommand is a command that the rules allow.
type HostCommand struct {
	Line     string // as it was typed
	Shown    string // as it is run
	Agent    string // whose workspace it works in; empty for the assistant's own
	Binding  string // hash of what it runs; if that has changed, Run refuses
	NeedsPIN bool   // it changes something
}

// Prepare parses a command line and checks it by the rules. It runs nothing.
func (h *Host) Prepare(ctx context.Context, typed HostRequest) (HostCommand, error) {
	agent, command := splitAgent(typed.Text)
	call, err := h.call(typed, agent, Exec{}.Spec().Name, map[string]string{"command": command})
	if err != nil {
		return HostCommand{}, err
	}
	_, verdict, err := h.judge(ctx, call)
	if err != nil {
		return HostCommand{}, err
	}
	argv, err := sandbox.Parse(command)
	if err != nil {
		return HostCommand{}, err
	}
	binding, err := h.Registry.Binding(ctx, call)
	if err != nil {
		return HostCommand{}, err
	}
	return HostCommand{
		Line:     typed.Text,
		Shown:    sandbox.Quote(argv),
		Agent:    agent,
		Binding:  binding,
		NeedsPIN: verdict.Pin,
	}, nil
}

// Run runs a prepared command in the sandbox. live receives the output as it comes.
func (h *Host) Run(ctx context.Context, c HostCommand, live func([]byte)) (sandbox.Result, error) {
	_, typed := splitAgent(c.Line)
	call, err := h.call(HostRequest{}, c.Agent, Exec{}.Spec().Name, nil)
	if err != nil {
		return sandbox.Result{}, err
	}
	argv, err := sandbox.Parse(typed)
	if err != nil {
		return sandbox.Result{}, err
	}
	return h.Sandbox.Run(ctx, sandbox.Command{
		Argv:        argv,
		Workspace:   call.Workspace,
		ReadPaths:   call.ReadPaths,
		Timeout:     sandbox.MaxTimeout,
		Fingerprint: c.Binding,
		OnOutput:    live,
	})
}

// Resolve checks by the rules whether a file may be read, and returns its path with all links resolved. It reads nothing.
func (h *Host) Resolve(ctx context.Context, typed HostRequest) (string, error) {
	call, err := h.readCall(typed)
	if err != nil {
		return "", err
	}
	spec, _, err := h.judge(ctx, call)
	if err != nil {
		return "", err
	}
	if len(spec.Resource.Paths) == 0 {
		return "", errors.New("which file?")
	}
	return spec.Resource.Paths[0], nil
}

// Read returns the beginning of a text file that the rules allow to read, with secrets masked.
func (h *Host) Read(ctx context.Context, typed HostRequest) (string, error) {
	call, err := h.readCall(typed)
	if err != nil {
		return "", err
	}
	if _, _, err := h.judge(ctx, call); err != nil {
		return "", err
	}
	result, err := ReadPath{Sandbox: h.Sandbox}.Run(ctx, call)
	if err != nil {
		return "", err
	}
	if result.IsError {
		return "", errors.New(result.ForLLM)
	}
	return policy.Hide(result.ForLLM), nil
}

// judge asks the rules about a call. A refusal is an error, with the rule that refuses if one does.
func (h *Host) judge(ctx context.Context, call Call) (Spec, Verdict, error) {
	spec, verdict, err := h.Registry.Judge(ctx, call)
	if err != nil {
		return Spec{}, Verdict{}, err
	}
	if !verdict.Allow && !verdict.Ask && !verdict.Pin {
		return Spec{}, Verdict{}, errors.New(h.whyRefused(call, verdict))
	}
	return spec, verdict, nil
}

// whyRefused says why a call is refused, and which rule refuses it, if one does.
func (h *Host) whyRefused(call Call, v Verdict) string {
	e, err := h.Registry.Explain(call)
	if err != nil {
		return v.Why
	}
	if e.Forbidden != "" || e.Verdict.Decision != rules.Deny || e.Verdict.Rule == nil {
		return v.Why
	}
	return fmt.Sprintf("%s (%s; rules of yours come first)", strings.TrimSuffix(v.Why, "."), e.Verdict.Rule.Position())
}

// readCall converts a path that the owner typed to a tool call.
func (h *Host) readCall(typed HostRequest) (Call, error) {
	return h.call(typed, "", ReadPath{}.Spec().Name, map[string]string{"path": typed.Text})
}

// call converts what the owner typed to a tool call.
func (h *Host) call(typed HostRequest, agent, tool string, args map[string]string) (Call, error) {
	caller := Caller{
		Owner:     true,
		Typed:     true,
		Surface:   rules.SurfaceOwner,
		Chat:      typed.Room,
		Workspace: h.Workspace,
	}
	if agent != "" {
		if err := h.SetAgent(agent, &caller); err != nil {
			return Call{}, err
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return Call{}, fmt.Errorf("write the call: %w", err)
	}
	return Call{
		ID:     fmt.Sprintf("typed in message %d", typed.Message),
		Name:   tool,
		Args:   raw,
		Caller: caller,
	}, nil
}

// splitAgent splits "@shop ls" into the agent and the command.
func splitAgent(line string) (agent, command string) {
	end := strings.IndexFunc(line, unicode.IsSpace)
	if !strings.HasPrefix(line, "@") || end < 0 {
		return "", line
	}
	return line[1:end], strings.TrimSpace(line[end:])
}
