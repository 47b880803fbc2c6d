package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/agent/tools"
	"multis/jobs"
	"multis/policy"
	"multis/policy/rules"
	"multis/store"
)

const (
	// approvalTimeout is how long a call waits for the owner's approval.
	approvalTimeout = 15 * time.Minute
	// unattendedTimeout is how long a call that nobody waits for can be approved.
	unattendedTimeout = 24 * time.Hour
	// maxApprovalsPerMessage is how many calls one message asks about.
	maxApprovalsPerMessage = 10
)

// approver gets approvals for the calls of an attempt: from a grant, or from the owner, whom it asks.
type approver struct {
	engine Engine
	task   store.Task
	caller tools.Caller
}

// approver returns an approver for the attempt's next call. It copies the Caller, which may be tainted by the time of a later call.
func (a *Attempt) approver() approver { return approver{a.engine, a.Task, a.Caller} }

// AskOwner asks the owner for approvals, in one message. Unless nobody waits for them, the task is parked: it is resumed
// when he answers, or after approvalTimeout.
func (a *Attempt) AskOwner(ctx context.Context, tx store.Tx, first store.Approval, others ...store.Approval) error {
	return a.approver().askOwner(ctx, tx, first, others)
}

// approve applies the owner's decision about a call: it sets the approval of p, or returns the result of a call that is
// not made. If there is no decision yet, the owner is asked, and the task is parked if it can wait. rest are the calls
// after p.
func (a approver) approve(ctx context.Context, p *pendingCall, rest []pendingCall) (refusal *tools.Result, err error) {
	wanted, err := a.requiredApproval(ctx, p)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil { // it cannot be run, so nobody is asked
		return refuse(tools.Failed(err.Error(), false))
	}
	decision, err := store.ApprovalOf(ctx, a.engine.Store.DB(), a.task.ID, p.call.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return a.requestApproval(ctx, p, wanted, rest)
	case err != nil:
		return nil, err
	case decision.Unattended && decision.How != store.HowUnreachable:
		return refuse(deferredResult())
	case decision.Allowed == nil && decision.ExpiresAt.After(a.engine.Now()):
		if err := store.SetTaskState(ctx, a.engine.Store.Writer(), a.task, store.TaskWaiting); err != nil {
			return nil, err
		}
		return nil, ErrSuspended
	case decision.Allowed == nil:
		if err := store.ExpireApproval(ctx, a.engine.Store.Writer(), decision.ID, a.engine.Now()); err != nil {
			return nil, err
		}
		return refuse(tools.Refused(tools.CodeExpired, "The owner was asked and did not answer in 15 minutes, so it was not done."))
	case !*decision.Allowed:
		return refuse(deniedResult(decision))
	case decision.UsedAt == nil && (decision.Binding != wanted.Binding ||
		(wanted.Tier == store.ApprovalPIN && decision.Tier != store.ApprovalPIN)):
		wanted.ID = decision.ID
		return a.askAgain(ctx, wanted)
	}
	p.approval = decision.ID
	return nil, nil //nolint:nilnil // nothing refuses the call
}

// refuse returns the result of a call that is not made, for approve.
func refuse(result tools.Result) (*tools.Result, error) { return &result, nil }

// deferredResult returns the result of a call that nobody waits for.
func deferredResult() tools.Result {
	return tools.Refused(tools.CodeApproval,
		"It needs the owner's yes. He is asked and may answer later: then it is done, and you continue from there. Go on without it, and say what is left to do.")
}

// deniedResult returns the result of a call that was denied. The owner's words are in the fenced result, as material to read.
func deniedResult(a store.Approval) tools.Result {
	switch {
	case a.How == store.HowUnreachable:
		return tools.Refused(tools.CodeDenied, "It needs the owner's yes, and he cannot be asked now, so it was not done.")
	case a.How == store.HowReply && a.Reason != "":
		return tools.Refused(tools.CodeDenied, "The owner said no. Do not try it another way. What he wrote about it, which allows nothing: "+
			strconv.Quote(a.Reason))
	default:
		return tools.Refused(tools.CodeDenied, "The owner said no. Do not try it another way.")
	}
}

