package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"maunium.net/go/mautrix/id"

	"multis/agent"
	"multis/agent/persona"
	agentrun "multis/agent/run"
	"multis/agent/skills"
	"multis/config"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// newPersonaList returns the configured agents, sorted by name.
func newPersonaList(cfg *config.Config, models *llm.Models) ([]persona.Persona, error) {
	var all []persona.Persona
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		a := cfg.Agents[name]
		p := persona.Persona{
			ID:            name,
			Name:          a.Name,
			Theme:         a.Theme,
			Emoji:         a.Emoji,
			Avatar:        id.ContentURIString(a.Avatar),
			Mentions:      a.Mentions,
			Instructions:  a.Instructions,
			Allow:         a.Allow,
			Deny:          a.Deny,
			Workspace:     a.Workspace,
			ReadPaths:     a.ReadPaths,
			CommandsWrite: cfg.Exec.Enabled,
			Skills:        a.Skills,
			Rooms:         a.Rooms,
			Senders:       a.Senders,
			Spaces:        a.Spaces,
			Logins:        a.Logins,
			Networks:      a.Networks,
			Modes:         a.Modes,
			Default:       a.Default,
			Capabilities:  a.Capabilities,
			Delegates:     a.Delegates,
		}
		if a.Model != "" || a.APIKey != "" {
			names := cfg.LLM.ResolveModels(cmp.Or(a.Model, cfg.LLM.Model))
			m, err := models.Open(names, a.APIKey.Value())
			if err != nil {
				return nil, modelProblem(cfg, "agents."+name+".model", err)
			}
			p.Model, p.Limits = m, promptLimits(cfg, models, names)
		}
		all = append(all, p)
	}
	return all, nil
}

// promptLimits returns the prompt limits for these models: the smallest context window, and how many messages of a
// conversation a prompt contains.
func promptLimits(cfg *config.Config, models *llm.Models, names []string) agentrun.Limits {
	return agentrun.Limits{
		Context:   cmp.Or(cfg.LLM.ContextWindow(names), models.ContextWindow(names)),
		Window:    cfg.Memory.RecentWindow,
		MaxTokens: cfg.LLM.MaxTokens,
		Rounds:    cfg.LLM.Rounds,
		Timeout:   cfg.LLM.AnswerTimeout,
		Small:     cfg.LLM.IsSmall(names),
	}
}

// routedSpaces returns the Matrix spaces whose rooms are assigned to an agent.
func routedSpaces(cfg *config.Config) []id.RoomID {
	var all []id.RoomID
	for _, a := range cfg.Agents {
		for _, space := range a.Spaces {
			all = append(all, id.RoomID(space))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// newPersonas returns the configured agents, and the model for agents without a model of their own.
func newPersonas(cfg *config.Config, models *llm.Models, model llm.Model) (persona.Set, error) {
	all, err := newPersonaList(cfg, models)
	return persona.Set{All: all, Model: model, Limits: promptLimits(cfg, models, cfg.LLM.ResolveModels(cfg.LLM.Model))}, err
}

// makeWorkspaces makes the workspaces of agents that lie in the data folder, as those do that the configuration does not
// name. A folder elsewhere is the owner's to make.
func makeWorkspaces(cfg *config.Config) error {
	data, err := filepath.Abs(cfg.Database.DataDir)
	if err != nil {
		return fmt.Errorf("database.data_dir: %w", err)
	}
	for name, a := range cfg.Agents {
		if inside, err := filepath.Rel(data, a.Workspace); err != nil || !filepath.IsLocal(inside) {
			continue
		}
		if err := os.MkdirAll(a.Workspace, 0o750); err != nil {
			return fmt.Errorf("agents.%s.workspace: %w", name, err)
		}
	}
	return nil
}

// newShortcuts returns the configured shortcuts, which replace messages of the owner by commands.
func newShortcuts(cfg *config.Config) ([]policy.Shortcut, error) {
	var all []policy.Shortcut
	for _, s := range cfg.Shortcuts {
		shortcut, err := policy.NewShortcut(s.Pattern, s.Command)
		if err != nil {
			return nil, fmt.Errorf("shortcuts: %w", err)
		}
		all = append(all, shortcut)
	}
	return all, nil
}

// savedTasks lists and starts the tasks that are stored as files in the tasks folder.
type savedTasks struct {
	cfg       *config.Config
	questions *agent.Questions
}

// Saved reads the files and returns the tasks.
func (t savedTasks) Saved() []skills.SavedTask {
	all := skills.ReadSavedTasks(t.cfg.Tasks.Folder)
	for i, s := range all {
		if _, exists := t.cfg.Agents[s.Agent]; s.Agent != "" && !exists {
			all[i].Problem = "there is no agent " + s.Agent
		}
	}
	return all
}

// Start starts a task. problem says why it cannot start; empty if it has.
func (t savedTasks) Start(ctx context.Context, tx store.Tx, room store.Chat, message store.Message,
	name string,
) (problem string, err error) {
	all := skills.ReadSavedTasks(t.cfg.Tasks.Folder)
	i := slices.IndexFunc(all, func(s skills.SavedTask) bool { return s.Name == name })
	switch {
	case i < 0:
		return "its file is gone", nil
	case all[i].Problem != "":
		return all[i].Problem, nil
	}
	return t.questions.StartSavedTask(ctx, tx, room, message, all[i])
}

// planner starts plans, and replays tasks with another model.
type planner struct {
	*agent.Plans
	*agent.Replays
}
