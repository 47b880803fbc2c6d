package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// programPoll is how often a running program is checked for being cancelled.
const programPoll = 300 * time.Millisecond

// programStep is the name of the step in which a program works, as the audit log shows it.
const programStep = "run_program"

// stoppedError ends the work of a program whose task was cancelled.
type stoppedError struct{ why string }

func (e stoppedError) Error() string { return e.why }

// runProgram lets an external command-line agent do a task. Its output counts as text of others. It is never run twice for one task.
func (d *subtasks) runProgram(ctx context.Context, opened store.Task, p persona.Persona) error {
	task, err := store.ClaimTask(ctx, d.store.Writer(), opened.ID)
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	if err != nil {
		return err
	}
	task.State, task.Tainted = store.TaskFailed, true
	switch {
	case task.Kind != store.TaskChild:
		task.Error = "a program only works on what is given to it with delegate"
	case task.Forgotten:
		task.Error = run.ErrSourceDeleted.Error()
	case task.Attempt > 1:
		task.Error = "it was begun before a crash, and nobody knows how far it got; look into its workspace before you give it the same again"
	default:
		changed, err := d.hasChanged(ctx, task, p)
		if err != nil {
			return err
		}
		if changed {
			task.Error = tools.ErrProgramChanged.Error()
			break
		}
		if task, err = d.runToEnd(ctx, task, p); err != nil {
			return err
		}
	}
	return d.end(context.WithoutCancel(ctx), task)
}

// hasChanged reports whether a program is another one than the owner approved for a task. The task may have waited since,
// also over a restart.
func (d *subtasks) hasChanged(ctx context.Context, task store.Task, p persona.Persona) (bool, error) {
	call, _ := strings.CutPrefix(task.Key, childKey(*task.ParentID, ""))
	approved, err := store.ApprovalOf(ctx, d.store.DB(), *task.ParentID, call)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // a rule allowed it
	}
	if err != nil {
		return false, err
	}
	now, err := p.Program.Fingerprint(ctx)
	if err != nil {
		return true, nil //nolint:nilerr // what cannot be read is not what was approved
	}
	return run.BindingHash(approved.Tool, json.RawMessage(approved.Arguments), task.ChatID, now) != approved.Binding, nil
}

// runToEnd runs the program, and returns the task as it ended. Its error means that the process is shutting down.
func (d *subtasks) runToEnd(ctx context.Context, task store.Task, p persona.Persona) (store.Task, error) {
	step := store.Step{
		Seq:       1,
		Kind:      store.StepTool,
		Name:      programStep,
		CallID:    programStep,
		HasEffect: true,
	}
	if err := store.BeginStep(ctx, d.store.Writer(), task, step); err != nil {
		return task, err
	}
	watched, stop := run.Poll(ctx, programPoll, func(ctx context.Context) error {
		reason, err := store.StopReason(ctx, d.store.DB(), task.ID)
		if err != nil || reason == "" {
			return nil //nolint:nilerr // the next check may succeed
		}
		return stoppedError{reason}
	})
	output, err := p.Program.Work(watched, task.Input)
	cause := context.Cause(watched)
	stop()
	if ctx.Err() != nil {
		return task, context.Cause(ctx)
	}
	output = policy.Redact(policy.Hide(text.Storable(output)))
	switch stopped, is := errors.AsType[stoppedError](cause); {
	case is:
		task.State, task.Error = store.TaskKilled, "Stopped: "+stopped.why+"."
	case err != nil:
		task.Error = policy.Redact(policy.Hide(err.Error()))
	default:
		task.State, task.Answer = store.TaskCompleted, output
	}
	step.Text, step.IsError = text.Clip(output, maxChildAnswer), task.State != store.TaskCompleted
	return task, store.EndStep(context.WithoutCancel(ctx), d.store.Writer(), task, step)
}