// requiredApproval returns the approval that a call needs, and stores in p.binding what the call runs.
func (a approver) requiredApproval(ctx context.Context, p *pendingCall) (store.Approval, error) {
	call := p.toolCall(a.caller)
	running, err := a.engine.Tools.Binding(ctx, call)
	if err != nil {
		return store.Approval{}, err
	}
	p.binding = running
	wanted := store.Approval{
		TaskID:     a.task.ID,
		CallID:     p.call.ID,
		Tool:       p.call.Name,
		Arguments:  p.step().Arguments,
		Binding:    a.bindingHash(*p),
		Tier:       store.ApprovalConfirm,
		Target:     targetOf(p.spec),
		Note:       policy.Redact(strings.TrimSpace(a.engine.Tools.Describe(call) + " " + p.note)),
		Unattended: !a.caller.CanWait(),
		ExpiresAt:  a.engine.Now().Add(approvalTimeout),
	}
	if wanted.Unattended {
		wanted.ExpiresAt = a.engine.Now().Add(unattendedTimeout)
	}
	switch {
	case p.needsPIN:
		wanted.Tier = store.ApprovalPIN
	case p.spec.Class == rules.ClassExec:
		wanted.Tier = store.ApprovalExec
	}
	wanted.Grantable = a.isGrantable(*p, wanted)
	return wanted, nil
}

// bindingHash returns the hash of what an approval of a call is about; see BindingHash.
func (a approver) bindingHash(p pendingCall) string {
	return BindingHash(p.call.Name, p.call.Args, a.caller.Chat.ID, p.binding)
}

