package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/text"
	"multis/tools"
)

const (
	// kindChild is the kind of a task that another one waits for.
	kindChild = "child"
	// maxChildren of one task, maxMessages to such as did something before, and how long it waits for each.
	maxChildren = 4
	maxMessages = 5
	childTime   = time.Hour
	// childAnswer is how much of a child's answer its parent reads, in characters.
	childAnswer = 6000
)

const childRules = `You are %s. Another agent of the same owner gives you one piece of work and reads your answer; the owner does not. Answer from the passages and from what your tools bring. A sentence that rests on no passage has source 0 and an empty quote; say so when you do not know.
Do the work that is asked for and nothing beyond it. Write short, plain sentences.`

// colleagues are the agents that a persona may have work: none unless its configuration names some, and none for who works for another
// or only looks around.
func (r *run) colleagues() []Persona {
	if r.task.ParentID != nil || !r.caller.Owner || r.caller.ReadOnly {
		return nil
	}
	var list []Persona
	for _, p := range r.Personas {
		if p.ID != r.persona.ID && (slices.Contains(r.persona.Delegates, p.ID) || slices.Contains(r.persona.Delegates, "*")) {
			list = append(list, p)
		}
	}
	return list
}

// withoutColleagues takes the tools away from who has nobody to ask, or to pass a conversation on to: none goes with what the clock asked for.
func (r *run) withoutColleagues(task store.Task) {
	if len(r.colleagues()) == 0 {
		r.caller.Deny = append(slices.Clone(r.caller.Deny), tools.DelegateName, tools.SessionsListName, tools.SessionsHistoryName, tools.SessionsSendName)
	}
	if len(r.colleagues()) == 0 || task.Kind != kindAsk {
		r.caller.Deny = append(slices.Clone(r.caller.Deny), tools.HandoffName)
	}
}

// colleaguesText tells a model whom it may ask.
func (r *run) colleaguesText() string {
	var names []string
	for _, p := range r.colleagues() {
		name := p.ID
		if len(p.Can) > 0 {
			name += " (" + strings.Join(p.Can, ", ") + ")"
		}
		names = append(names, name)
	}
	return " There are: " + strings.Join(names, "; ") + "."
}

// colleague is the one of a name, or the first that has the capability.
func (r *run) colleague(called string) (Persona, bool) {
	all := r.colleagues()
	i := slices.IndexFunc(all, func(p Persona) bool { return p.calledBy(called) })
	if i < 0 {
		i = slices.IndexFunc(all, func(p Persona) bool { return slices.Contains(p.Can, strings.ToLower(called)) })
	}
	if i < 0 {
		return Persona{}, false
	}
	return all[i], true
}

// errand is a piece of work for another agent.
type errand struct {
	to        Persona
	work      string
	continues *store.Task // what it goes on with; nil for something new
}

// errandOf is what a call wants to have done. What cannot be is refused with the reason, for the model.
func (r *run) errandOf(ctx context.Context, call llm.Call) (e errand, refused *tools.Result, err error) {
	no := func(res tools.Result) (errand, *tools.Result, error) { return errand{}, &res, nil }
	if call.Name == tools.SessionsSendName {
		args, err := tools.Decode[tools.SessionsSendArgs](r.toolCall(call))
		if err != nil {
			return no(tools.Bad(err))
		}
		before, known, err := r.session(ctx, args.Session)
		if err != nil {
			return errand{}, nil, err
		}
		to, mayAsk := r.colleague(before.Agent)
		switch {
		case !known:
			return no(noSession())
		case !mayAsk:
			return no(tools.Refused(tools.CodeRefused, "That was your own work. Go on with it yourself."))
		case !before.State.Over():
			return no(tools.Failed("It is not over yet.", true))
		case strings.TrimSpace(args.Message) == "":
			return no(tools.Refused(tools.CodeArguments, "Say something in the message."))
		}
		return errand{to, args.Message, &before}, nil, nil
	}
	args, err := tools.Decode[tools.DelegateArgs](r.toolCall(call))
	if err != nil {
		return no(tools.Bad(err))
	}
	to, known := r.colleague(args.Agent)
	if !known || strings.TrimSpace(args.Task) == "" {
		return no(tools.Refused(tools.CodeArguments, "Name one of the agents and say what to do."+r.colleaguesText()))
	}
	return errand{to: to, work: args.Task}, nil, nil
}

