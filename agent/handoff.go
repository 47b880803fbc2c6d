package agent

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/text"
	"multis/tools"
)

// maxHandoffs is how often one question is passed on, and maxHandover how much may be said with it, in characters.
const (
	maxHandoffs = 5
	maxHandover = 2000
)

// handOff ends a turn so that another agent goes on with the question.
func (r *run) handOff(ctx context.Context, p *pending) error {
	answered := func(res tools.Result) error {
		p.settled, p.result = true, res
		return r.endTool(ctx, *p)
	}
	args, err := tools.Decode[tools.HandoffArgs](r.toolCall(p.call))
	if err != nil {
		return answered(tools.Bad(err))
	}
	to, known := r.colleague(args.Agent)
	summary := strings.TrimSpace(args.Summary)
	_, n := handedOn(r.task)
	switch {
	case !known || summary == "":
		return answered(tools.Refused(tools.CodeArguments, "Name one of the agents and say what it has to know."+r.colleaguesText()))
	case n >= maxHandoffs:
		return answered(tools.Refused(tools.CodeRefused, fmt.Sprintf("It was passed on %d times already. Answer yourself.", n)))
	}
	return answered(tools.Result{ForLLM: to.ID + " goes on.", ForUser: "passed it on to " + to.ID, Handover: text.Clip(summary, maxHandover), Ref: to.ID})
}

func handoffKey(times int, first int64) string { return fmt.Sprintf("handoff:%d:%d", times, first) }

// handedOn is the task with which a question began that was passed on, and how often it was by then; 0 for one that was not.
func handedOn(t store.Task) (first int64, times int) {
	rest, is := strings.CutPrefix(t.Key, "handoff:")
	count, of, _ := strings.Cut(rest, ":")
	first, err := strconv.ParseInt(of, 10, 64)
	times, countErr := strconv.Atoi(count)
	if !is || err != nil || countErr != nil {
		return 0, 0
	}
	return first, times
}

// runOf is under which number a task is paid: a question that is passed on is one.
func runOf(t store.Task) int64 {
	first, _ := handedOn(t)
	return cmp.Or(first, t.ID)
}

// passOn gives a room to another agent, together with the question that is open in it.
func (a *Agent) passOn(ctx context.Context, tx store.Tx, from store.Task, room store.Chat, agent string) error {
	to := a.byID(agent)
	model, _ := a.modelOf(to)
	_, n := handedOn(from)
	from, err := store.TaskByID(ctx, tx, from.ID) // with what its tools read meanwhile
	if err != nil || from.Forgotten {
		return err
	}
	if err := store.SetAgent(ctx, tx, room.ID, to.ID); err != nil {
		return err
	}
	next, err := store.OpenTask(ctx, tx, store.Task{
		Key: handoffKey(n+1, runOf(from)), Kind: from.Kind, ChatID: room.ID, MessageID: from.MessageID, About: from.About, Agent: to.ID, Model: model.Name(),
		Input: from.Input, Tools: from.Tools, Target: from.Target,
	})
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: next.ID})
}

// handedText tells the owner who goes on.
func (r *run) handedText(out outcome) string {
	return fmt.Sprintf("➡️ **@%s** goes on here: %s\n\n`/agent none` leaves it to the configuration again.", text.Escape(out.to), text.Escape(text.CollapseSpaces(r.unlinked(out.handover))))
}

// handedOver is what the agent said that passed the question on, with the messages whose words may be in it.
func (r *run) handedOver(ctx context.Context) (work string, about []int64, err error) {
	first, n := handedOn(r.task)
	if n == 0 {
		return "", nil, nil
	}
	from, err := store.TaskByID(ctx, r.Store.DB(), first)
	if n > 1 {
		from, err = store.TaskByKey(ctx, r.Store.DB(), handoffKey(n-1, first))
	}
	if err != nil {
		return "", nil, err
	}
	return policy.Redact(from.Answer), from.About, nil
}
