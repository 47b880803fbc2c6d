package main

import (
	"context"
	"errors"
	"fmt"

	"multis/agent"
	"multis/llm"
	"multis/store"
)

// replayCmd replays a task.
type replayCmd struct {
	Task  store.TaskID `arg:"" help:"The number of the task, as it stands under its answer."`
	Model string       `placeholder:"PROVIDER/NAME" help:"Ask this model the same and show what it says beside what was said. It is paid from the budget."`
}

// Run replays the task and prints the result.
func (c replayCmd) Run(ctx context.Context, g *cli) error {
	cfg, st, closeDB, err := open(ctx, g.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	models, err := newModels(cfg, st)
	if err != nil {
		return err
	}
	set, err := newPersonas(cfg, models, llm.None{}) //nolint:contextcheck // it connects to nobody
	if err != nil {
		return err
	}
	ag := agent.New(agent.Options{Store: st, Personas: set})
	var other llm.Model
	if c.Model != "" {
		if other, err = models.Open(cfg.LLM.ResolveModels(c.Model), ""); err != nil { //nolint:contextcheck // nor does this
			return fmt.Errorf("I cannot ask that model: %w", err)
		}
	}
	p, err := ag.Replay(ctx, c.Task, other)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no task %d; tasks are kept for 30 days", c.Task)
	}
	if err != nil {
		return err
	}
	fmt.Println(unmark(p.Markdown(), false))
	return nil
}

// replayer replays tasks for the admin room, without calling a model.
type replayer struct{ agent *agent.Agent }

// Replay replays a task and returns the result in Markdown.
func (r replayer) Replay(ctx context.Context, task store.TaskID) (string, error) {
	p, err := r.agent.Replay(ctx, task, nil)
	if err != nil {
		return "", err
	}
	return p.Markdown(), nil
}