// delegate has another agent work, or takes in what that came to. The task is put aside meanwhile: no worker waits.
func (r *run) delegate(ctx context.Context, p *pending) error {
	answered := func(res tools.Result) error {
		p.settled, p.result = true, res
		return r.endTool(ctx, *p)
	}
	child, err := store.TaskByKey(ctx, r.Store.DB(), childKey(r.task.ID, p.call.ID))
	if errors.Is(err, store.ErrNotFound) {
		e, refused, err := r.errandOf(ctx, p.call)
		if err != nil {
			return err
		}
		if refused != nil {
			return answered(*refused)
		}
		return r.spawn(ctx, p, e, answered)
	}
	switch {
	case err != nil:
		return err
	case child.State == store.TaskCompleted:
		if err := store.RestOn(ctx, r.Store.DB(), r.task, child.About); err != nil {
			return err
		}
		return answered(tools.Result{ForLLM: text.Clip(cmp.Or(child.Answer, child.Agent+" has nothing to say to that."), childAnswer), ForUser: "asked " + child.Agent})
	case child.State.Over():
		return answered(tools.Failed(child.Agent+" did not get it done: "+child.Error, false))
	case r.now().Sub(child.CreatedAt) > childTime:
		err := r.Store.InTx(ctx, func(tx store.Tx) error {
			_, err := store.StopTask(ctx, tx, child.ID, "it took more than an hour")
			return err
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return answered(tools.Result{ForLLM: child.Agent + " did not answer within an hour.", IsError: true, Code: tools.CodeTimeout})
	}
	p.waits = true
	return nil
}

func childKey(parent int64, call string) string { return fmt.Sprintf("child:%d:%s", parent, call) }

// spawn gives the work to another agent.
func (r *run) spawn(ctx context.Context, p *pending, e errand, answered func(tools.Result) error) error {
	children, err := store.Children(ctx, r.Store.DB(), r.task.ID)
	if err != nil {
		return err
	}
	messages := 0
	for _, c := range children {
		if c.Continues != nil {
			messages++
		}
	}
	switch {
	case e.continues != nil && messages >= maxMessages:
		return answered(tools.Refused(tools.CodeRefused, fmt.Sprintf("You wrote to others %d times already. Answer with what you have.", maxMessages)))
	case e.continues == nil && len(children)-messages >= maxChildren:
		return answered(tools.Refused(tools.CodeRefused, fmt.Sprintf("That was the work of %d others already. Answer with what you have.", maxChildren)))
	}
	task := store.Task{
		ParentID: &r.task.ID, Key: childKey(r.task.ID, p.call.ID), Kind: kindChild, ChatID: r.task.ChatID, Agent: e.to.ID, Input: policy.Redact(e.work),
	}
	if e.continues != nil {
		task.Continues = &e.continues.ID
	}
	model, _ := r.modelOf(e.to)
	task.Model = model.Name()
	err = r.Store.InTx(ctx, func(tx store.Tx) error {
		now, err := store.HoldTask(ctx, tx, r.task.ID) // with what its tools read meanwhile
		if err != nil {
			return err
		}
		if now.Forgotten {
			return errForgotten
		}
		task.About = now.About
		child, err := store.OpenTask(ctx, tx, task)
		if err != nil {
			return err
		}
		if err := store.SetTaskState(ctx, tx, r.task, store.TaskMonitoring); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.ChildArgs{TaskID: child.ID}, jobs.TaskArgs{TaskID: r.task.ID, At: r.now().Add(childTime + time.Second)})
	})
	if err != nil {
		return err
	}
	r.shown("⏳ " + e.to.ID + " works on a part of it …")
	p.waits = true
	return nil
}

// workForAnother makes an attempt at what another task waits for. It sees what that one may see, and speaks to nobody but it.
func (a *Agent) workForAnother(ctx context.Context, task store.Task, room store.Chat, last bool) error {
	parent, err := store.TaskByID(ctx, a.Store.DB(), *task.ParentID)
	if err != nil {
		return err
	}
	r := a.newRun(a.byID(task.Agent), ownerRounds)
	r.task, r.run = task, runOf(parent)
	// What a model wrote may name a chat, and may hold an address: neither is the owner's word.
	if r.places, err = a.placesOf(ctx, parent.Input); err != nil {
		return err
	}
	r.caller = tools.Caller{
		Owner: true, Chat: room, Agent: r.persona.ID, Scope: r.places.scope, Allow: r.persona.Allow, Deny: r.persona.Deny,
		Workspace: r.persona.Workspace, ReadPaths: r.persona.ReadPaths,
	}
	if err := r.bound(ctx, parent); err != nil { // an errand's own limits hold for whom it asks
		return err
	}
	if parent.Tools != nil { // and so do a saved task's
		r.caller.Within = [][]string{parent.Tools}
	}
	r.withoutColleagues(task)
	if err := r.learn(ctx); err != nil {
		return err
	}
	if task.Kind == kindStep {
		r.caller.Asked = parent.Input // those are the owner's words
		if err := r.showsPlan(ctx, room, parent); err != nil {
			return err
		}
	}
	err = r.claim(ctx, task, func(ctx context.Context) (asked, error) { return r.childAsked(ctx, parent) })
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	working, release := r.within(ctx)
	defer release()
	var out outcome
	if err == nil {
		out, err = r.loop(working)
	}
	state, why, ended := stopped(working, err)
	var over *llm.OverBudgetError
	switch {
	case errors.Is(err, store.ErrTaskLost), errors.Is(err, errParked):
		return nil
	case ended:
	case ctx.Err() != nil:
		return err
	case errors.As(err, &over):
		state, why = store.TaskFailed, over.Error()
	case err != nil && !last && !isModels(err):
		return err
	case err != nil:
		zerolog.Ctx(ctx).Err(err).Int64("task_id", task.ID).Msg("What another task waits for did not work out")
		state, why = store.TaskFailed, "it did not work out"
	case out.text == "":
		state, why = store.TaskFailed, out.why
	default:
		state = store.TaskCompleted
	}
	if state != store.TaskCompleted {
		why = a.withLeft(ctx, task, why)
	}
	done := r.end(state, r.sourced(out.text), why)
	return a.endChild(context.WithoutCancel(ctx), done)
}

// withLeft adds to why a child failed what it did before. A plan tells that of all its steps.
func (a *Agent) withLeft(ctx context.Context, task store.Task, why string) string {
	if left := a.left(ctx, task.ID); left != "" && task.Kind != kindStep {
		return strings.TrimSuffix(why, ".") + ". " + left
	}
	return why
}

// endChild ends a task, and has the one go on that waits for it.
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

// childAsked builds what the model is asked: the work, what the documents say about it, and nothing of any conversation.
func (r *run) childAsked(ctx context.Context, parent store.Task) (asked, error) {
	found, err := r.lookUp(ctx, r.places, r.task.Input)
	if err != nil {
		return asked{}, err
	}
	name, err := store.AssistantName(ctx, r.Store.DB(), r.Name)
	if err != nil {
		return asked{}, err
	}
	m := material{rules: fmt.Sprintf(childRules, r.name(name)), persona: r.manner(), asks: r.task.Input}
	about := parent.About
	switch {
	case r.task.Continues != nil:
		before, rests, err := r.thread(ctx)
		if err != nil {
			return asked{}, err
		}
		m.work, about = before, slices.Concat(about, rests)
	case r.task.Kind == kindStep:
		_, goal := mention(r.Personas, parent.Input)
		m.rules, m.asks = fmt.Sprintf(stepRules, r.name(name)), "The goal: "+goal+"\nYour step: "+r.task.Input
		work, rests, err := r.stepsBefore(ctx)
		if err != nil {
			return asked{}, err
		}
		m.work, about = work, slices.Concat(about, rests)
	}
	first, err := r.asks(ctx, m, found.Hits, conversation{}, llm.Request{Purpose: r.task.Kind, Chat: r.task.ChatID})
	first.About = append(first.About, about...)
	return first, err
}

// sourced is an answer in plain words, each sentence with the source that it rests on.
func (r *run) sourced(text string) string {
	d, err := readDraft(text)
	if err != nil {
		return r.unlinked(text)
	}
	var said []string
	for _, s := range d.Sentences {
		line := strings.TrimSpace(r.unlinked(s.Text))
		if span, ok := r.check(s); ok {
			line += " " + span.Source
		}
		said = append(said, line)
	}
	return strings.Join(said, "\n")
}
