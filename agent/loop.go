package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/search"
	"multis/skills"
	"multis/store"
	"multis/tools"
)

const (
	contactRounds = 5  // of a contact's turn
	ownerRounds   = 12 // of the owner's question
	maxRounds     = 20 // of anything

	// sameCalls of one tool with the same arguments stop a turn: the model goes in circles.
	sameCalls = 3
	// parallelCalls run beside each other, when they only read.
	parallelCalls = 4
	// approvalTime is how long a call waits for a person.
	approvalTime = 15 * time.Minute
)

// errParked ends an attempt whose task waits for a person. Whoever decides has it go on.
var errParked = errors.New("the task waits for a person")

// run is one attempt at a task: what it works with, and how far it is.
type run struct {
	*Agent
	task    store.Task
	persona Persona
	model   llm.Model
	limits  Limits
	skills  []skills.Skill
	// forgetful says that notes have no part in the answer.
	forgetful bool
	// isolated leaves out what was said in the room before.
	isolated bool
	payer    string // whose daily budget pays, when it is not the persona's
	run      int64  // that it is paid as a part of; 0: one of its own
	caller   tools.Caller
	first    llm.Request // what the model is first asked
	rounds   int
	// passages are what an answer may cite, counted from 1, in the order in which the model saw them.
	passages []search.Hit
	// given is all that the model was given to read. An address that it names and that does not stand there is its own.
	given []string
	// shown is told how far it is: what was said so far, or what is done.
	shown func(text string)

	done []store.Step // by earlier attempts
	next int          // the next step
	ids  map[string]bool
	used []string // lines for people about what was done

	places    places // where the owner's question is answered from
	summarise bool   // what was said before
	invented  int    // citations of the model that stand nowhere
}

// newRun is an attempt of a persona's.
func (a *Agent) newRun(p Persona, rounds int) *run {
	r := &run{Agent: a, rounds: rounds, persona: p, shown: func(string) {}}
	r.model, r.limits = a.modelOf(p)
	return r
}

// outcome is what a run came to. Without text and handover it was stopped, and why says so.
type outcome struct {
	text     string
	handover string
	to       string // who goes on after a handover; empty: a person
	why      string
}

// loop lets the model call tools until it answers.
func (r *run) loop(ctx context.Context) (outcome, error) {
	if r.task.Attempt > 1 {
		var err error
		if r.done, err = store.Steps(ctx, r.Store.DB(), r.task.ID); err != nil {
			return outcome{}, err
		}
	}
	request := r.first
	request.Messages = slices.Clone(request.Messages)
	calls := map[string]int{}
	for range min(r.rounds, maxRounds) {
		said, err := r.think(ctx, request)
		if err != nil {
			return outcome{}, err
		}
		if len(said.Calls) == 0 {
			return outcome{text: said.Text}, nil
		}
		for _, c := range said.Calls {
			key := c.Name + " " + compact(c.Args)
			if calls[key]++; calls[key] >= sameCalls {
				return outcome{why: fmt.Sprintf("I called %s with the same arguments %d times and got no further, so I stopped.", c.Name, sameCalls)}, nil
			}
		}
		results, err := r.act(ctx, said.Calls)
		if err != nil {
			return outcome{}, err
		}
		request.Messages = append(request.Messages, llm.Message{Role: llm.RoleAssistant, Text: said.Text, Calls: said.Calls})
		for _, p := range results {
			if p.result.Handover != "" {
				return outcome{handover: p.result.Handover, to: p.result.Ref}, nil
			}
			request.Messages = append(request.Messages, r.resultMessage(p.call, p.result, p.fence))
		}
	}
	return outcome{why: fmt.Sprintf("I stopped after %d rounds without an answer.", min(r.rounds, maxRounds))}, nil
}

// compact is arguments as one spelling.
func compact(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil {
		return string(args)
	}
	return b.String()
}

// step returns the place of the next step, with what is known of it.
func (r *run) step() (seq int, known *store.Step) {
	seq = r.next
	r.next++
	for i := range r.done {
		if r.done[i].Seq == seq {
			return seq, &r.done[i]
		}
	}
	return seq, nil
}

// think makes one call of the model, or returns what it said when an earlier attempt asked it the same.
func (r *run) think(ctx context.Context, request llm.Request) (llm.Response, error) {
	seq, known := r.step()
	if known != nil && known.EndedAt != nil {
		said := llm.Response{Text: known.Text}
		if len(known.Calls) > 0 {
			if err := json.Unmarshal(known.Calls, &said.Calls); err != nil {
				return llm.Response{}, fmt.Errorf("read step %d of task %d: %w", seq, r.task.ID, err)
			}
		}
		r.nameCalls(seq, said.Calls)
		return said, nil
	}
	if err := r.limits.fit(&request); err != nil {
		return llm.Response{}, err
	}
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: r.model.Name(), Asked: digest(request)}
	if err := store.BeginStep(ctx, r.Store.Lazy(), r.task, step); err != nil {
		return llm.Response{}, err
	}
	said, err := r.stream(ctx, request)
	if err != nil {
		return llm.Response{}, err
	}
	r.nameCalls(seq, said.Calls)
	step.Text, step.TokensIn, step.TokensOut, step.Code = policy.Redact(said.Text), said.Usage.In, said.Usage.Out, string(said.Stop)
	if len(said.Calls) > 0 {
		if step.Calls, err = json.Marshal(redactCalls(said.Calls)); err != nil {
			return llm.Response{}, fmt.Errorf("write the calls of a model: %w", err)
		}
	}
	return said, store.EndStep(context.WithoutCancel(ctx), r.Store.Lazy(), r.task, step)
}

