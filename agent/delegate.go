package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/agent/persona"
	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	// maxChildren is how many tasks one task may delegate. maxContinuations is how often it may continue tasks that it
	// delegated, all together.
	maxChildren      = 4
	maxContinuations = 5
	// childTimeout is how long a task waits for a task that it delegated.
	childTimeout = time.Hour
)

// assignment is a piece of work for another agent.
type assignment struct {
	to        persona.Persona
	work      string
	continues *store.Task // the task it continues; nil for new work
}

// assignmentOf reads the assignment from a call of delegate or sessions_send. If the call is invalid or not allowed,
// refused is the result that tells the model why, else nil.
func (r *attempt) assignmentOf(ctx context.Context, c tools.Call) (as assignment, refused *tools.Result, err error) {
	no := func(res tools.Result) (assignment, *tools.Result, error) { return assignment{}, &res, nil }
	if c.Name == tools.SessionsSendName {
		args, err := tools.Decode[tools.SessionsSendArgs](c)
		if err != nil {
			return no(tools.BadArguments(err))
		}
		before, known, err := sessionTools{r}.session(ctx, args.Session)
		if err != nil {
			return assignment{}, nil, err
		}
		to, mayAsk := r.delegateNamed(before.Agent)
		switch {
		case !known:
			return no(refuseUnknownSession())
		case !mayAsk:
			return no(tools.Refused(tools.CodeRefused, "That was your own work. Go on with it yourself."))
		case !before.State.IsOver():
			return no(tools.Failed("It is not over yet.", true))
		case to.Program != nil:
			return no(tools.Refused(tools.CodeRefused, "It is a program and remembers nothing. Give it new work with delegate."))
		case strings.TrimSpace(args.Message) == "":
			return no(tools.Refused(tools.CodeArguments, "Say something in the message."))
		}
		return assignment{to, args.Message, &before}, nil, nil
	}
	args, err := tools.Decode[tools.DelegateArgs](c)
	if err != nil {
		return no(tools.BadArguments(err))
	}
	to, known := r.delegateNamed(args.Agent)
	if !known || strings.TrimSpace(args.Task) == "" {
		return no(tools.Refused(tools.CodeArguments, "Name one of the agents and say what to do."+r.delegatesText()))
	}
	if to.Program != nil && c.Binding != "" {
		if now, err := to.Program.Fingerprint(ctx); err != nil || now != c.Binding {
			return no(tools.Refused(tools.CodeRefused, tools.ErrProgramChanged.Error()))
		}
	}
	return assignment{to: to, work: args.Task}, nil, nil
}

// delegate carries out the tools delegate and sessions_send: it opens a task for another agent and parks this one, or
// returns that task's answer.
func (r *attempt) delegate(ctx context.Context, c tools.Call) (tools.Result, error) {
	child, err := store.TaskByKey(ctx, r.core.store.DB(), childKey(r.run.Task.ID, c.ID))
	if errors.Is(err, store.ErrNotFound) {
		as, refused, err := r.assignmentOf(ctx, c)
		if err != nil {
			return tools.Result{}, err
		}
		if refused != nil {
			return *refused, nil
		}
		return r.openChild(ctx, c, as)
	}
	switch {
	case err != nil:
		return tools.Result{}, err
	case child.State == store.TaskCompleted:
		if err := store.AddTaskSources(ctx, r.core.store.Writer(), r.run.Task, child.Sources); err != nil {
			return tools.Result{}, err
		}
		return tools.Result{
			ForLLM:  text.Clip(cmp.Or(child.Answer, child.Agent+" has nothing to say to that."), maxChildAnswer),
			ForUser: "asked " + child.Agent,
		}, nil
	case child.State.IsOver():
		return tools.Failed(child.Agent+" did not get it done: "+child.Error, false), nil
	case r.core.now().Sub(child.CreatedAt) > childTimeout:
		err := r.core.store.InTx(ctx, func(tx store.Tx) error {
			_, err := store.StopTask(ctx, tx, child.ID, "it took more than an hour")
			return err
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return tools.Result{}, err
		}
		return tools.Result{ForLLM: child.Agent + " did not answer within an hour.", IsError: true, Code: tools.CodeTimeout}, nil
	}
	return tools.Result{}, run.ErrSuspended
}

func childKey(parent store.TaskID, call string) string {
	return fmt.Sprintf("child:%d:%s", parent, call)
}

// openChild opens the task of an assignment, and parks this one until it is over.
func (r *attempt) openChild(ctx context.Context, c tools.Call, as assignment) (tools.Result, error) {
	children, err := store.Children(ctx, r.core.store.DB(), r.run.Task.ID)
	if err != nil {
		return tools.Result{}, err
	}
	messages := 0
	for _, child := range children {
		if child.Continues != nil {
			messages++
		}
	}
	switch {
	case as.continues != nil && messages >= maxContinuations:
		return tools.Refused(tools.CodeRefused, fmt.Sprintf("You wrote to others %d times already. Answer with what you have.",
			maxContinuations)), nil
	case as.continues == nil && len(children)-messages >= maxChildren:
		return tools.Refused(tools.CodeRefused, fmt.Sprintf("That was the work of %d others already. Answer with what you have.", maxChildren)),
			nil
	}
	task := store.Task{
		ParentID: &r.run.Task.ID,
		Key:      childKey(r.run.Task.ID, c.ID),
		Kind:     store.TaskChild,
		ChatID:   r.run.Task.ChatID,
		Agent:    as.to.ID,
		Input:    policy.Redact(as.work),
	}
	if as.continues != nil {
		task.Continues = &as.continues.ID
	}
	model, _ := r.core.personas.ModelOf(as.to)
	task.Model = model.Name()
	err = r.core.store.InTx(ctx, func(tx store.Tx) error {
		now, err := store.LockTask(ctx, tx, r.run.Task.ID) // read again, with the messages that its tools have read
		if err != nil {
			return err
		}
		if now.Forgotten {
			return run.ErrSourceDeleted
		}
		task.Sources = now.Sources
		child, err := store.InsertTask(ctx, tx, task)
		if err != nil {
			return err
		}
		if err := store.SetTaskState(ctx, tx, r.run.Task, store.TaskWaiting); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.SubtaskArgs{TaskID: child.ID},
			jobs.TaskArgs{TaskID: r.run.Task.ID, At: r.core.now().Add(childTimeout + time.Second)})
	})
	if err != nil {
		return tools.Result{}, err
	}
	r.run.Progress(ctx, "⏳ "+as.to.ID+" works on a part of it …")
	return tools.Result{}, run.ErrSuspended
}
