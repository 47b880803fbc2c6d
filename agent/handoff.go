package agent

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	// maxHandoffs is the maximum number of handoffs of one question.
	maxHandoffs = 5
	// maxHandoffSummary is the maximum length of the summary for the next agent, in characters.
	maxHandoffSummary = 2000
)

// handOff carries out the tool handoff: it ends the attempt, and another agent continues with the question.
func (r *attempt) handOff(_ context.Context, c tools.Call) (tools.Result, error) {
	args, err := tools.Decode[tools.HandoffArgs](c)
	if err != nil {
		return tools.BadArguments(err), nil
	}
	to, known := r.delegateNamed(args.Agent)
	summary := strings.TrimSpace(args.Summary)
	_, n := parseHandoffKey(r.run.Task)
	switch {
	case !known || summary == "":
		return tools.Refused(tools.CodeArguments, "Name one of the agents and say what it has to know."+r.delegatesText()), nil
	case to.Program != nil:
		return tools.Refused(tools.CodeRefused, "It is a program and answers nobody. Give it work with delegate."), nil
	case n >= maxHandoffs:
		return tools.Refused(tools.CodeRefused, fmt.Sprintf("It was passed on %d times already. Answer yourself.", n)), nil
	}
	return tools.Result{
		ForLLM:    to.ID + " continues.",
		ForUser:   "passed it on to " + to.ID,
		EndReason: text.Clip(summary, maxHandoffSummary),
		Ref:       to.ID,
	}, nil
}

// handoffKey is the key of the task that continues a question after a number of handoffs; first is the task that the question began with.
func handoffKey(handoffs int, first store.TaskID) string {
	return fmt.Sprintf("handoff:%d:%d", handoffs, first)
}

// parseHandoffKey returns the task that a question began with, and how often it was handed off since. Both are 0 for a
// task that was not handed off.
func parseHandoffKey(t store.Task) (first store.TaskID, handoffs int) {
	rest, is := strings.CutPrefix(t.Key, "handoff:")
	count, of, _ := strings.Cut(rest, ":")
	task, err := strconv.ParseInt(of, 10, 64)
	handoffs, countErr := strconv.Atoi(count)
	if !is || err != nil || countErr != nil {
		return 0, 0
	}
	return store.TaskID(task), handoffs
}

// payingTaskOf returns the task whose budget per run pays for t. All tasks of a question that was handed off share one budget.
func payingTaskOf(t store.Task) store.TaskID {
	first, _ := parseHandoffKey(t)
	return cmp.Or(first, t.ID)
}

// openHandoffTask opens the task of the agent to which a question was handed off. That agent also answers in the room from now on. The task
// keeps the limits of the former one.
func (q *Questions) openHandoffTask(ctx context.Context, tx store.Tx, from store.Task, room store.Chat, agent string) error {
	to := q.personas.ByID(agent)
	model, _ := q.personas.ModelOf(to)
	_, n := parseHandoffKey(from)
	from, err := store.TaskByID(ctx, tx, from.ID) // read again, with the messages that its tools have read
	if err != nil {
		return err
	}
	if from.Forgotten {
		return nil
	}
	if err := store.SetAgent(ctx, tx, room.ID, to.ID); err != nil {
		return err
	}
	next, err := store.InsertTask(ctx, tx, store.Task{
		Key:         handoffKey(n+1, payingTaskOf(from)),
		Kind:        from.Kind,
		ChatID:      room.ID,
		MessageID:   from.MessageID,
		Sources:     from.Sources,
		Agent:       to.ID,
		Model:       model.Name(),
		Input:       from.Input,
		Tools:       from.Tools,
		Target:      from.Target,
		ExecutionID: from.ExecutionID,
	})
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: next.ID})
}

// handoffText tells the owner which agent continues.
func (r *attempt) handoffText(out run.LoopResult) string {
	return fmt.Sprintf("➡️ **@%s** continues here: %s\n\n`/agent none` leaves it to the configuration again.", text.Escape(out.ToAgent),
		text.Escape(text.CollapseSpaces(r.run.BreakLinks(out.Summary))))
}

// handoffSummary returns the summary of the agent that handed the question off, and the messages whose words may be in it.
func (r *attempt) handoffSummary(ctx context.Context) (work string, about []store.MessageID, err error) {
	first, n := parseHandoffKey(r.run.Task)
	if n == 0 {
		return "", nil, nil
	}
	from, err := store.TaskByID(ctx, r.core.store.DB(), first)
	if n > 1 {
		from, err = store.TaskByKey(ctx, r.core.store.DB(), handoffKey(n-1, first))
	}
	if err != nil {
		return "", nil, err
	}
	return policy.Redact(from.Answer), from.Sources, nil
}
