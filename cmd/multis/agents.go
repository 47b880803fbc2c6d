package main

import (
	"context"
	"maps"
	"slices"

	"maunium.net/go/mautrix/id"

	"multis/admin"
	"multis/agent"
	"multis/config"
	"multis/policy"
	"multis/tools"
)

// personas are the agents of the configuration, by name.
func personas(cfg *config.Config) []agent.Persona {
	var all []agent.Persona
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		a := cfg.Agents[name]
		all = append(all, agent.Persona{
			ID: name, Name: a.Name, Theme: a.Theme, Emoji: a.Emoji, Avatar: id.ContentURIString(a.Avatar), Mentions: a.Mentions, Instructions: a.Instructions,
			Allow: a.Allow, Deny: a.Deny, Workspace: a.Workspace, ReadPaths: a.ReadPaths,
			Rooms: a.Rooms, Senders: a.Senders, Accounts: a.Accounts, Networks: a.Networks, Modes: a.Modes, Default: a.Default,
		})
	}
	return all
}

// agentList is the agents as the admin room shows them.
func agentList(cfg *config.Config) []admin.Agent {
	var all []admin.Agent
	for _, p := range personas(cfg) {
		all = append(all, admin.Agent{ID: p.ID, Name: p.Name, Emoji: p.Emoji, Theme: p.Theme, Default: p.Default})
	}
	return all
}

// toolList is what a model may call for the owner, as the admin room shows it.
func toolList(registry *tools.Registry) func(ctx context.Context) ([]admin.Tool, error) {
	return func(ctx context.Context) ([]admin.Tool, error) {
		offered, err := registry.Offered(ctx, tools.Caller{Owner: true, Scope: policy.OwnerScope(), Workspace: "."})
		if err != nil {
			return nil, err
		}
		all := make([]admin.Tool, len(offered))
		for i, s := range offered {
			all[i] = admin.Tool{Name: s.Name, Summary: s.Description, Asks: s.Tier != tools.Read}
		}
		return all, nil
	}
}
