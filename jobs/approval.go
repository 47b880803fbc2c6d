package jobs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// ApprovalArgs asks to request a person's approval of the tool calls on a card.
type ApprovalArgs struct {
	ApprovalID int64 `json:"approval"` // the first one on the card
}

// Kind names the job.
func (ApprovalArgs) Kind() string { return "approval" }

// InsertOpts sets the queue and the attempts.
func (ApprovalArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// ApprovalRequester requests a person's approval of tool calls.
type ApprovalRequester interface {
	RequestApproval(ctx context.Context, approval int64) error
}

// DecideApproval stores a person's decision about a plan, and enqueues its task, which it returns. It returns 0 if the
// approval has expired or was decided before; then the task has continued without it.
func DecideApproval(ctx context.Context, tx store.Tx, approval int64, d store.ApprovalDecision, now time.Time) (store.TaskID, error) {
	task, err := store.DecideApproval(ctx, tx, approval, d, now)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return task, Enqueue(ctx, tx, TaskArgs{TaskID: task})
}

// CardDecision is a person's decision about the calls on a card.
type CardDecision struct {
	store.ApprovalDecision

	Numbers []int         // the calls that are allowed, counted from 1; empty for all. The others are denied.
	Grant   time.Duration // how long further calls like them are allowed; zero for none
}

// DecidedCard is the result of a decision.
type DecidedCard struct {
	Allowed, Denied []store.Approval
	Grants          []store.Grant // grants that allow further calls like the allowed ones
	Continued       store.TaskID  // the new task that makes the allowed calls, if their task does not wait for the answer; zero for none
}

// DecideCard stores a person's decision about all calls on a card, and enqueues the task that continues. decided is false
// if one of them has expired or was decided before; then nothing is changed.
func DecideCard(ctx context.Context, tx store.Tx, card int64, d CardDecision, now time.Time) (_ DecidedCard, decided bool, err error) {
	calls, err := store.LockCard(ctx, tx, card)
	isOpen := func(a store.Approval) bool { return a.Allowed == nil && a.ExpiresAt.After(now) }
	if err != nil {
		return DecidedCard{}, false, err
	}
	if len(calls) == 0 || slices.ContainsFunc(calls, func(a store.Approval) bool { return !isOpen(a) }) {
		return DecidedCard{}, false, nil
	}
	var result DecidedCard
	for i, a := range calls {
		one := d.ApprovalDecision
		one.Allowed = d.Allowed && (len(d.Numbers) == 0 || slices.Contains(d.Numbers, i+1))
		if _, err := store.DecideApproval(ctx, tx, a.ID, one, now); err != nil {
			return DecidedCard{}, false, err
		}
		if one.Allowed {
			result.Allowed = append(result.Allowed, a)
		} else {
			result.Denied = append(result.Denied, a)
		}
	}
	if result.Grants, err = openGrants(ctx, tx, result.Allowed, d.Grant, now); err != nil {
		return DecidedCard{}, false, err
	}
	if !calls[0].Unattended {
		return result, true, Enqueue(ctx, tx, TaskArgs{TaskID: calls[0].TaskID})
	}
	result.Continued, err = continueTask(ctx, tx, result.Allowed, now)
	return result, true, err
}

// openGrants opens a grant for each target of the allowed calls, so that further calls like them are allowed.
func openGrants(ctx context.Context, tx store.Tx, allowed []store.Approval, length time.Duration, now time.Time) ([]store.Grant, error) {
	var grants []store.Grant
	for _, a := range allowed {
		isGranted := func(g store.Grant) bool { return g.Target == a.Target }
		if length <= 0 || !a.Grantable || slices.ContainsFunc(grants, isGranted) {
			continue
		}
		g, err := store.OpenGrant(ctx, tx, a.ID, now, now.Add(min(length, store.MaxGrant)))
		if err != nil {
			return nil, err
		}
		grants = append(grants, g)
	}
	return grants, nil
}

// continueTask stores and enqueues a task that makes the allowed calls of a task that does not wait for the answer. It
// returns 0 if no call was allowed, or if their task was forgotten.
func continueTask(ctx context.Context, tx store.Tx, allowed []store.Approval, now time.Time) (store.TaskID, error) {
	if len(allowed) == 0 {
		return 0, nil
	}
	var calls []string
	for _, a := range allowed {
		calls = append(calls, a.CallID)
	}
	next, err := store.ContinueApproved(ctx, tx, allowed[0].TaskID, calls, now)
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return next, Enqueue(ctx, tx, TaskArgs{TaskID: next})
}
