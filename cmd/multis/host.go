package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"multis/admin"
	"multis/agent/tools"
	"multis/config"
	"multis/policy"
	"multis/policy/rules"
	"multis/safety/sandbox"
)

// host runs the owner's commands on this machine. The rules decide about them like about the calls of a tool.
type host struct {
	cfg      *config.Config
	sandbox  *sandbox.Sandbox
	registry *tools.Registry
}

// assistantWorkspace returns the folder in which the owner's commands run, unless a command names an agent.
func assistantWorkspace(cfg *config.Config) string {
	return filepath.Join(cfg.Database.DataDir, "agents", rules.Assistant)
}

// newHost returns a host, and creates the folder in which its commands run.
func newHost(cfg *config.Config, s *sandbox.Sandbox, registry *tools.Registry) (*host, error) {
	if err := os.MkdirAll(assistantWorkspace(cfg), 0o750); err != nil {
		return nil, fmt.Errorf("make the folder for commands: %w", err)
	}
	return &host{cfg, s, registry}, nil
}

// typedCall converts a command of the owner to a tool call.
func (h *host) typedCall(typed admin.HostRequest, agent, tool string, args map[string]string) (tools.Call, error) {
	caller := tools.Caller{Owner: true, Typed: true, Surface: rules.SurfaceOwner, Chat: typed.Room, Workspace: assistantWorkspace(h.cfg)}
	if agent != "" {
		if err := callerOf(h.cfg, agent, &caller); err != nil {
			return tools.Call{}, err
		}
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return tools.Call{}, fmt.Errorf("write the call: %w", err)
	}
	return tools.Call{ID: fmt.Sprintf("typed in message %d", typed.Message), Name: tool, Args: raw, Caller: caller}, nil
}

// splitAgent splits "@shop ls" into the agent and the command.
func splitAgent(line string) (agent, command string) {
	if name, rest, found := strings.Cut(line, " "); found && strings.HasPrefix(name, "@") {
		return name[1:], strings.TrimSpace(rest)
	}
	return "", line
}

// Prepare parses a command line and checks it by the rules.
func (h *host) Prepare(ctx context.Context, typed admin.HostRequest) (admin.HostCommand, error) {
	agent, command := splitAgent(typed.Text)
	call, err := h.typedCall(typed, agent, "exec", map[string]string{"command": command})
	if err != nil {
		return admin.HostCommand{}, err
	}
	_, verdict, err := h.registry.Judge(ctx, call)
	if err != nil {
		return admin.HostCommand{}, err
	}
	if !verdict.Allow && !verdict.Ask && !verdict.Pin {
		return admin.HostCommand{}, errors.New(h.whyRefused(call, verdict))
	}
	argv, err := sandbox.Parse(command)
	if err != nil {
		return admin.HostCommand{}, err
	}
	binding, err := h.registry.Binding(ctx, call)
	if err != nil {
		return admin.HostCommand{}, err
	}
	return admin.HostCommand{Line: typed.Text, Shown: sandbox.Quote(argv), Agent: agent, Binding: binding, NeedsPIN: verdict.Pin}, nil
}

// whyRefused says why a call is refused, and which rule refuses it, if one does.
func (h *host) whyRefused(call tools.Call, v tools.Verdict) string {
	e, err := h.registry.Explain(call)
	if err != nil || e.Forbidden != "" || e.Verdict.Decision != rules.Deny || e.Verdict.Rule == nil {
		return v.Why
	}
	return fmt.Sprintf("%s (%s; rules of yours come first)", strings.TrimSuffix(v.Why, "."), e.Verdict.Rule.Position())
}

// Run runs a prepared command.
func (h *host) Run(ctx context.Context, c admin.HostCommand, live func([]byte)) (admin.HostResult, error) {
	_, typed := splitAgent(c.Line)
	call, err := h.typedCall(admin.HostRequest{}, c.Agent, "exec", nil)
	if err != nil {
		return admin.HostResult{}, err
	}
	argv, err := sandbox.Parse(typed)
	if err != nil {
		return admin.HostResult{}, err
	}
	r, err := h.sandbox.Run(ctx, sandbox.Command{
		Argv: argv, Workspace: call.Workspace, ReadPaths: call.ReadPaths, Timeout: sandbox.MaxTimeout, Fingerprint: c.Binding, OnOutput: live,
	})
	return admin.HostResult{ExitCode: r.ExitCode, Output: r.Output, TimedOut: r.TimedOut, Took: r.Duration}, err
}

// Resolve checks by the rules whether a file may be read, and returns its path with all links resolved.
func (h *host) Resolve(ctx context.Context, typed admin.HostRequest) (string, error) {
	call, err := h.typedCall(typed, "", "read", map[string]string{"path": typed.Text})
	if err != nil {
		return "", err
	}
	spec, verdict, err := h.registry.Judge(ctx, call)
	switch {
	case err != nil:
		return "", err
	case !verdict.Allow && !verdict.Ask && !verdict.Pin:
		return "", errors.New(h.whyRefused(call, verdict))
	case len(spec.Resource.Paths) == 0:
		return "", errors.New("which file?")
	default:
		return spec.Resource.Paths[0], nil
	}
}

// Read returns the beginning of a text file.
func (h *host) Read(ctx context.Context, typed admin.HostRequest) (string, error) {
	call, err := h.typedCall(typed, "", "read", map[string]string{"path": typed.Text})
	if err != nil {
		return "", err
	}
	if _, verdict, err := h.registry.Judge(ctx, call); err != nil || (!verdict.Allow && !verdict.Ask && !verdict.Pin) {
		return "", cmp.Or(err, errors.New(verdict.Why))
	}
	result, err := tools.ReadPath{Sandbox: h.sandbox}.Run(ctx, call)
	switch {
	case err != nil:
		return "", err
	case result.IsError:
		return "", errors.New(result.ForLLM)
	default:
		return policy.Hide(result.ForLLM), nil
	}
}
