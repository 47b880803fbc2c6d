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
	Task  store.TaskID `arg:"" help:"The number of the task, which is shown below its answer."`
	Model string       `placeholder:"PROVIDER/NAME" help:"Ask this model the same questions, and show its answers beside the stored ones. It is paid from the budget."`
}

// Run replays the task and prints the result.
func (c replayCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	models, err := newModels(cfg, st)
	if err != nil {
		return err
	}
	set, err := newPersonas(cfg, models, llm.None{})
	if err != nil {
		return err
	}
	ag := agent.New(agent.Options{Store: st, Personas: set})
	var other llm.Model
	if c.Model != "" {
		if other, err = models.Open(cfg.LLM.ResolveModels(c.Model), ""); err != nil {
			return fmt.Errorf("--model: %w", err)
		}
	}
	p, err := ag.Replays.Replay(ctx, c.Task, other)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no task %d; tasks are kept for 30 days", c.Task)
	}
	if err != nil {
		return err
	}
	fmt.Println(renderMarkdown(p.Markdown(), false))
	return nil
}

// replayer replays tasks for the admin room, without calling a model.
type replayer struct{ replays *agent.Replays }

// Replay replays a task and returns the result in Markdown.
func (r replayer) Replay(ctx context.Context, task store.TaskID) (string, error) {
	p, err := r.replays.Replay(ctx, task, nil)
	if err != nil {
		return "", err
	}
	return p.Markdown(), nil
}