// stream calls the model and shows what it says while it says it.
func (r *run) stream(ctx context.Context, request llm.Request) (llm.Response, error) {
	var said llm.Response
	var text strings.Builder
	for d, err := range r.model.Stream(ctx, request) {
		if err != nil {
			return llm.Response{}, err
		}
		if d.Text != "" {
			text.WriteString(d.Text)
			if words := soFar(text.String()); words != "" { // else nothing is there to be read yet
				r.shown(words)
			}
		}
		if d.Call != nil {
			said.Calls = append(said.Calls, *d.Call)
		}
		if d.Stop != "" {
			said.Stop = d.Stop
		}
		if d.Usage != (llm.Usage{}) {
			said.Usage = d.Usage
		}
	}
	said.Text = text.String()
	return storable(said), nil
}

// nameCalls sees to it that no two calls of a task have one id: some providers count anew in each answer.
func (r *run) nameCalls(seq int, calls []llm.Call) {
	if r.ids == nil {
		r.ids = map[string]bool{}
	}
	for i := range calls {
		if calls[i].ID == "" || r.ids[calls[i].ID] {
			calls[i].ID = fmt.Sprintf("call_%d_%d", seq, i)
		}
		r.ids[calls[i].ID] = true
	}
}

// redactCalls is calls as they are stored.
func redactCalls(calls []llm.Call) []llm.Call {
	stored := slices.Clone(calls)
	for i, c := range stored {
		stored[i].Malformed = policy.Redact(c.Malformed)
		args := policy.Redact(string(c.Args))
		if raw, err := json.Marshal(args); err == nil && !json.Valid([]byte(args)) {
			args = string(raw) // what was taken out was no string
		}
		if c.Args != nil {
			stored[i].Args = json.RawMessage(args)
		}
	}
	return stored
}

// pending is one call on its way to a result.
type pending struct {
	call     llm.Call
	seq      int
	fence    string // around its result
	known    *store.Step
	spec     tools.Spec
	approved bool
	result   tools.Result
	ready    bool // it is known what is to become of it
	settled  bool // it has its result
	waits    bool // for another agent
}

// act makes calls: those that only read beside each other, the others one by one and in their place.
func (r *run) act(ctx context.Context, calls []llm.Call) ([]pending, error) {
	all := make([]pending, len(calls))
	for i, c := range calls {
		all[i] = pending{call: c}
		all[i].seq, all[i].known = r.step()
		if all[i].fence = r.fence(); all[i].known != nil && all[i].known.Fence != "" {
			all[i].fence = all[i].known.Fence
		}
	}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) {
			p := &all[to]
			if err := r.prepare(ctx, p); err != nil {
				return nil, err
			}
			if p.spec.Effect && to > from {
				break // it goes alone, after those before it
			}
			if to++; p.spec.Effect {
				break
			}
		}
		if err := r.together(ctx, all[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	if slices.ContainsFunc(all, func(p pending) bool { return p.waits }) {
		return nil, errParked
	}
	for i := range all {
		if line := all[i].result.ForUser; line != "" {
			r.used = append(r.used, line)
		}
	}
	return all, nil
}

// prepare finds out what is to become of a call: what is known of it from before, what the policy says, and what a person said.
func (r *run) prepare(ctx context.Context, p *pending) error {
	if p.ready {
		return nil
	}
	p.ready = true
	if p.known != nil && p.known.CallID != p.call.ID {
		return fmt.Errorf("task %d: step %d is another call", r.task.ID, p.seq)
	}
	if p.known != nil && p.known.EndedAt != nil {
		p.settled = true
		return resultOfStep(*p.known, &p.result)
	}
	if p.known != nil && p.known.Effect {
		p.settled = true
		p.result = tools.Unknown(p.call.Name, "This call was begun before a crash.")
		return r.endTool(ctx, *p)
	}
	spec, verdict, err := r.Tools.Judge(ctx, r.toolCall(p.call))
	if err != nil {
		return err
	}
	p.spec = spec
	if verdict.Ask && r.toolStep(*p).Arguments != arguments(p.call) {
		p.settled, p.result = true, tools.Refused(tools.CodeRefused, "The arguments hold what looks like a password or a key. The owner is not shown it, so he cannot allow the call. Tell him so.")
		return r.endTool(ctx, *p)
	}
	if verdict.Ask {
		return r.approval(ctx, p)
	}
	switch {
	case verdict.Allow && (spec.Name == tools.DelegateName || spec.Name == tools.SessionsSendName):
		return r.delegate(ctx, p)
	case verdict.Allow && spec.Name == tools.HandoffName:
		return r.handOff(ctx, p)
	case verdict.Allow && (spec.Name == tools.SessionsListName || spec.Name == tools.SessionsHistoryName):
		return r.sessions(ctx, p)
	}
	return nil
}

// approval looks for what a person said to a call, and parks the task when nobody said anything yet.
func (r *run) approval(ctx context.Context, p *pending) error {
	now := r.now()
	a, err := store.ApprovalOf(ctx, r.Store.DB(), r.task.ID, p.call.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return r.park(ctx, p)
	case err != nil:
		return err
	case a.Allowed == nil && a.ExpiresAt.After(now):
		return errParked
	case a.Allowed != nil && *a.Allowed:
		p.approved = true
		return nil
	}
	p.settled = true
	p.result = tools.Refused(tools.CodeDenied, "The owner said no. Do not try it another way.")
	if a.Allowed == nil {
		p.result = tools.Refused(tools.CodeExpired, "The owner was asked and did not answer in 15 minutes, so it was not done.")
	}
	return r.endTool(ctx, *p)
}

// park has the owner asked, and the task goes on when he answers or the time is over: no worker waits for him.
func (r *run) park(ctx context.Context, p *pending) error {
	step := r.toolStep(*p)
	err := r.Store.InTx(ctx, func(tx store.Tx) error {
		return r.askOwner(ctx, tx, store.Approval{CallID: p.call.ID, Tool: p.call.Name, Arguments: step.Arguments})
	})
	if err != nil {
		return err
	}
	return errParked
}

// askOwner has the owner asked about what the task wants to do. The task goes on when he answers, or when the time for it is over.
func (r *run) askOwner(ctx context.Context, tx store.Tx, about store.Approval) error {
	about.TaskID, about.ExpiresAt = r.task.ID, r.now().Add(approvalTime)
	asked, err := store.OpenApproval(ctx, tx, about)
	if err != nil {
		return err
	}
	if err := store.SetTaskState(ctx, tx, r.task, store.TaskMonitoring); err != nil {
		return err
	}
	if err := jobs.Emit(ctx, tx, store.HookApproval, strconv.FormatInt(asked.ID, 10)); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.ApprovalArgs{ApprovalID: asked.ID}, jobs.TaskArgs{TaskID: r.task.ID, At: about.ExpiresAt})
}

