package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/internal/text"
	"multis/jobs"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Plans makes plans for the owner's goals, and carries out their steps one after the other.
type Plans struct{ *core }

// Plan begins a plan for a goal of the owner. The owner is shown the plan, and no step begins before he approves it.
func (ps *Plans) Plan(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, goal string) error {
	planner := ps.personas.ForQuestion(room, goal)
	model, _ := ps.personas.ModelOf(planner)
	task, err := store.InsertTask(ctx, tx, store.Task{
		Key:       fmt.Sprintf("plan:%d", message.ID),
		Kind:      store.TaskPlan,
		ChatID:    room.ID,
		MessageID: &message.ID,
		Sources:   []store.MessageID{message.ID},
		Agent:     planner.ID,
		Model:     model.Name(),
		Input:     goal,
	})
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// advance proposes a plan, or begins its next step. No worker waits while a step runs.
func (ps *Plans) advance(ctx context.Context, task store.Task, room store.Chat) error {
	r := ps.newAttempt(ps.personas.ByID(task.Agent), 1)
	r.run.Task = task
	err := ps.decide(ctx, r, room)
	var over *llm.OverBudgetError
	var failed *llm.Error
	switch {
	case errors.Is(err, store.ErrTaskLost):
		return nil
	case errors.Is(err, run.ErrSourceDeleted):
		return ps.end(ctx, r, room, nil, store.TaskKilled, "a message it is based on was deleted")
	case errors.As(err, &over):
		return ps.end(ctx, r, room, nil, store.TaskFailed, over.Error())
	case errors.As(err, &failed):
		return ps.end(ctx, r, room, nil, store.TaskFailed, "the model did not answer ("+err.Error()+")")
	}
	return err
}

// decide takes the next step for a plan, according to the owner's approval and the state of its steps.
func (ps *Plans) decide(ctx context.Context, r *attempt, room store.Chat) error {
	why := r.run.Task.StopReason
	approval, err := store.ApprovalOf(ctx, ps.store.DB(), r.run.Task.ID, store.PlanCall)
	proposed := !errors.Is(err, store.ErrNotFound)
	if err != nil && proposed {
		return err
	}
	if proposed && why == "" && approval.Allowed == nil && approval.ExpiresAt.After(ps.now()) {
		return nil // it waits for the owner
	}
	err = r.run.Claim(ctx, r.run.Task, func(ctx context.Context) (run.FirstRequest, error) { return r.buildPlanRequest(ctx, room) })
	if err != nil {
		return err
	}
	steps, err := store.Children(ctx, ps.store.DB(), r.run.Task.ID)
	switch {
	case err != nil:
		return err
	case why != "":
		return ps.end(ctx, r, room, steps, store.TaskKilled, why)
	case !proposed:
		return ps.propose(ctx, r, room)
	case approval.Allowed == nil:
		return ps.end(ctx, r, room, steps, store.TaskKilled, "nobody agreed to it in 15 minutes")
	case !*approval.Allowed:
		return ps.end(ctx, r, room, steps, store.TaskKilled, "you said no")
	}
	return ps.nextStep(ctx, r, room, steps)
}

// buildPlanRequest builds the first request: the goal, the passages found for it, and the plan that the owner wants to change.
func (r *attempt) buildPlanRequest(ctx context.Context, room store.Chat) (run.FirstRequest, error) {
	if err := r.prepareForOwner(ctx, room, r.run.Task); err != nil {
		return run.FirstRequest{}, err
	}
	offered, err := r.core.tools.Offered(ctx, r.run.Caller)
	if err != nil {
		return run.FirstRequest{}, err
	}
	names := []string{"none"}
	if len(offered) > 0 {
		names = names[:0]
	}
	for _, s := range offered {
		names = append(names, s.Name)
	}
	r.run.Caller.GrantedTools = []string{} // the planning itself calls no tools
	m, err := r.readMaterial(ctx, room, r.run.Task.Input)
	if err != nil {
		return run.FirstRequest{}, err
	}
	shown, err := store.Children(ctx, r.core.store.DB(), r.run.Task.ID)
	if err != nil {
		return run.FirstRequest{}, err
	}
	rules := fmt.Sprintf(planRules, m.assistant, strings.Join(names, ", "))
	if len(r.delegates()) > 0 {
		rules += " Others may do a step." + r.delegatesText()
	}
	first, err := r.run.Compose(ctx, run.Prompt{
		Rules:        rules,
		Instructions: r.instructions(),
		Passages:     m.found.Hits,
		Summary:      m.before.summary.Body,
		Window:       m.before.messages,
		Work:         stepLines(shown),
		Question:     m.question,
		Form:         planForm,
		Foreign:      m.before.isTainted(),
	}, string(store.TaskPlan), room.ID)
	first.About = slices.Concat(first.About, m.before.messageIDs(), r.run.Task.Sources)
	return first, err
}

// propose asks the model for a plan, stores the steps, and asks the owner to approve them.
func (ps *Plans) propose(ctx context.Context, r *attempt, room store.Chat) error {
	end := r.run.RunClaimed(ctx, r.run.AskModel)
	if end.End == run.Stopped {
		return ps.end(ctx, r, room, nil, end.State, end.Why)
	}
	if end.Err != nil {
		return end.Err
	}
	plan, err := parseProposal(end.Text)
	if err != nil || len(plan.Steps) == 0 {
		return ps.end(ctx, r, room, nil, store.TaskFailed, "the model made no plan of it. Say it in other words")
	}
	return ps.store.InTx(ctx, func(tx store.Tx) error {
		now, err := store.LockTask(ctx, tx, r.run.Task.ID)
		if err != nil {
			return err
		}
		if now.Forgotten {
			return run.ErrSourceDeleted
		}
		if err := store.DeletePendingChildren(ctx, tx, r.run.Task); err != nil {
			return err
		}
		var all []store.Task
		for i, s := range plan.Steps {
			who := r.persona
			if other, known := r.delegateNamed(s.Agent); known {
				who = other
			}
			model, _ := ps.personas.ModelOf(who)
			all = append(all, store.Task{
				ParentID: &r.run.Task.ID,
				Key:      fmt.Sprintf("step:%d:%d", r.run.Task.ID, i+1),
				Kind:     store.TaskStep,
				ChatID:   r.run.Task.ChatID,
				Sources:  now.Sources,
				Agent:    who.ID,
				Model:    model.Name(),
				Input:    policy.Redact(s.Text),
				State:    store.TaskPending,
			})
			if _, err := store.InsertTask(ctx, tx, all[i]); err != nil {
				return err
			}
		}
		return r.run.AskOwner(ctx, tx, store.Approval{
			CallID:    store.PlanCall,
			Tool:      store.PlanCall,
			Arguments: planText(r.run.Task, all, "") + stopHint(r.run.Task.ID),
		})
	})
}

// nextStep begins the first step that has not begun, unless one is running or failed.
func (ps *Plans) nextStep(ctx context.Context, r *attempt, room store.Chat, steps []store.Task) error {
	for i, s := range steps {
		switch {
		case s.State == store.TaskCompleted:
		case s.State.IsOver():
			return ps.end(ctx, r, room, steps, store.TaskFailed, fmt.Sprintf("step %d did not work out: %s", i+1, strings.TrimSuffix(s.Error, ".")))
		case s.State == store.TaskPending:
			return ps.beginStep(ctx, r, room, steps, i)
		case s.StartedAt != nil && ps.now().Sub(*s.StartedAt) > childTimeout:
			return ps.end(ctx, r, room, steps, store.TaskTimeout, fmt.Sprintf("step %d took more than an hour", i+1))
		default: // the end of the step resumes the plan
			return store.SetTaskState(ctx, ps.store.Writer(), r.run.Task, store.TaskWaiting)
		}
	}
	return ps.end(ctx, r, room, steps, store.TaskCompleted, "")
}

// beginStep enqueues step i, and shows that it is running.
func (ps *Plans) beginStep(ctx context.Context, r *attempt, room store.Chat, steps []store.Task, i int) error {
	err := ps.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.SetTaskState(ctx, tx, r.run.Task, store.TaskWaiting); err != nil {
			return err
		}
		if err := store.StartChild(ctx, tx, steps[i].ID); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.SubtaskArgs{TaskID: steps[i].ID},
			jobs.TaskArgs{TaskID: r.run.Task.ID, At: ps.now().Add(childTimeout + time.Second)})
	})
	if err != nil {
		return err
	}
	steps[i].State = store.TaskQueued
	live := ps.box.Live(room, r.run.Task.ProgressEvent)
	if live.Show(ctx, planText(r.run.Task, steps, "")+stopHint(r.run.Task.ID)) && live.Event() != "" {
		if err := store.SetTaskProgressEvent(ctx, ps.store.Writer(), r.run.Task, live.Event()); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot note the message that shows a plan")
		}
	}
	return nil
}

