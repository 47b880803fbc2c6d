// Package heartbeat checks by schedule whether anything needs the owner, and reports it in the admin room, each finding
// once. A model is only asked if the database has something new to judge.
package heartbeat

import (
	"context"
	"errors"
	"slices"

	"multis/jobs"
	"multis/llm"
	"multis/store"
)

// Heartbeat carries out an agent's heartbeat, and returns a note for the history of its schedule. A repeated execution
// reports nothing twice.
func (h *Checker) Heartbeat(ctx context.Context, room store.Chat, run store.ExecutionID, agent string) (note string, err error) {
	i := slices.IndexFunc(h.Configs, func(c Config) bool { return c.Agent == agent })
	if i < 0 {
		return "", jobs.Permanent(errors.New("it is not configured any more"))
	}
	if err := store.SupersedeTasks(ctx, h.Store.Writer(), room.ID, taskKind, store.ExecutionKey(run)); err != nil {
		return "", err
	}
	c := h.newCheck(h.Configs[i], room)
	if err := c.find(ctx); err != nil {
		return "", err
	}
	switch {
	case len(c.findings)+len(c.items) == 0:
		return "nothing new", nil
	case c.model.Name() == (llm.None{}).Name():
		return c.report(ctx, nil, verdict{reportAll: true})
	default:
		return c.judge(ctx, run)
	}
}
