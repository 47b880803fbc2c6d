package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/tools"
)

const (
	// maxParallelCalls that only read run beside each other.
	maxParallelCalls = 4
	// approvalTimeout is how long a call waits for the owner's approval.
	approvalTimeout = 15 * time.Minute
)

// pending is one tool call on its way to a result.
type pending struct {
	call     llm.Call
	seq      int
	fence    string // around its result
	known    *store.Step
	spec     tools.Spec
	approved bool
	result   tools.Result
	prepared bool
	settled  bool // it has its result
	parked   bool // it waits for another agent
}

// callAll makes calls: those that only read beside each other, the others one by one and in their place.
func (a *Attempt) callAll(ctx context.Context, calls []llm.Call) ([]pending, error) {
	all := make([]pending, len(calls))
	for i, c := range calls {
		all[i] = pending{call: c}
		all[i].seq, all[i].known = a.nextStep()
		if all[i].fence = a.engine.Fence(); all[i].known != nil && all[i].known.Fence != "" {
			all[i].fence = all[i].known.Fence
		}
	}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) {
			p := &all[to]
			if err := a.prepare(ctx, p); err != nil {
				return nil, err
			}
			if p.spec.Effect && to > from {
				break // it goes alone, after those before it
			}
			if to++; p.spec.Effect {
				break
			}
		}
		if err := a.callParallel(ctx, all[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	if slices.ContainsFunc(all, func(p pending) bool { return p.parked }) {
		return nil, ErrParked
	}
	for i := range all {
		if line := all[i].result.ForUser; line != "" {
			a.Used = append(a.Used, line)
		}
	}
	return all, nil
}

// prepare settles a call that is not to be made: because an earlier attempt made it, the policy or the owner refuses it, or a handler carries it out.
func (a *Attempt) prepare(ctx context.Context, p *pending) (err error) {
	if p.prepared {
		return nil
	}
	p.prepared = true
	if p.known != nil && p.known.CallID != p.call.ID {
		return fmt.Errorf("task %d: step %d is another call", a.Task.ID, p.seq)
	}
	if p.known != nil && p.known.EndedAt != nil {
		p.settled = true
		p.result, err = resultOf(*p.known)
		return err
	}
	if p.known != nil && p.known.Effect {
		return a.settle(ctx, p, tools.UnknownOutcome(p.call.Name, "This call was begun before a crash."))
	}
	spec, verdict, err := a.engine.Tools.Judge(ctx, a.toolCall(p.call))
	if err != nil {
		return err
	}
	p.spec = spec
	if verdict.Ask && a.toolStep(*p).Arguments != arguments(p.call) {
		return a.settle(ctx, p, tools.Refused(tools.CodeRefused, "The arguments hold what looks like a password or a key. The owner is not shown it, so he cannot allow the call. Tell him so."))
	}
	if verdict.Ask {
		return a.approve(ctx, p)
	}
	handle, ok := a.Handlers[spec.Name]
	if !verdict.Allow || !ok {
		return nil
	}
	result, err := handle(ctx, a.toolCall(p.call))
	if errors.Is(err, ErrParked) {
		p.parked = true
		return nil
	}
	if err != nil {
		return err
	}
	return a.settle(ctx, p, result)
}

// approve applies the owner's decision about a call. It asks for one and parks the task if there is none yet.
func (a *Attempt) approve(ctx context.Context, p *pending) error {
	decision, err := store.ApprovalOf(ctx, a.engine.Store.DB(), a.Task.ID, p.call.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return a.park(ctx, p)
	case err != nil:
		return err
	case decision.Allowed == nil && decision.ExpiresAt.After(a.engine.Now()):
		return ErrParked
	case decision.Allowed == nil:
		return a.settle(ctx, p, tools.Refused(tools.CodeExpired, "The owner was asked and did not answer in 15 minutes, so it was not done."))
	case !*decision.Allowed:
		return a.settle(ctx, p, tools.Refused(tools.CodeDenied, "The owner said no. Do not try it another way."))
	}
	p.approved = true
	return nil
}

// park asks the owner about a call and parks the task.
func (a *Attempt) park(ctx context.Context, p *pending) error {
	step := a.toolStep(*p)
	err := a.engine.Store.InTx(ctx, func(tx store.Tx) error {
		return a.AskOwner(ctx, tx, store.Approval{CallID: p.call.ID, Tool: p.call.Name, Arguments: step.Arguments})
	})
	if err != nil {
		return err
	}
	return ErrParked
}

// AskOwner asks the owner to approve what the task wants to do. The task is resumed when he answers, or when the time for it is over.
func (a *Attempt) AskOwner(ctx context.Context, tx store.Tx, about store.Approval) error {
	about.TaskID, about.ExpiresAt = a.Task.ID, a.engine.Now().Add(approvalTimeout)
	asked, err := store.OpenApproval(ctx, tx, about)
	if err != nil {
		return err
	}
	if err := store.SetTaskState(ctx, tx, a.Task, store.TaskMonitoring); err != nil {
		return err
	}
	if err := jobs.Emit(ctx, tx, policy.HookApproval, strconv.FormatInt(asked.ID, 10)); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.ApprovalArgs{ApprovalID: asked.ID}, jobs.TaskArgs{TaskID: a.Task.ID, At: about.ExpiresAt})
}

