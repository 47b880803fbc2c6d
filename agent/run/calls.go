package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"multis/agent/tools"
	"multis/internal/trace"
	"multis/llm"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

// maxParallelCalls is how many calls that only read run at the same time.
const maxParallelCalls = 4

// maxApprovedArguments is the maximum length of the arguments of a call that the owner can approve, in bytes.
const maxApprovedArguments = 16 << 10

// pendingCall is one tool call and its state.
type pendingCall struct {
	call      llm.ToolCall
	seq       int
	fence     string // around its result
	stored    *store.Step
	spec      tools.Spec
	approval  int64  // the approval of the call; zero for none
	needsPIN  bool   // the owner must enter the PIN as well
	hookAsks  bool   // a hook requires the approval; see tools.Verdict
	note      string // tells the owner why he is asked; see tools.Verdict
	binding   string // hash of what the call runs; see tools.ApprovalBinder
	result    tools.Result
	prepared  bool
	hasResult bool // result is set
	parked    bool // it waits for another agent
}

// toolCall returns the call as a tool gets it.
func (p pendingCall) toolCall(by tools.Caller) tools.Call {
	return tools.Call{ID: p.call.ID, Name: p.call.Name, Args: p.call.Args, Caller: by}
}

// step returns the stored form of the call, without its result.
func (p pendingCall) step() store.Step {
	return store.Step{
		Seq:       p.seq,
		Kind:      store.StepTool,
		Name:      p.call.Name,
		CallID:    p.call.ID,
		Arguments: policy.Redact(arguments(p.call)),
		HasEffect: p.spec.HasEffect,
		Fence:     p.fence,
	}
}

// hidesArguments reports whether the arguments of the call contain something that looks like a secret and is hidden from the owner.
func (p pendingCall) hidesArguments() bool { return p.step().Arguments != arguments(p.call) }

// toolCalls carries out the tool calls that the model wants.
type toolCalls struct{ *Attempt }

