package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"multis/agent/tools"
	"multis/config"
	"multis/hooks"
	"multis/ops/setup"
	"multis/outbox"
	"multis/policy"
	"multis/safety/sandbox"
	"multis/store"
)

// openHooks returns the configured hooks. commands runs the hooks that are programs.
func openHooks(cfg *config.Config, st *store.Store, box *outbox.Box, defaults policy.Defaults, commands *hooks.Commands) *hooks.Hooks {
	targets := map[string]hooks.Target{}
	for name, h := range cfg.Hooks {
		targets[name] = hooks.Target{URL: h.URL.Value(), Events: h.Events, Secret: h.Secret.Value(), Private: h.Private}
	}
	for name, h := range cfg.CommandHooks {
		if len(h.Events) > 0 {
			targets[name] = hooks.Target{Command: true, Events: h.Events}
		}
	}
	return hooks.New(hooks.Options{
		Store:     st,
		Box:       box,
		Defaults:  defaults,
		UserAgent: userAgent(),
		Targets:   targets,
		Commands:  commands,
	})
}

// openCommandHooks returns the configured command hooks; nil if there are none. If s is nil, problem says why there is no sandbox.
func (a *assistant) openCommandHooks(s *sandbox.Sandbox, problem error) (*hooks.Commands, error) {
	if len(a.cfg.CommandHooks) == 0 {
		return nil, nil //nolint:nilnil // a nil *Commands is valid and runs nothing
	}
	o := hooks.CommandOptions{Store: a.store, Audit: a.audit, Folder: filepath.Join(a.cfg.Database.DataDir, "hooks")}
	if problem != nil {
		o.Problem = problem.Error()
	} else {
		o.Runner = s
	}
	o.Commands = commandHooksOf(a.cfg)
	return hooks.NewCommands(o)
}

// commandHooksOf returns the configured command hooks, by name.
func commandHooksOf(cfg *config.Config) []hooks.Command {
	var all []hooks.Command
	for _, name := range slices.Sorted(maps.Keys(cfg.CommandHooks)) {
		h := cfg.CommandHooks[name]
		all = append(all, hooks.Command{Name: name, Argv: h.Command, Before: h.Before, Tools: h.Tools})
	}
	return all
}

// beforeTool asks the command hooks before a tool is called.
func (a *assistant) beforeTool(ctx context.Context, s tools.Spec, c tools.Call) (policy.HookVerdict, error) {
	return a.commandHooks.AskTool(ctx, hooks.ToolCall{
		Name:      s.Name,
		Class:     string(s.Class),
		Arguments: c.Args,
		Agent:     c.Agent,
		Surface:   string(c.Surface),
		Tainted:   c.Tainted,
		Chat:      c.Chat.ID,
		Task:      c.Task,
	})
}

// beforeSend asks the command hooks before a message is sent to a contact.
func (a *assistant) beforeSend(ctx context.Context, chat store.Chat, o store.OutboxMessage) (policy.HookVerdict, error) {
	return a.commandHooks.AskSend(ctx, hooks.ContactMessage{
		Chat:    chat.ID,
		Name:    chat.Label(),
		Network: chat.Protocol,
		Purpose: o.Purpose,
		Text:    outbox.TextOf(o),
		Ref:     o.ID.String(),
	})
}

// userAgent returns the User-Agent header of requests to other servers.
func userAgent() string { return "multis/" + version }

// webhookAddress returns the public address of incoming webhooks. It is empty when they are off.
func webhookAddress(w config.WebhookListener) string {
	if w.Port == 0 {
		return ""
	}
	return w.Address
}

// serveWebhooks serves incoming webhooks until ctx ends. It returns at once when they are off.
func serveWebhooks(ctx context.Context, w config.WebhookListener, webhooks *hooks.Webhooks) error {
	if w.Port == 0 {
		return nil
	}
	listener, err := setup.Listen(ctx, w.Hostname, w.Port)
	if err != nil {
		return fmt.Errorf("listen for webhooks: %w; check watches.hostname and watches.port", err)
	}
	return listen(ctx, listener, webhooks.Handler())
}
