package store

import (
	"context"
	"fmt"
	"time"

	"multis/store/row"
	"multis/text"
)

// PlanCall is the call id and the tool of an approval that is about a plan, not about a tool call. Its arguments are the plan as the owner
// reads it.
const PlanCall = "plan"

// Approval is a tool call that needs a person's yes.
type Approval struct {
	ID        int64
	TaskID    TaskID
	CallID    string
	Tool      string
	Arguments string
	ExpiresAt time.Time
	Allowed   *bool // nil if undecided
}

const approvalColumns = "a.id, a.task_id, a.call_id, a.tool, a.arguments, a.expires_at, a.allowed"

const openApprovalSQL = `with new as (insert into approvals as a (task_id, call_id, tool, arguments, expires_at) values ($1, $2, $3, $4, $5)
		on conflict (task_id, call_id) do nothing returning ` + approvalColumns + `)
	select * from new union all select ` + approvalColumns + ` from approvals a where a.task_id = $1 and a.call_id = $2 limit 1`

// OpenApproval stores an approval that waits for a person. If the call has one, it returns that.
func OpenApproval(ctx context.Context, w Writer, a Approval) (Approval, error) {
	return row.One[Approval](ctx, w, "approval", openApprovalSQL, a.TaskID, a.CallID, a.Tool, text.Storable(a.Arguments), a.ExpiresAt)
}

const approvalSQL = "select " + approvalColumns + " from approvals a where a.task_id = $1 and a.call_id = $2"

// ApprovalOf returns the approval of a call, or ErrNotFound if nobody was asked.
func ApprovalOf(ctx context.Context, db DB, task TaskID, call string) (Approval, error) {
	return row.One[Approval](ctx, db, "approval", approvalSQL, task, call)
}

const approvalByIDSQL = "select " + approvalColumns + " from approvals a where a.id = $1"

// ApprovalByID returns one approval, or ErrNotFound.
func ApprovalByID(ctx context.Context, db DB, approval int64) (Approval, error) {
	return row.One[Approval](ctx, db, "approval", approvalByIDSQL, approval)
}

const decideSQL = "update approvals set allowed = $2, decided_at = now() where id = $1 and allowed is null and expires_at > $3 returning task_id"

// DecideApproval stores a person's decision and returns the task. It returns ErrNotFound if the approval has expired or was decided
// before.
func DecideApproval(ctx context.Context, tx Tx, approval int64, allowed bool, now time.Time) (TaskID, error) {
	var task TaskID
	if err := tx.QueryRow(ctx, decideSQL, approval, allowed, now).Scan(&task); err != nil {
		return 0, fmt.Errorf("decide on a call: %w", row.NotFound(err))
	}
	return task, nil
}