// callAll makes calls in their order. Consecutive calls that only read are made at the same time, all others one by one.
func (a toolCalls) callAll(ctx context.Context, calls []llm.ToolCall) ([]pendingCall, error) {
	all := make([]pendingCall, len(calls))
	for i, c := range calls {
		all[i] = pendingCall{call: c}
		all[i].seq, all[i].stored = a.nextStep()
		if all[i].fence = a.engine.Fence(); all[i].stored != nil && all[i].stored.Fence != "" {
			all[i].fence = all[i].stored.Fence
		}
	}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) {
			p := &all[to]
			if err := a.prepare(ctx, p, all[to+1:]); err != nil {
				return nil, err
			}
			if p.spec.HasEffect && to > from {
				break // it runs alone, after the calls before it
			}
			if to++; p.spec.HasEffect {
				break
			}
		}
		if err := a.callParallel(ctx, all[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	if slices.ContainsFunc(all, func(p pendingCall) bool { return p.parked }) {
		return nil, ErrSuspended
	}
	if err := a.taint(ctx, all); err != nil {
		return nil, err
	}
	for i := range all {
		if line := all[i].result.ForUser; line != "" {
			a.CallLines = append(a.CallLines, line)
		}
		if !all[i].result.IsError {
			a.Made = append(a.Made, all[i].call)
		}
		a.consult(all[i])
		a.noteFailure(all[i])
	}
	return all, nil
}

// noteFailure adds a call to Failures, or removes the earlier failure of its tool. What the owner refused himself, or let
// expire, is no failure, and a call that only reads or was made before says nothing.
func (a toolCalls) noteFailure(p pendingCall) {
	spec := p.spec
	if spec.Name == "" {
		spec, _ = a.engine.Tools.SpecOf(p.call.Name)
	}
	if !spec.HasEffect || spec.Class == rules.ClassRead || p.parked || a.sameCalls[callKey(p.call)] > 1 {
		return
	}
	a.Failures = slices.DeleteFunc(a.Failures, func(f Failure) bool { return f.Tool == p.call.Name })
	if p.result.IsError && !slices.Contains([]tools.Code{tools.CodeDenied, tools.CodeExpired, tools.CodeApproval}, p.result.Code) {
		a.Failures = append(a.Failures, Failure{Tool: p.call.Name, Error: p.result.ForLLM})
	}
}

// consult adds a call to Consulted if it read something that is no passage: the file or page, else the tool.
func (a toolCalls) consult(p pendingCall) {
	spec, known := a.engine.Tools.SpecOf(p.call.Name)
	if !known || spec.HasEffect || spec.Class == rules.ClassRead || p.result.IsError || p.result.ForLLM == "" {
		return
	}
	if name := cmp.Or(p.result.Ref, p.call.Name); !slices.Contains(a.Consulted, name) {
		a.Consulted = append(a.Consulted, name)
	}
}

// prepare sets the result of a call that the registry does not make: an earlier attempt made it, it is refused, or a
// handler carries it out. rest are the calls after it.
func (a toolCalls) prepare(ctx context.Context, p *pendingCall, rest []pendingCall) (err error) {
	if p.prepared {
		return nil
	}
	p.prepared = true
	if p.stored != nil && p.stored.CallID != p.call.ID {
		return fmt.Errorf("task %d: step %d is another call", a.Task.ID, p.seq)
	}
	if p.stored != nil && p.stored.EndedAt != nil {
		p.hasResult = true
		p.result, err = resultOf(*p.stored)
		return err
	}
	if p.stored != nil && p.stored.HasEffect {
		return a.setResult(ctx, p, tools.UnknownOutcome(p.call.Name, "This call was begun before a crash."))
	}
	if p.call.Malformed != "" { // nobody is asked about a call that cannot be made
		return a.setResult(ctx, p, tools.Refused(tools.CodeArguments, "The arguments are no JSON object: "+p.call.Malformed))
	}
	spec, verdict, err := a.engine.Tools.Judge(ctx, p.toolCall(a.Caller))
	if err != nil {
		return err
	}
	p.spec = spec
	p.needsPIN = verdict.Pin
	p.hookAsks = verdict.HookAsks
	p.note = verdict.Note
	if n := a.sameCalls[callKey(p.call)]; n >= maxSameCalls || (n > 1 && spec.Class == rules.ClassRead) {
		return a.setResult(ctx, p, tools.Refused(tools.CodeRefused, "You have this already, above. Answer now from what you have."))
	}
	asks := verdict.Ask || verdict.Pin
	if problem := p.findUnshowable(); asks && problem != "" {
		return a.setResult(ctx, p, tools.Refused(tools.CodeRefused, problem))
	}
	if asks {
		refusal, err := a.approver().approve(ctx, p, rest)
		if err != nil {
			return err
		}
		if refusal != nil {
			return a.setResult(ctx, p, *refusal)
		}
	}
	handle, ok := a.Handlers[spec.Name]
	if !ok || !verdict.Allow && p.approval == 0 {
		return nil
	}
	if p.approval != 0 {
		var begun bool
		err := a.engine.Store.InTx(ctx, func(tx store.Tx) (err error) {
			begun, err = store.UseApproval(ctx, tx, p.approval)
			return err
		})
		if err != nil {
			return err
		}
		if !begun {
			return a.setResult(ctx, p, tools.Refused(tools.CodeDenied, "The owner took the yes back. Do not try it another way."))
		}
	}
	call := p.toolCall(a.Caller)
	call.Binding = p.binding
	result, err := handle(ctx, call)
	if errors.Is(err, ErrSuspended) {
		p.parked = true
		return nil
	}
	if err != nil {
		return err
	}
	return a.setResult(ctx, p, result)
}

// findUnshowable returns why the owner cannot be shown the arguments of a call; empty if he can.
func (p pendingCall) findUnshowable() string {
	if len(arguments(p.call)) > maxApprovedArguments {
		return fmt.Sprintf("The arguments are longer than %d KB, which the owner would not read before he allows the call. Make it in smaller parts.",
			maxApprovedArguments>>10)
	}
	if p.hidesArguments() {
		return "The arguments hold what looks like a password or a key. The owner is not shown it, so he cannot allow the call. Tell him so."
	}
	return ""
}

// callParallel makes calls at the same time.
func (a toolCalls) callParallel(ctx context.Context, calls []pendingCall) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxParallelCalls)
	for i := range calls {
		p := &calls[i]
		if p.hasResult || p.parked {
			continue
		}
		a.Progress(ctx, "⏳ "+p.call.Name+" …")
		group.Go(func() error { return a.call(ctx, p) })
	}
	return group.Wait()
}