// callParallel makes calls beside each other.
func (a *Attempt) callParallel(ctx context.Context, calls []pending) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelCalls)
	for i := range calls {
		p := &calls[i]
		if p.settled || p.parked {
			continue
		}
		a.Progress(ctx, "⏳ "+p.call.Name+" …")
		group.Go(func() error { return a.call(ctx, p) })
	}
	return group.Wait()
}

// call makes one call, with a step stored before and after it.
func (a *Attempt) call(ctx context.Context, p *pending) error {
	if err := store.BeginStep(ctx, a.stepWriter(*p), a.Task, a.toolStep(*p)); err != nil {
		return err
	}
	if p.call.Malformed != "" {
		p.result = tools.Refused(tools.CodeArguments, "The arguments are no JSON object: "+p.call.Malformed)
	} else {
		result, err := a.engine.Tools.Do(ctx, a.toolCall(p.call), p.approved)
		if err != nil {
			return err
		}
		p.result = result
	}
	p.settled = true
	return a.storeResult(ctx, *p)
}

// settle stores the result of a call that the registry does not make.
func (a *Attempt) settle(ctx context.Context, p *pending, res tools.Result) error {
	p.settled, p.result = true, res
	if err := store.BeginStep(ctx, a.stepWriter(*p), a.Task, a.toolStep(*p)); err != nil {
		return err
	}
	return a.storeResult(ctx, *p)
}

// storeResult stores the result of a call, even if the attempt was cancelled meanwhile.
func (a *Attempt) storeResult(ctx context.Context, p pending) error {
	step, err := stepWithResult(a.toolStep(p), p.result)
	if err != nil {
		return err
	}
	if about := SourceMessages(p.result.Passages); len(about) > 0 {
		if err := store.AddSources(context.WithoutCancel(ctx), a.stepWriter(p), a.Task, about); err != nil {
			return err
		}
	}
	return store.EndStep(context.WithoutCancel(ctx), a.stepWriter(p), a.Task, step)
}

// stepWriter returns where the steps of a call are written. Those of a call that changes something are on the disk before anything else happens; a call
// that only reads can be repeated.
func (a *Attempt) stepWriter(p pending) store.Writer {
	if p.spec.Effect {
		return a.engine.Store.Writer()
	}
	return a.engine.Store.Lazy()
}

func (a *Attempt) toolCall(c llm.Call) tools.Call {
	return tools.Call{ID: c.ID, Name: c.Name, Args: c.Args, Caller: a.Caller}
}

func (a *Attempt) toolStep(p pending) store.Step {
	return store.Step{Seq: p.seq, Kind: store.StepTool, Name: p.call.Name, CallID: p.call.ID, Arguments: policy.Redact(arguments(p.call)), Effect: p.spec.Effect, Fence: p.fence}
}

// arguments returns those of a call as the model wrote them.
func arguments(c llm.Call) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	return string(c.Args)
}
