package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/llm"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
)

const (
	// kindPlan is the kind of a task that is a goal, kindStep that of its steps: they are worked on like what another agent is given.
	kindPlan = "plan"
	kindStep = "step"
	// maxSteps of a plan, and how much of what one came to is read by those after it, in characters.
	maxSteps   = 8
	stepAnswer = 3000
)

const planRules = `You are %s, the owner's assistant. Break the goal into at most 8 steps that are done one after the other, each by somebody who sees the goal, the step and what the steps before came to, and nothing else. Every step ends in something that can be read. Plan nothing that the goal does not need; if it takes one step, plan one.
If there is work so far, it is the plan that the owner saw: change what he wants otherwise, and nothing else.
These tools can be used in a step: %s.`

const planForm = `Answer with one JSON object and nothing else:
{"steps": [{"text": "what to do, in the owner's language", "agent": "who does it, of those that are named above; else empty"}]}
If nothing can be planned, return {"steps": []}.`

const stepRules = `You are %s, the owner's assistant. Do one step of a plan that the owner agreed to, and nothing of the steps after it. Answer with what it came to, from the passages and from what your tools bring. A sentence that rests on no passage has source 0 and an empty quote; say so when it cannot be done.
Write short, plain sentences in the owner's language.`

// proposal is what a model is asked to plan.
type proposal struct {
	Steps []struct {
		Text  string `json:"text"`
		Agent string `json:"agent"`
	} `json:"steps"`
}

// readProposal reads a plan. A step without words, and what is beyond the last that may be, is left out.
func readProposal(answer string) (proposal, error) {
	object, ok := text.JSONObject(answer)
	if !ok {
		return proposal{}, errors.New("no JSON object in it")
	}
	var all, kept proposal
	if err := json.Unmarshal([]byte(object), &all); err != nil {
		return proposal{}, fmt.Errorf("read JSON: %w", err)
	}
	for _, s := range all.Steps {
		if s.Text = text.OneLine(s.Text); s.Text != "" && len(kept.Steps) < maxSteps {
			kept.Steps = append(kept.Steps, s)
		}
	}
	return kept, nil
}

// Plan begins to plan what the owner wants to have reached. The plan is shown to him, and nothing of it is done before he agrees.
func (a *Agent) Plan(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, goal string) error {
	called, _ := mention(a.Personas, goal)
	persona := Route(a.Personas, Where{Mention: called, Chat: room})
	model, _ := a.modelOf(persona)
	task, err := store.OpenTask(ctx, tx, store.Task{
		Key: fmt.Sprintf("plan:%d", message.ID), Kind: kindPlan, ChatID: room.ID, MessageID: &message.ID, About: []int64{message.ID}, Agent: persona.ID,
		Model: model.Name(), Input: goal,
	})
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// plan makes a plan, or takes its next step. Between steps it waits as a row in a table.
func (a *Agent) plan(ctx context.Context, task store.Task, room store.Chat) error {
	r := a.newRun(a.byID(task.Agent), 1)
	r.task = task
	err := a.planned(ctx, r, room)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		return nil
	case errors.Is(err, errForgotten):
		return a.endPlan(ctx, r, room, nil, store.TaskKilled, "a message it rests on was deleted")
	}
	var over *llm.OverBudgetError
	switch {
	case errors.As(err, &over):
		return a.endPlan(ctx, r, room, nil, store.TaskFailed, over.Error())
	case isModels(err):
		return a.endPlan(ctx, r, room, nil, store.TaskFailed, "the model did not answer ("+err.Error()+")")
	}
	return err
}

func (a *Agent) planned(ctx context.Context, r *run, room store.Chat) error {
	why := r.task.StopWhy
	agreed, err := store.ApprovalOf(ctx, a.Store.DB(), r.task.ID, store.PlanCall)
	proposed := !errors.Is(err, store.ErrNotFound)
	if err != nil && proposed {
		return err
	}
	if proposed && why == "" && agreed.Allowed == nil && agreed.ExpiresAt.After(a.now()) {
		return nil // it waits for him
	}
	err = r.claim(ctx, r.task, func(ctx context.Context) (asked, error) { return r.planAsked(ctx, room) })
	if err != nil {
		return err
	}
	steps, err := store.Children(ctx, a.Store.DB(), r.task.ID)
	switch {
	case err != nil:
		return err
	case why != "":
		return a.endPlan(ctx, r, room, steps, store.TaskKilled, why)
	case !proposed:
		return a.propose(ctx, r, room)
	case agreed.Allowed == nil:
		return a.endPlan(ctx, r, room, steps, store.TaskKilled, "nobody agreed to it in 15 minutes")
	case !*agreed.Allowed:
		return a.endPlan(ctx, r, room, steps, store.TaskKilled, "you said no")
	}
	return a.nextStep(ctx, r, room, steps)
}

