package admin

import (
	"context"
	"errors"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/store"
)

// plan starts the planning of a goal. The finished plan is shown to the owner for approval.
func (ts *TaskCommands) plan(_ context.Context, r request, goal string) (answer, error) {
	switch {
	case goal == "":
		return answer{text: "What would you like to get done? `/plan compare the offers in contracts and write Ben which one is best`"}, nil
	case !ts.asker.HasModel(r.room, goal):
		return answer{text: "Planning needs a model: set `llm.model` in config.yaml, or `agents.<name>.model` that of an agent (`/plan @name ...`)."}, nil
	}
	return answer{reaction: reactionStarted, change: func(ctx context.Context, tx store.Tx) error {
		return ts.planner.Plan(ctx, tx, r.room, r.message, goal)
	}}, nil
}

// revisePlan handles a reply to a plan: the plan is made again with the wishes in the reply. done is false if the message
// replies to no plan.
func (ts *TaskCommands) revisePlan(ctx context.Context, r request, wishes string) (_ answer, done bool, err error) {
	if r.message.RelatesTo == "" || r.message.Kind != string(bridgebridge.Text) || !r.isOwner() {
		return answer{}, false, nil
	}
	if _, isChoice := parseChoice(wishes); isChoice {
		return answer{}, false, nil
	}
	dialog, err := store.DialogByEvent(ctx, ts.store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) || (err == nil && dialog.Kind != kindPlan) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	question, err := ts.dialogs.read(dialog)
	if err != nil {
		return answer{}, false, err
	}
	q, ok := question.(*approvePlan)
	if !ok || q.Tool != store.PlanCall {
		return answer{}, false, nil
	}
	approval, err := store.ApprovalByID(ctx, ts.store.DB(), q.Approval)
	if dialog.Done || errors.Is(err, store.ErrNotFound) {
		return answer{text: "That plan is under way, or over. `/cancel-task` stops it, `/plan` makes another one."}, true, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	return answer{reaction: reactionStarted, change: ts.dialogs.close(dialog, markDone, func(ctx context.Context, tx store.Tx) error {
		return jobs.RevisePlan(ctx, tx, approval.TaskID, r.message.ID, wishes, r.now)
	})}, true, nil
}