// end ends a plan and its open steps, and sends the owner the answers of the completed ones.
func (ps *Plans) end(ctx context.Context, r *attempt, room store.Chat, steps []store.Task, state store.TaskState, why string) error {
	done := r.run.EndedTask(state, "", why)
	var about []store.MessageID
	var said strings.Builder
	for i, s := range steps {
		if s.State != store.TaskCompleted {
			continue
		}
		about = append(about, s.Sources...)
		fmt.Fprintf(&said, "\n\n**%d. %s**  \n%s", i+1, text.Escape(s.Input), escapeLines(text.Clip(s.Answer, maxStepAnswer)))
		done.Answer += s.Answer + "\n"
	}
	opening := "🗺️ **" + text.Escape(planTitle(r.run.Task)) + "**"
	if why != "" {
		opening += fmt.Sprintf(" is not done: %s.", text.Escape(strings.TrimSuffix(why, "."))) + ps.effectsText(ctx, r.run.Task.ID)
	}
	list, result := planText(r.run.Task, steps, ""), opening+said.String()+r.footer(ctx, &done)
	return ps.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.AddTaskSources(ctx, tx, r.run.Task, about); err != nil {
			return err
		}
		ended, err := store.EndTask(ctx, tx, done)
		if err != nil {
			return err
		}
		if ended.Forgotten {
			list = fmt.Sprintf("🗺️ **Plan %d** is not done: a message it is based on was deleted.", r.run.Task.ID)
			result = list
		}
		if err := store.StopChildren(ctx, tx, r.run.Task.ID, "its plan ended before"); err != nil {
			return err
		}
		if r.run.Task.ProgressEvent != "" {
			notice := outbox.NewNotice(room, list, outbox.Answer)
			notice.Replaces = r.run.Task.ProgressEvent
			notice.Quotes = r.run.Task.Sources
			notice.Sources = ended.Sources
			notice.TaskID = done.ID
			if _, _, err := ps.box.Queue(ctx, tx, notice); err != nil {
				return err
			}
		}
		notice := outbox.NewNotice(room, result, outbox.Answer)
		notice.Profile = r.persona.Profile()
		notice.Quotes = slices.Concat(about, r.run.Task.Sources)
		notice.Sources = ended.Sources
		notice.TaskID = done.ID
		_, _, err = ps.box.Queue(ctx, tx, notice)
		return err
	})
}
