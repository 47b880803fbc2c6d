package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/config"
	"multis/internal/fetch"
	"multis/safety/sandbox"
)

// agentProgram is an external command-line agent. It runs in the sandbox, in its workspace.
type agentProgram struct {
	sandbox *sandbox.Sandbox
	config  config.Agent
	// proxy configures how the program reaches the network; tests change it.
	proxy fetch.ProxyOptions
}

// addPrograms registers the agents that have a command as external agents. The tool delegate asks for approval before it gives them a task.
// Without a tested sandbox (proved is nil) they refuse all tasks.
func (a *assistant) addPrograms(proved *sandbox.Sandbox) {
	all := a.models.personas.All
	for i := range all {
		if c := a.cfg.Agents[all[i].ID]; len(c.Command) > 0 {
			all[i].Program = unavailableProgram{c.Command}
			if proved != nil {
				all[i].Program = agentProgram{sandbox: proved, config: c, proxy: fetch.ProxyOptions{Ports: c.Ports, Domains: c.Domains}}
			}
		}
	}
	a.tools.Add(tools.Delegate{ProgramOf: func(called string) (tools.ExternalAgent, bool) {
		i := slices.IndexFunc(all, func(p persona.Persona) bool {
			return p.Program != nil && (p.HasName(called) || slices.Contains(p.Capabilities, strings.ToLower(called)))
		})
		if i < 0 {
			return nil, false
		}
		return all[i].Program, true
	}})
}

// unavailableProgram is an external agent on a machine without a working sandbox. It refuses all tasks.
type unavailableProgram struct{ argv []string }

var errNoPrograms = errors.New("commands are off on this machine; the log says why")

// Work returns an error.
func (unavailableProgram) Work(context.Context, string) (string, error) { return "", errNoPrograms }

// Argv returns the command without a task.
func (p unavailableProgram) Argv() []string { return p.argv }

// Fingerprint returns an error, so that the owner is not asked for an approval.
func (unavailableProgram) Fingerprint(context.Context) (string, error) { return "", errNoPrograms }

// Argv returns the command without a task.
func (p agentProgram) Argv() []string {
	return slices.DeleteFunc(slices.Clone(p.config.Command), func(word string) bool { return word == config.AgentPrompt })
}

// Fingerprint returns a hash of the program and its scripts.
func (p agentProgram) Fingerprint(ctx context.Context) (string, error) {
	fingerprint, err := p.sandbox.Fingerprint(ctx, sandbox.Command{
		Argv:      p.Argv(),
		Workspace: p.config.Workspace,
		ReadPaths: p.config.ReadPaths,
	})
	if err != nil {
		return "", fmt.Errorf("look at the program: %w", err)
	}
	return fingerprint, nil
}

// command returns the command for a task. The task is an argument or the standard input. An argument never begins with a dash, so that
// the program does not read it as an option.
func (p agentProgram) command(task string) sandbox.Command {
	if strings.HasPrefix(strings.TrimSpace(task), "-") {
		task = "Task: " + task
	}
	c := sandbox.Command{
		Argv:          slices.Clone(p.config.Command),
		Workspace:     p.config.Workspace,
		ReadPaths:     p.config.ReadPaths,
		Timeout:       p.config.Timeout,
		RelaxedLimits: true,
		Stdin:         []byte{},
		Env:           []string{"HOME=" + p.config.Workspace},
	}
	if i := slices.Index(c.Argv, config.AgentPrompt); i >= 0 {
		c.Argv[i] = task
	} else {
		c.Stdin = []byte(task)
	}
	for _, name := range slices.Sorted(maps.Keys(p.config.Env)) {
		c.Env = append(c.Env, name+"="+p.config.Env[name].Value())
	}
	return c
}

// Work runs the program with a task, and returns its output.
func (p agentProgram) Work(ctx context.Context, task string) (string, error) {
	c := p.command(task)
	if p.config.Network {
		proxy, err := fetch.StartProxy(ctx, p.proxy)
		if err != nil {
			return "", err
		}
		defer proxy.Close()
		c.Port = proxy.Port()
		c.Env = append(c.Env, "HTTPS_PROXY="+proxy.URL(), "https_proxy="+proxy.URL(), "NODE_USE_ENV_PROXY=1")
	}
	result, err := p.sandbox.Run(ctx, c)
	switch {
	case err != nil:
		return "", err
	case result.TimedOut:
		return result.Output, fmt.Errorf("it took longer than %s, so it was stopped; its last words: %s", p.config.Timeout,
			tools.Clip(result.Output, 1000))
	case result.ExitCode != 0:
		return result.Output, fmt.Errorf("it ended with status %d: %s", result.ExitCode, tools.Clip(result.Output, 1000))
	}
	return result.Output, nil
}
