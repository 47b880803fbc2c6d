package heartbeat

import (
	"context"
	"fmt"
	"strings"

	"multis/agent/run"
	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/tools"
)

// maxRounds bounds the model's calls in one check.
const maxRounds = 6

// judge has a model judge which of the matters the owner needs to know.
func (c *check) judge(ctx context.Context, scheduled store.RunID) (note string, err error) {
	h := c.checker
	task, err := store.InsertTask(ctx, h.Store.Writer(), store.Task{
		Key: store.RunKey(scheduled), RunID: &scheduled, Kind: kind, ChatID: c.room.ID, Agent: c.config.Agent, Model: c.model.Name(), Input: "Does something need the owner?",
	})
	if err != nil || task.State.IsOver() {
		return "looked", err
	}
	if len(c.items) > 0 {
		if err := store.RecordCheck(ctx, h.Store.Writer(), c.config.Agent, c.day(), c.at); err != nil {
			return "", err
		}
	}
	a := run.Engine{Store: h.Store, Tools: h.Tools, Now: h.now, Fence: h.fence}.New(c.model, c.limits)
	a.MaxRounds, a.Payer = maxRounds, payer(c.config.Agent)
	a.Caller = tools.Caller{
		Owner: true, ReadOnly: true, Chat: c.room, Scope: policy.OwnerScope(c.heard.ChatIDs()...), Agent: c.persona.ID, Asked: strings.Join(c.items, "\n"),
		Allow: c.persona.Allow, Deny: append(tools.AgentTools(), c.persona.Deny...), Workspace: c.persona.Workspace, ReadPaths: c.persona.ReadPaths,
	}
	end := a.Run(ctx, task, func(ctx context.Context) (run.Opening, error) { return c.opening(ctx, a) })
	return c.reportEnd(ctx, a, end)
}

// payer names the budget that a heartbeat is paid from.
func payer(agent string) string {
	if agent == "" {
		return string(kind)
	}
	return string(kind) + " " + agent
}

// reportEnd reports what the model judged. If it did not, all matters are reported as they are.
func (c *check) reportEnd(ctx context.Context, a *run.Attempt, end run.End) (note string, err error) {
	failure := end.Err
	switch end.Ending {
	case run.Lost:
		return "looked", nil
	case run.Failed, run.Parked:
		return "", end.Err
	case run.Stopped:
		task := a.EndedTask(end.State, "", end.Why)
		return c.report(context.WithoutCancel(ctx), &task, verdict{all: true})
	case run.OverBudget:
		task := a.EndedTask(store.TaskFailed, "", end.Err.Error())
		note, err := c.report(ctx, &task, verdict{all: true})
		return note + ", the money for it is used up", err
	case run.ModelFailed:
	case run.Finished:
		said, err := parseVerdict(end.Text)
		if err == nil {
			task := a.EndedTask(store.TaskCompleted, end.Text, "")
			return c.report(ctx, &task, said.unlinked(a))
		}
		failure = err
	}
	task := a.EndedTask(store.TaskFailed, end.Text, failure.Error())
	if _, err := c.report(ctx, &task, verdict{all: true}); err != nil {
		return "", err
	}
	return "", jobs.Final(fmt.Errorf("the model did not say whether something matters: %w", failure))
}
