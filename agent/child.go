package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/jobs"
	"multis/store"
	"multis/text"
)

// workForParent makes an attempt at a task that another task waits for. Only that one reads the answer.
func (a *Agent) workForParent(ctx context.Context, task store.Task, room store.Chat, last bool) error {
	parent, err := store.TaskByID(ctx, a.Store.DB(), *task.ParentID)
	if err != nil {
		return err
	}
	r := a.newAttempt(a.Personas.ByID(task.Agent), ownerRounds)
	if err := r.callForParent(ctx, room, task, parent); err != nil {
		return err
	}
	if task.Kind == store.TaskStep {
		if err := r.showInPlan(ctx, room, parent); err != nil {
			return err
		}
	}
	end := r.run.Run(ctx, task, func(ctx context.Context) (run.Opening, error) { return r.childOpening(ctx, parent) })
	state, why := store.TaskFailed, ""
	switch end.Ending {
	case run.Lost, run.Parked:
		return nil
	case run.Stopped:
		state, why = end.State, end.Why
	case run.OverBudget:
		why = end.Over.Error()
	case run.Failed, run.ModelFailed:
		if end.Ending == run.Failed && (!last || ctx.Err() != nil) {
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
		why = a.appendEffects(ctx, task, why)
	}
	return a.endChild(context.WithoutCancel(ctx), r.run.EndedTask(state, r.withSources(end.Text), why))
}

// appendEffects appends what a failed task has changed all the same to the reason. A plan tells that of all its steps itself.
func (a *Agent) appendEffects(ctx context.Context, task store.Task, why string) string {
	if effects := run.EffectsText(ctx, a.Store, task.ID); effects != "" && task.Kind != store.TaskStep {
		return strings.TrimSuffix(why, ".") + ". " + effects
	}
	return why
}

// endChild ends a task, and resumes the one that waits for it.
func (a *Agent) endChild(ctx context.Context, done store.Task) error {
	err := a.Store.InTx(ctx, func(tx store.Tx) error {
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

// childOpening builds the first request: the work, and what is found about it; nothing of any conversation.
func (r *attempt) childOpening(ctx context.Context, parent store.Task) (run.Opening, error) {
	task := r.run.Task
	found, err := r.agent.lookUp(ctx, r.places, task.Input)
	if err != nil {
		return run.Opening{}, err
	}
	name, err := store.AssistantName(ctx, r.agent.Store.DB(), r.agent.Name)
	if err != nil {
		return run.Opening{}, err
	}
	p := run.Prompt{Rules: fmt.Sprintf(childRules, r.name(name)), Manner: r.manner(), Passages: found.Hits, Question: task.Input, ToolNotes: r.toolNotes()}
	var rests []store.MessageID
	switch {
	case task.Continues != nil:
		p.Work, rests, err = r.thread(ctx)
	case task.Kind == store.TaskStep:
		_, goal := r.agent.Personas.CutMention(parent.Input)
		p.Rules, p.Question = fmt.Sprintf(stepRules, r.name(name)), "The goal: "+goal+"\nYour step: "+task.Input
		p.Work, rests, err = r.stepsBefore(ctx)
	}
	if err != nil {
		return run.Opening{}, err
	}
	first, err := r.run.Compose(ctx, p, string(task.Kind), task.ChatID)
	first.About = slices.Concat(first.About, parent.About, rests)
	return first, err
}

// stepsBefore returns what the steps before this one came to, with the messages whose words may be in it.
func (r *attempt) stepsBefore(ctx context.Context) (work string, about []store.MessageID, err error) {
	steps, err := store.Children(ctx, r.agent.Store.DB(), *r.run.Task.ParentID)
	var parts []string
	for i, s := range steps {
		if s.ID == r.run.Task.ID {
			break
		}
		about = append(about, s.About...)
		parts = append(parts, fmt.Sprintf("Step %d: %s\n%s", i+1, s.Input, text.Clip(s.Answer, maxStepAnswer)))
	}
	return strings.Join(parts, "\n\n"), about, err
}

// showInPlan has a step show its progress in the message that shows its plan.
func (r *attempt) showInPlan(ctx context.Context, room store.Chat, plan store.Task) error {
	live := r.agent.Box.Live(room, plan.LiveEvent)
	if live.Event() == "" {
		return nil
	}
	steps, err := store.Children(ctx, r.agent.Store.DB(), plan.ID)
	if err != nil {
		return err
	}
	r.run.Progress = func(ctx context.Context, said string) {
		if live.IsDue() {
			live.Show(ctx, planText(plan, steps, r.run.BreakLinks(said))+stopHint(plan.ID))
		}
	}
	return nil
}
