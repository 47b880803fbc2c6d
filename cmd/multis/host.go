package main

import (
	"fmt"
	"os"
	"path/filepath"

	"multis/agent/tools"
	"multis/config"
	"multis/policy/rules"
	"multis/safety/sandbox"
)

// assistantWorkspace returns the folder in which the owner's commands run, unless a command names an agent.
func assistantWorkspace(cfg *config.Config) string {
	return filepath.Join(cfg.Database.DataDir, "agents", rules.Assistant)
}

// newHost returns a host for the owner's commands, and creates the folder in which they run.
func newHost(cfg *config.Config, s *sandbox.Sandbox, registry *tools.Registry) (*tools.Host, error) {
	workspace := assistantWorkspace(cfg)
	if err := os.MkdirAll(workspace, 0o750); err != nil {
		return nil, fmt.Errorf("make the folder for commands: %w", err)
	}
	return &tools.Host{
		Sandbox:   s,
		Registry:  registry,
		Workspace: workspace,
		SetAgent:  func(agent string, c *tools.Caller) error { return callerOf(cfg, agent, c) },
	}, nil
}