// planAsked builds what the model is asked: the goal, what is known about it, and the plan that the owner wants otherwise.
func (r *run) planAsked(ctx context.Context, room store.Chat) (asked, error) {
	if err := r.ownerCaller(ctx, room, r.task); err != nil {
		return asked{}, err
	}
	offered, err := r.Tools.Offered(ctx, r.caller)
	if err != nil {
		return asked{}, err
	}
	names := []string{"none"}
	if len(offered) > 0 {
		names = names[:0]
	}
	for _, s := range offered {
		names = append(names, s.Name)
	}
	r.caller.Only = []string{} // nothing is done while it is planned
	_, goal := mention(r.Personas, r.task.Input)
	found, err := r.lookUp(ctx, r.places, goal)
	if err != nil {
		return asked{}, err
	}
	before, err := r.talk(ctx, room)
	if err != nil {
		return asked{}, err
	}
	name, err := store.AssistantName(ctx, r.Store.DB(), r.Name)
	if err != nil {
		return asked{}, err
	}
	seen, err := store.Children(ctx, r.Store.DB(), r.task.ID)
	if err != nil {
		return asked{}, err
	}
	rules := fmt.Sprintf(planRules, r.name(name), strings.Join(names, ", "))
	if len(r.colleagues()) > 0 {
		rules += " Others may do a step." + r.colleaguesText()
	}
	m := material{rules: rules, form: planForm, persona: r.manner(), asks: goal, work: stepLines(seen)}
	first, err := r.asks(ctx, m, found.Hits, before, llm.Request{Purpose: kindPlan, Chat: room.ID})
	first.About = append(first.About, r.task.About...)
	return first, err
}

// propose has the model plan, stores the steps, and has the owner asked.
func (a *Agent) propose(ctx context.Context, r *run, room store.Chat) error {
	steps, err := store.Steps(ctx, a.Store.DB(), r.task.ID)
	if err != nil {
		return err
	}
	r.done = steps
	working, release := r.within(ctx)
	defer release()
	said, err := r.think(working, r.first)
	if state, why, ended := stopped(working, err); ended {
		return a.endPlan(ctx, r, room, nil, state, why)
	}
	if err != nil {
		return err
	}
	plan, err := readProposal(said.Text)
	if err != nil || len(plan.Steps) == 0 {
		return a.endPlan(ctx, r, room, nil, store.TaskFailed, "the model made no plan of it. Say it in other words")
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		now, err := store.HoldTask(ctx, tx, r.task.ID)
		if err != nil {
			return err
		}
		if now.Forgotten {
			return errForgotten
		}
		if err := store.DropPendingChildren(ctx, tx, r.task); err != nil {
			return err
		}
		var all []store.Task
		for i, s := range plan.Steps {
			who := r.persona
			if other, known := r.colleague(s.Agent); known {
				who = other
			}
			model, _ := a.modelOf(who)
			all = append(all, store.Task{
				ParentID: &r.task.ID, Key: fmt.Sprintf("step:%d:%d", r.task.ID, i+1), Kind: kindStep, ChatID: r.task.ChatID, About: now.About, Agent: who.ID,
				Model: model.Name(), Input: policy.Redact(s.Text), State: store.TaskPending,
			})
			if _, err := store.OpenTask(ctx, tx, all[i]); err != nil {
				return err
			}
		}
		return r.askOwner(ctx, tx, store.Approval{CallID: store.PlanCall, Tool: store.PlanCall, Arguments: r.planText(all, "") + r.stopHint()})
	})
}

// nextStep begins the first step that nobody began, unless one is under way or went wrong.
func (a *Agent) nextStep(ctx context.Context, r *run, room store.Chat, steps []store.Task) error {
	for i, s := range steps {
		switch {
		case s.State == store.TaskCompleted:
		case s.State.Over():
			return a.endPlan(ctx, r, room, steps, store.TaskFailed, fmt.Sprintf("step %d did not work out: %s", i+1, strings.TrimSuffix(s.Error, ".")))
		case s.State == store.TaskPending:
			return a.beginStep(ctx, r, room, steps, i)
		case s.StartedAt != nil && a.now().Sub(*s.StartedAt) > childTime:
			return a.endPlan(ctx, r, room, steps, store.TaskTimeout, fmt.Sprintf("step %d took more than an hour", i+1))
		default: // who does it has the plan go on
			return store.SetTaskState(ctx, a.Store.DB(), r.task, store.TaskMonitoring)
		}
	}
	return a.endPlan(ctx, r, room, steps, store.TaskCompleted, "")
}

func (a *Agent) beginStep(ctx context.Context, r *run, room store.Chat, steps []store.Task, i int) error {
	err := a.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.SetTaskState(ctx, tx, r.task, store.TaskMonitoring); err != nil {
			return err
		}
		if err := store.BeginChild(ctx, tx, steps[i].ID); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.ChildArgs{TaskID: steps[i].ID}, jobs.TaskArgs{TaskID: r.task.ID, At: a.now().Add(childTime + time.Second)})
	})
	if err != nil {
		return err
	}
	steps[i].State = store.TaskAuthorized
	live := a.Box.Live(room, r.task.LiveEvent)
	if live.Show(ctx, r.planText(steps, "")+r.stopHint()) && live.Event() != "" {
		if err := store.SetTaskLive(ctx, a.Store.DB(), r.task, live.Event()); err != nil {
			zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot note the message that shows a plan")
		}
	}
	return nil
}

