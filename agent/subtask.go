package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/internal/text"
	"multis/jobs"
	"multis/store"
)

// subtasks works on tasks that another task waits for: tasks that one agent gave to another, and the steps of plans.
type subtasks struct{ *core }

// work makes an attempt at a task that another task waits for. The answer goes to that task only.
func (d *subtasks) work(ctx context.Context, task store.Task, room store.Chat, last bool) error {
	parent, err := store.TaskByID(ctx, d.store.DB(), *task.ParentID)
	if err != nil {
		return err
	}
	if p := d.personas.ByID(task.Agent); p.Program != nil {
		return d.runProgram(ctx, task, p)
	}
	r := d.newAttempt(d.personas.ByID(task.Agent), ownerRounds)
	if err := r.prepareForParent(ctx, room, task, parent); err != nil {
		return err
	}
	if task.Kind == store.TaskStep {
		if err := r.reportProgressToPlan(ctx, room, parent); err != nil {
			return err
		}
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.FirstRequest, error) { return r.buildSubtaskRequest(ctx, parent) })
	state, why := store.TaskFailed, ""
	switch end.End {
	case run.LeaseLost, run.Suspended:
		return nil
	case run.Stopped:
		state, why = end.State, end.Why
	case run.OverBudget:
		why = end.BudgetError.Error()
	case run.Failed, run.ModelFailed:
		if end.End == run.Failed && (!last || ctx.Err() != nil) {
			return end.Err
		}
		zerolog.Ctx(ctx).Err(end.Err).Int64("task_id", int64(task.ID)).Msg("A task that another one waits for failed")
		why = "it did not work out"
	case run.Finished:
		if why = end.Why; end.Text != "" {
			state = store.TaskCompleted
		}
	}
	if state != store.TaskCompleted {
		why = d.appendEffects(ctx, task, why)
	}
	return d.end(context.WithoutCancel(ctx), r.run.EndedTask(state, r.withSources(end.Text), why))
}

// appendEffects appends the side effects of a failed task to the reason. It leaves out those of a step, because the plan lists them itself.
func (d *subtasks) appendEffects(ctx context.Context, task store.Task, why string) string {
	if effects := run.EffectsText(ctx, d.store, task.ID); effects != "" && task.Kind != store.TaskStep {
		return strings.TrimSuffix(why, ".") + ". " + effects
	}
	return why
}

// end ends a task, and resumes the task that waits for it.
func (d *subtasks) end(ctx context.Context, done store.Task) error {
	err := d.store.InTx(ctx, func(tx store.Tx) error {
		if _, err := store.EndTask(ctx, tx, done); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: *done.ParentID})
	})
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	return err
}

// buildSubtaskRequest builds the first request: the work, and the passages found for it, without any conversation.
func (r *attempt) buildSubtaskRequest(ctx context.Context, parent store.Task) (run.FirstRequest, error) {
	task := r.run.Task
	found, err := r.core.searchForOwner(ctx, &r.area, task.Input)
	if err != nil {
		return run.FirstRequest{}, err
	}
	name, err := r.assistantName(ctx)
	if err != nil {
		return run.FirstRequest{}, err
	}
	p := run.Prompt{
		Rules:        fmt.Sprintf(childRules, name),
		Instructions: r.instructions(),
		Passages:     found.Hits,
		Question:     task.Input,
		ToolNotes:    r.toolNotes(),
	}
	var rests []store.MessageID
	switch {
	case task.Continues != nil:
		p.Work, rests, err = r.continuedWork(ctx)
	case task.Kind == store.TaskStep:
		_, goal := r.core.personas.CutMention(parent.Input)
		p.Rules, p.Question = fmt.Sprintf(stepRules, name), "The goal: "+goal+"\nYour step: "+task.Input
		p.Work, rests, err = r.earlierSteps(ctx)
	}
	if err != nil {
		return run.FirstRequest{}, err
	}
	first, err := r.run.Compose(ctx, p, string(task.Kind), task.ChatID)
	first.About = slices.Concat(first.About, parent.Sources, rests)
	return first, err
}

// earlierSteps returns the answers of the steps before this one, and the messages whose words may be in them.
func (r *attempt) earlierSteps(ctx context.Context) (work string, about []store.MessageID, err error) {
	steps, err := store.Children(ctx, r.core.store.DB(), *r.run.Task.ParentID)
	var parts []string
	for i, s := range steps {
		if s.ID == r.run.Task.ID {
			break
		}
		about = append(about, s.Sources...)
		parts = append(parts, fmt.Sprintf("Step %d: %s\n%s", i+1, s.Input, text.Clip(s.Answer, maxStepAnswer)))
	}
	return strings.Join(parts, "\n\n"), about, err
}

// reportProgressToPlan makes a step show its progress in the message that shows its plan.
func (r *attempt) reportProgressToPlan(ctx context.Context, room store.Chat, plan store.Task) error {
	live := r.core.box.Live(room, plan.ProgressEvent)
	if live.Event() == "" {
		return nil
	}
	steps, err := store.Children(ctx, r.core.store.DB(), plan.ID)
	if err != nil {
		return err
	}
	r.run.Progress = func(ctx context.Context, partial string) {
		if live.IsDue() {
			live.Show(ctx, planText(plan, steps, r.run.BreakLinks(partial))+stopHint(plan.ID))
		}
	}
	return nil
}