// call makes one call, and stores its step before and after.
func (a toolCalls) call(ctx context.Context, p *pendingCall) (err error) {
	ctx, span := trace.Start(ctx, "execute_tool",
		trace.Code("gen_ai.operation.name", "execute_tool"),
		trace.Code("gen_ai.tool.name", a.engine.Tools.KnownName(p.call.Name)),
		trace.Number("multis.step", p.seq),
	)
	defer func() {
		span.Add(trace.Code("multis.tool.code", p.result.Code), trace.Number("multis.tool.passages", len(p.result.Passages)))
		span.End(err)
	}()
	if begun, err := a.beginCall(ctx, *p); err != nil {
		return err
	} else if !begun {
		return a.setResult(ctx, p, tools.Refused(tools.CodeDenied, "The owner took the yes back. Do not try it another way."))
	}
	call := p.toolCall(a.Caller)
	call.Binding, call.PINEntered = p.binding, p.approval != 0 && p.needsPIN
	result, err := a.engine.Tools.Do(ctx, call, p.approval != 0)
	if err != nil {
		return err
	}
	p.hasResult, p.result = true, result
	return a.storeResult(ctx, *p)
}

// beginCall stores the step of a call before it is made, and uses its approval in the same transaction. It returns false
// if the owner took the approval back.
func (a toolCalls) beginCall(ctx context.Context, p pendingCall) (begun bool, err error) {
	if p.approval == 0 {
		return true, store.BeginStep(ctx, a.stepWriter(p), a.Task, p.step())
	}
	err = a.engine.Store.InTx(ctx, func(tx store.Tx) error {
		begun, err = store.UseApproval(ctx, tx, p.approval)
		if err != nil {
			return err
		}
		if !begun {
			return nil
		}
		return store.BeginStep(ctx, tx, a.Task, p.step())
	})
	return begun, err
}

// setResult stores the result of a call that the registry does not make.
func (a toolCalls) setResult(ctx context.Context, p *pendingCall, res tools.Result) error {
	p.hasResult, p.result = true, res
	if err := store.BeginStep(ctx, a.stepWriter(*p), a.Task, p.step()); err != nil {
		return err
	}
	return a.storeResult(ctx, *p)
}

// storeResult stores the result of a call, even if the attempt was cancelled meanwhile.
func (a toolCalls) storeResult(ctx context.Context, p pendingCall) error {
	step, err := stepWithResult(p.step(), p.result)
	if err != nil {
		return err
	}
	if about := SourceMessages(p.result.Passages); len(about) > 0 {
		if err := store.AddTaskSources(context.WithoutCancel(ctx), a.stepWriter(p), a.Task, about); err != nil {
			return err
		}
	}
	return store.EndStep(context.WithoutCancel(ctx), a.stepWriter(p), a.Task, step)
}

// stepWriter returns the writer for the steps of a call. Steps of a call that changes something are flushed to disk
// before the call; a call that only reads can be repeated.
func (a toolCalls) stepWriter(p pendingCall) store.Writer {
	if p.spec.HasEffect {
		return a.engine.Store.Writer()
	}
	return a.engine.Store.AsyncCommit()
}

// arguments returns the arguments of a call as the model wrote them.
func arguments(c llm.ToolCall) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	return string(c.Args)
}
