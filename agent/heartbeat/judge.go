package heartbeat

import (
	"context"
	"fmt"
	"strings"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/jobs"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

// maxRounds is the maximum number of requests to the model in one check.
const maxRounds = 6

// judge asks a model which findings the owner needs to know, and reports those.
func (c *check) judge(ctx context.Context, execution store.ExecutionID) (note string, err error) {
	h := c.checker
	task, err := store.InsertTask(ctx, h.Store.Writer(), store.Task{
		Key:         store.ExecutionKey(execution),
		ExecutionID: &execution,
		Kind:        taskKind,
		ChatID:      c.room.ID,
		Agent:       c.config.Agent,
		Model:       c.model.Name(),
		Input:       "Does something need the owner?",
	})
	if err != nil {
		return "looked", err
	}
	if task.State.IsOver() {
		return "looked", nil
	}
	if len(c.items) > 0 {
		if err := store.RecordCheck(ctx, h.Store.Writer(), c.config.Agent, c.day(), c.at); err != nil {
			return "", err
		}
	}
	a := run.Engine{
		Store: h.Store,
		Tools: h.Tools,
		Now:   h.now,
		Zone:  h.Zone,
		Fence: h.fence,
	}.NewAttempt(c.model, c.limits)
	a.MaxRounds, a.PayingAgent = maxRounds, budgetName(c.config.Agent)
	ownerText := strings.Join(c.config.Items, "\n") // without HEARTBEAT.md, which agents may be able to write
	a.Caller = tools.Caller{
		Owner:     true,
		Surface:   rules.SurfaceHeartbeat,
		Tainted:   true,
		ReadOnly:  true,
		Chat:      c.room,
		Scope:     policy.OwnerScope(c.conversations.ChatIDs()...),
		Agent:     c.persona.ID,
		OwnerText: ownerText,
		Allow:     c.persona.Allow,
		Deny:      append(tools.AgentTools(), c.persona.Deny...),
		Workspace: c.persona.Workspace,
		ReadPaths: c.persona.ReadPaths,
	}
	end := a.Run(ctx, task, func(ctx context.Context) (run.FirstRequest, error) { return c.opening(ctx, a) })
	return c.reportEnd(ctx, a, end)
}

// matters returns the names of all findings and items in the prompt.
func (c *check) matters() []string {
	var names []string
	for _, m := range c.findings {
		names = append(names, m.Key)
	}
	for i := range c.items {
		names = append(names, itemKey(i))
	}
	return names
}

// budgetName returns the name of the budget that pays for a heartbeat.
func budgetName(agent string) string {
	if agent == "" {
		return string(taskKind)
	}
	return string(taskKind) + " " + agent
}

// reportEnd reports the findings that the model selected. If the model gave no verdict, it reports all of them.
func (c *check) reportEnd(ctx context.Context, a *run.Attempt, end run.AttemptResult) (note string, err error) {
	failure := end.Err
	switch end.End {
	case run.LeaseLost:
		return "looked", nil
	case run.Failed, run.Suspended:
		return "", end.Err
	case run.Stopped:
		task := a.EndedTask(end.State, "", end.Why)
		return c.report(context.WithoutCancel(ctx), &task, verdict{reportAll: true})
	case run.OverBudget:
		task := a.EndedTask(store.TaskFailed, "", end.Err.Error())
		note, err := c.report(ctx, &task, verdict{reportAll: true})
		return note + ", the money for it is used up", err
	case run.ModelFailed:
	case run.Finished:
		v, err := parseVerdict(end.Text)
		if err == nil {
			task := a.EndedTask(store.TaskCompleted, end.Text, "")
			return c.report(ctx, &task, v.breakUnknownLinks(a).resolve(c.matters()))
		}
		failure = err
	}
	task := a.EndedTask(store.TaskFailed, end.Text, failure.Error())
	if _, err := c.report(ctx, &task, verdict{reportAll: true}); err != nil {
		return "", err
	}
	return "", jobs.Permanent(fmt.Errorf("the model did not say whether something matters: %w", failure))
}