// showsPlan has a step show what it does in the message that shows its plan.
func (r *run) showsPlan(ctx context.Context, room store.Chat, plan store.Task) error {
	live := r.Box.Live(room, plan.LiveEvent)
	if live.Event() == "" {
		return nil
	}
	steps, err := store.Children(ctx, r.Store.DB(), plan.ID)
	if err != nil {
		return err
	}
	shown := &run{task: plan}
	r.shown = func(text string) {
		if live.IsDue() {
			live.Show(ctx, shown.planText(steps, r.unlinked(text))+shown.stopHint())
		}
	}
	return nil
}

// endPlan says what a plan came to. What of it was not begun is not begun any more.
func (a *Agent) endPlan(ctx context.Context, r *run, room store.Chat, steps []store.Task, state store.TaskState, why string) error {
	done := r.end(state, "", why)
	var about []int64
	var said strings.Builder
	for i, s := range steps {
		if s.State != store.TaskCompleted {
			continue
		}
		about = append(about, s.About...)
		fmt.Fprintf(&said, "\n\n**%d. %s**  \n%s", i+1, text.Escape(s.Input), escapeLines(text.Clip(s.Answer, stepAnswer)))
		done.Answer += s.Answer + "\n"
	}
	opening := "🗺️ **" + text.Escape(r.title()) + "**"
	if why != "" {
		opening += fmt.Sprintf(" is not done: %s.", text.Escape(strings.TrimSuffix(why, "."))) + paragraph(a.left(ctx, r.task.ID))
	}
	shown, text := r.planText(steps, ""), opening+said.String()+r.footer(ctx, &done)
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.RestOn(ctx, tx, r.task, about); err != nil {
			return err
		}
		ended, err := store.EndTask(ctx, tx, done)
		if err != nil {
			return err
		}
		if ended.Forgotten {
			shown = fmt.Sprintf("🗺️ **Plan %d** is not done: a message it rests on was deleted.", r.task.ID)
			text = shown
		}
		if err := store.EndChildren(ctx, tx, r.task.ID, "its plan ended before"); err != nil {
			return err
		}
		if r.task.LiveEvent != "" {
			list := outbox.Notice(room, shown, outbox.Answer)
			list.Replaces, list.About, list.RestsOn = r.task.LiveEvent, r.task.About, ended.RestsOn
			if _, _, err := a.Box.Queue(ctx, tx, list); err != nil {
				return err
			}
		}
		letter := outbox.Notice(room, text, outbox.Answer)
		letter.Profile, letter.About, letter.RestsOn = r.persona.profile(), slices.Concat(about, r.task.About), ended.RestsOn
		_, _, err = a.Box.Queue(ctx, tx, letter)
		return err
	})
}

// title is what a plan is for, in a line.
func (r *run) title() string {
	goal, _, _ := strings.Cut(r.task.Input, "\n")
	return cmp.Or(text.Clip(text.CollapseSpaces(goal), titleLength), fmt.Sprintf("Plan %d", r.task.ID))
}

// planText shows a plan with how far each step is, and what is done right now.
func (r *run) planText(steps []store.Task, now string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "🗺️ **%s**\n", text.Escape(r.title()))
	for i, s := range steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, text.Escape(s.Input))
		if s.Agent != "" && s.Agent != r.task.Agent {
			b.WriteString(" (@" + text.Escape(s.Agent) + ")")
		}
		switch s.State {
		case store.TaskPending:
		case store.TaskCompleted:
			b.WriteString(" — done")
		case store.TaskFailed, store.TaskKilled, store.TaskTimeout:
			b.WriteString(" — **not done**")
		default:
			b.WriteString(" — **under way** …")
		}
	}
	if now != "" {
		b.WriteString("\n\n" + text.Escape(text.Clip(now, 1000)))
	}
	return b.String()
}

// stopHint stands below a plan that can be stopped.
func (r *run) stopHint() string {
	return fmt.Sprintf("\n\n_plan %d · ❌ or_ `/cancel-task %d` _stops it_", r.task.ID, r.task.ID)
}

// stepLines are the steps of a plan as a model reads them.
func stepLines(steps []store.Task) string {
	var lines []string
	for i, s := range steps {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, s.Input))
	}
	return strings.Join(lines, "\n")
}

// stepsBefore is what the steps before one came to, with the messages whose words may be in it.
func (r *run) stepsBefore(ctx context.Context) (work string, about []int64, err error) {
	steps, err := store.Children(ctx, r.Store.DB(), *r.task.ParentID)
	var parts []string
	for i, s := range steps {
		if s.ID == r.task.ID {
			break
		}
		about = append(about, s.About...)
		parts = append(parts, fmt.Sprintf("Step %d: %s\n%s", i+1, s.Input, text.Clip(s.Answer, stepAnswer)))
	}
	return strings.Join(parts, "\n\n"), about, err
}