// BindingHash returns the hash of what an approval is about: the tool, its arguments in canonical form, the chat, and what the call runs.
func BindingHash(tool string, args json.RawMessage, chat store.ChatID, runs string) string {
	raw, err := json.Marshal([]string{tool, canonicalJSON(args), strconv.FormatInt(int64(chat), 10), runs})
	if err != nil {
		return "" // cannot happen with plain strings
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// targetOf returns what a call is about, as rules see it: its domains or paths, one a line.
func targetOf(s tools.Spec) string {
	lines := slices.Concat(s.Resource.Domains, s.Resource.Paths)
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}

// isGrantable reports whether a grant may cover this call and further calls like it. It may not if the call runs a
// program, needs the PIN, changes the configuration or what instructs the agent, is made while nobody waits, or if a hook
// asks about it. In a tainted turn, and for a tool whose calls have targets, the call must have a target, because the
// grant covers only that.
func (a approver) isGrantable(p pendingCall, wanted store.Approval) bool {
	s := p.spec
	hasTarget := s.Kinds.Domains || s.Kinds.Paths || s.Kinds.Argv
	switch {
	case wanted.Tier != store.ApprovalConfirm, wanted.Unattended, p.hookAsks, s.Tier == tools.Pin, s.Class == rules.ClassConfig,
		s.Resource.Instructs:
		return false
	default:
		return wanted.Target != "" || (!hasTarget && !a.caller.Tainted)
	}
}

// requestApproval decides about a call without a decision: a grant allows it, or it is denied because the owner cannot be
// asked, or the owner is asked. It returns what approve returns.
func (a approver) requestApproval(ctx context.Context, p *pendingCall, wanted store.Approval,
	rest []pendingCall,
) (refusal *tools.Result, err error) {
	others, err := a.similarApprovals(ctx, *p, wanted, rest)
	if err != nil {
		return nil, err
	}
	var decided store.Approval
	err = a.engine.Store.InTx(ctx, func(tx store.Tx) error {
		decided, err = a.decideWithoutOwner(ctx, tx, wanted)
		if err != nil {
			return err
		}
		if decided.ID != 0 {
			return nil
		}
		return a.askOwner(ctx, tx, wanted, others)
	})
	switch {
	case err != nil:
		return nil, err
	case decided.ID != 0 && *decided.Allowed:
		p.approval = decided.ID
		return nil, nil //nolint:nilnil // nothing refuses the call
	case decided.ID != 0:
		return refuse(deniedResult(decided))
	case wanted.Unattended:
		return refuse(deferredResult())
	default:
		return nil, ErrSuspended
	}
}

// decideWithoutOwner stores and returns the decision about a call that nobody is asked about: it is allowed by a grant,
// or denied because the owner cannot be asked. It returns the zero Approval if the owner is to be asked.
func (a approver) decideWithoutOwner(ctx context.Context, tx store.Tx, wanted store.Approval) (store.Approval, error) {
	if wanted.Grantable {
		allowed, err := store.UseGrant(ctx, tx, a.task, wanted, a.engine.Now())
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return allowed, err
		}
	}
	why, err := a.whyUnreachable(ctx, tx)
	if err != nil {
		return store.Approval{}, err
	}
	if why == "" {
		return store.Approval{}, nil
	}
	no := false
	wanted.Allowed = &no
	wanted.How = store.HowUnreachable
	wanted.Reason = why
	return store.OpenApproval(ctx, tx, wanted)
}

// whyUnreachable says why the owner cannot be asked; empty if he can.
func (a approver) whyUnreachable(ctx context.Context, db store.DB) (why string, err error) {
	switch {
	case !a.caller.Owner:
		return "a contact's turn asks nobody", nil
	case !a.caller.CanWait() && a.task.ParentID != nil:
		return "another agent worked on it while nobody was there", nil // no task could continue it later
	}
	if _, err := store.AdminChat(ctx, db); !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	return "there was no admin room with you in it", nil
}

// similarApprovals returns the approvals of further calls of the same tool that one message can ask about.
func (a approver) similarApprovals(ctx context.Context, p pendingCall, first store.Approval, rest []pendingCall) ([]store.Approval, error) {
	var others []store.Approval
	for _, q := range rest {
		if len(others) == maxApprovalsPerMessage-1 {
			break
		}
		if q.call.Name != p.call.Name || q.call.Malformed != "" || q.stored != nil {
			continue
		}
		spec, verdict, err := a.engine.Tools.Judge(ctx, q.toolCall(a.caller))
		if err != nil {
			return nil, err
		}
		q.spec = spec
		q.needsPIN = verdict.Pin
		q.hookAsks = verdict.HookAsks
		q.note = verdict.Note
		if !(verdict.Ask || verdict.Pin) || q.findUnshowable() != "" {
			continue
		}
		wanted, err := a.requiredApproval(ctx, &q)
		if err != nil || wanted.Tier != first.Tier {
			continue // it is refused or asked about separately, when its turn comes
		}
		others = append(others, wanted)
	}
	return others, nil
}

// askAgain asks the owner about a call that is no longer what he approved. It returns what approve returns.
func (a approver) askAgain(ctx context.Context, wanted store.Approval) (refusal *tools.Result, err error) {
	err = a.engine.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.ReopenApproval(ctx, tx, wanted); err != nil {
			return err
		}
		return a.park(ctx, tx, wanted)
	})
	if err != nil {
		return nil, err
	}
	if wanted.Unattended {
		return refuse(deferredResult())
	}
	return nil, ErrSuspended
}

// askOwner is Attempt.AskOwner.
func (a approver) askOwner(ctx context.Context, tx store.Tx, first store.Approval, others []store.Approval) error {
	if first.ExpiresAt.IsZero() {
		first.ExpiresAt = a.engine.Now().Add(approvalTimeout)
	}
	first.TaskID = a.task.ID
	asked, err := store.OpenApproval(ctx, tx, first)
	if err != nil {
		return err
	}
	for _, other := range others {
		other.Card = asked.ID
		if _, err := store.OpenApproval(ctx, tx, other); err != nil {
			return err
		}
	}
	return a.park(ctx, tx, asked)
}

// park enqueues the question to the owner, and parks the task until he answers or the approval expires.
func (a approver) park(ctx context.Context, tx store.Tx, asked store.Approval) error {
	if err := jobs.EmitHookEvent(ctx, tx, policy.HookApproval, strconv.FormatInt(asked.ID, 10)); err != nil {
		return err
	}
	if err := jobs.Enqueue(ctx, tx, jobs.ApprovalArgs{ApprovalID: asked.ID}); err != nil {
		return err
	}
	if asked.Unattended {
		return nil
	}
	if err := store.SetTaskState(ctx, tx, a.task, store.TaskWaiting); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: a.task.ID, At: asked.ExpiresAt})
}