// together makes calls beside each other.
func (r *run) together(ctx context.Context, calls []pending) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelCalls)
	for i := range calls {
		p := &calls[i]
		if p.settled || p.waits {
			continue
		}
		r.shown("⏳ " + p.call.Name + " …")
		group.Go(func() error { return r.make(ctx, p) })
	}
	return group.Wait()
}

// make makes one call, with a step before and after it.
func (r *run) make(ctx context.Context, p *pending) error {
	if err := store.BeginStep(ctx, r.notes(*p), r.task, r.toolStep(*p)); err != nil {
		return err
	}
	if p.call.Malformed != "" {
		p.result = tools.Refused(tools.CodeArguments, "The arguments are no JSON object: "+p.call.Malformed)
	} else {
		result, err := r.Tools.Do(ctx, r.toolCall(p.call), p.approved)
		if err != nil {
			return err
		}
		p.result = result
	}
	p.settled = true
	return r.storeResult(ctx, *p)
}

// endTool stores the result of a call that was not made.
func (r *run) endTool(ctx context.Context, p pending) error {
	if err := store.BeginStep(ctx, r.notes(p), r.task, r.toolStep(p)); err != nil {
		return err
	}
	return r.storeResult(ctx, p)
}

// storeResult stores what a call gave, whatever becomes of the turn meanwhile.
func (r *run) storeResult(ctx context.Context, p pending) error {
	step, err := stepOfResult(r.toolStep(p), p.result)
	if err != nil {
		return err
	}
	if about := quoted(p.result.Passages); len(about) > 0 {
		if err := store.RestOn(context.WithoutCancel(ctx), r.notes(p), r.task, about); err != nil {
			return err
		}
	}
	return store.EndStep(context.WithoutCancel(ctx), r.notes(p), r.task, step)
}

// notes is where a call is noted. That one was begun which changes something, and how it ended, is on the disk before anything else
// happens; what only reads can be called again.
func (r *run) notes(p pending) store.DB {
	if p.spec.Effect {
		return r.Store.DB()
	}
	return r.Store.Lazy()
}

func (r *run) toolCall(c llm.Call) tools.Call {
	return tools.Call{ID: c.ID, Name: c.Name, Args: c.Args, Caller: r.caller}
}

func (r *run) toolStep(p pending) store.Step {
	return store.Step{Seq: p.seq, Kind: store.StepTool, Name: p.call.Name, CallID: p.call.ID, Arguments: policy.Redact(arguments(p.call)), Effect: p.spec.Effect, Fence: p.fence}
}

// arguments are those of a call as the model wrote them.
func arguments(c llm.Call) string {
	if c.Malformed != "" {
		return c.Malformed
	}
	return string(c.Args)
}
