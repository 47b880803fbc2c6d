package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/internal/text"
	"multis/store/row"
)

// PlanCall is the call id and the tool of an approval that is about a plan, not about a tool call. Its arguments are the plan as the owner
// reads it.
const PlanCall = "plan"

// ApprovalTier says how an approval is decided.
type ApprovalTier string

// The tiers of approvals. The zero value is stored as ApprovalConfirm.
const (
	ApprovalConfirm ApprovalTier = "confirm" // by a reaction or by text
	ApprovalExec    ApprovalTier = "exec"    // by text, because reactions are not encrypted
	ApprovalPIN     ApprovalTier = "pin"     // by text, and then the PIN
)

// ApprovalHow says how an approval was decided.
type ApprovalHow string

// The ways in which an approval is decided.
const (
	HowReaction    ApprovalHow = "reaction"
	HowText        ApprovalHow = "text"        // yes or no
	HowReply       ApprovalHow = "reply"       // a reply other than yes
	HowGrant       ApprovalHow = "grant"       // a grant of an earlier approval allows it
	HowContinued   ApprovalHow = "continued"   // the yes was for the task that this task continues
	HowExpired     ApprovalHow = "expired"     // nobody answered in time
	HowUnreachable ApprovalHow = "unreachable" // nobody could be asked
	HowRedacted    ApprovalHow = "redacted"    // the yes was deleted before the call was made
)

// Approval is a tool call that needs a person's yes.
type Approval struct {
	ID         int64
	TaskID     TaskID
	CallID     string
	Tool       string
	Arguments  string
	Binding    string // hash of the call about which the owner was asked; see bindingHash in agent/run
	ExpiresAt  time.Time
	Allowed    *bool // nil if undecided
	Card       int64 // the id of the first approval that is shown in the same message
	Tier       ApprovalTier
	Target     string // what the call is about, as rules see it
	Grantable  bool   // further calls like it may be allowed for some hours, by a Grant
	Unattended bool   // the task does not wait for the answer
	How        ApprovalHow
	Reason     string // why it was denied
	Note       string // why the owner is asked; empty if the tool alone is the reason
	GrantID    *int64
	UsedAt     *time.Time // when the call was begun
	CreatedAt  time.Time
	DecidedAt  *time.Time
}

const approvalColumns = `a.id, a.task_id, a.call_id, a.tool, a.arguments, a.binding, a.expires_at, a.allowed, coalesce(a.card, a.id) as card, a.tier, a.target, a.grantable,
	a.unattended, a.how, a.reason, a.note, a.grant_id, a.used_at, a.created_at, a.decided_at`

const openApprovalSQL = `with new as (insert into approvals as a (task_id, call_id, tool, arguments, binding, expires_at, card, tier, target, grantable, unattended, allowed, how, reason,
			note, grant_id, decided_at)
		values (@task, @call, @tool, @arguments, @binding, @expires, nullif(@card::bigint, 0), coalesce(nullif(@tier, ''), 'confirm'), @target, @grantable, @unattended, @allowed, @how, @reason,
			@note, @grant, case when @allowed::boolean is not null then now() end)
		on conflict (task_id, call_id) do nothing returning ` + approvalColumns + `)
	select * from new union all select ` + approvalColumns + ` from approvals a where a.task_id = @task and a.call_id = @call limit 1`

// OpenApproval stores an approval, which waits for a person unless Allowed is set. If the call has an approval already,
// it returns that one.
func OpenApproval(ctx context.Context, tx Tx, a Approval) (Approval, error) {
	return row.One[Approval](ctx, tx, "approval", openApprovalSQL, pgx.NamedArgs{
		"task": a.TaskID, "call": a.CallID, "tool": a.Tool, "arguments": text.Storable(a.Arguments), "binding": a.Binding, "expires": a.ExpiresAt,
		"card": a.Card, "tier": a.Tier,
		"target": text.Storable(a.Target), "grantable": a.Grantable, "unattended": a.Unattended, "allowed": a.Allowed, "how": a.How,
		"reason": text.Storable(a.Reason), "note": text.Storable(a.Note), "grant": a.GrantID,
	})
}

const reopenApprovalSQL = `with others as (update approvals set card = null where card = @id)
	update approvals set allowed = null, decided_at = null, how = '', reason = '', message_id = null, grant_id = null, card = null, hinted = false,
	binding = @binding, expires_at = @expires, unattended = @unattended, grantable = @grantable, target = @target, note = @note, tier = coalesce(nullif(@tier, ''), 'confirm')
	where id = @id and used_at is null`

// ReopenApproval asks again about a call that has changed since its approval.
func ReopenApproval(ctx context.Context, tx Tx, a Approval) error {
	return row.Exec(ctx, tx, "ask about a call again", reopenApprovalSQL, pgx.NamedArgs{
		"id": a.ID, "binding": a.Binding, "expires": a.ExpiresAt, "unattended": a.Unattended, "grantable": a.Grantable,
		"target": text.Storable(a.Target), "tier": a.Tier,
		"note": text.Storable(a.Note),
	})
}

const approvalOfSQL = "select " + approvalColumns + " from approvals a where a.task_id = $1 and a.call_id = $2"

// ApprovalOf returns the approval of a call, or ErrNotFound if nobody was asked.
func ApprovalOf(ctx context.Context, db DB, task TaskID, call string) (Approval, error) {
	return row.One[Approval](ctx, db, "approval", approvalOfSQL, task, call)
}

const approvalByIDSQL = "select " + approvalColumns + " from approvals a where a.id = $1"

// ApprovalByID returns one approval, or ErrNotFound.
func ApprovalByID(ctx context.Context, db DB, approval int64) (Approval, error) {
	return row.One[Approval](ctx, db, "approval", approvalByIDSQL, approval)
}

const approvalsOnCardSQL = "select " + approvalColumns + " from approvals a where a.id = $1 or a.card = $1 order by a.id"

// ApprovalsOnCard returns the approvals that are shown in one message, in their order. card is the id of the first of them.
func ApprovalsOnCard(ctx context.Context, db DB, card int64) ([]Approval, error) {
	return row.All[Approval](ctx, db, "approvals", approvalsOnCardSQL, card)
}

// LockCard is ApprovalsOnCard with a lock until the end of the transaction.
func LockCard(ctx context.Context, tx Tx, card int64) ([]Approval, error) {
	return row.All[Approval](ctx, tx, "approvals", approvalsOnCardSQL+" for update", card)
}

// ApprovalDecision is a decision about an approval.
type ApprovalDecision struct {
	Allowed bool
	How     ApprovalHow
	Reason  string
	Message MessageID // the message that decided; zero for none
}

const decideApprovalSQL = `update approvals set allowed = @allowed, decided_at = now(), how = @how, reason = @reason, message_id = nullif(@message::bigint, 0)
	where id = @id and allowed is null and expires_at > @now returning task_id`

// DecideApproval stores a person's decision and returns the task. It returns ErrNotFound if the approval has expired or was decided
// before.
func DecideApproval(ctx context.Context, tx Tx, approval int64, d ApprovalDecision, now time.Time) (TaskID, error) {
	return row.Value[TaskID](ctx, tx, "decide on a call", decideApprovalSQL, pgx.NamedArgs{
		"id": approval, "allowed": d.Allowed, "how": d.How, "reason": text.Storable(d.Reason), "message": d.Message, "now": now,
	})
}

const denyUndecidedSQL = `update approvals set allowed = false, decided_at = now(), how = $2, reason = $3 where (id = $1 or card = $1) and allowed is null returning task_id`

// DenyUndecided denies all undecided calls on a card, because they expired or nobody can be asked. It returns their task,
// or ErrNotFound if none was undecided.
func DenyUndecided(ctx context.Context, tx Tx, card int64, how ApprovalHow, reason string) (TaskID, error) {
	tasks, err := row.Values[TaskID](ctx, tx, "deny calls", denyUndecidedSQL, card, how, reason)
	if err == nil && len(tasks) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return 0, err
	}
	return tasks[0], nil
}

const expireApprovalSQL = "update approvals set allowed = false, decided_at = now(), how = 'expired' where id = $1 and allowed is null and expires_at <= $2"

// ExpireApproval denies an approval that nobody answered in time.
func ExpireApproval(ctx context.Context, w Writer, approval int64, now time.Time) error {
	return row.Exec(ctx, w, "end an approval", expireApprovalSQL, approval, now)
}

const useApprovalSQL = "update approvals set used_at = coalesce(used_at, now()) where id = $1 and allowed"

// UseApproval stores that an approved call begins, in the transaction that stores its step. It returns false if the approval was withdrawn.
func UseApproval(ctx context.Context, tx Tx, approval int64) (bool, error) {
	tag, err := tx.Exec(ctx, useApprovalSQL, approval)
	if err != nil {
		return false, fmt.Errorf("use an approval: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// withdrawApprovalSQL denies the calls that a deleted message had allowed, unless they have begun. It also ends the grants of that message.
const withdrawApprovalSQL = `with ended as (update approval_grants g set revoked_at = now() from approvals a
		where a.message_id = $1 and g.approval_id = a.id and g.revoked_at is null)
	update approvals set allowed = false, how = 'redacted', reason = $2 where message_id = $1 and allowed and used_at is null`

// withdrawnReason is the reason of an approval that was withdrawn.
const withdrawnReason = "the yes was deleted before the call was made"

const claimHintSQL = "update approvals set hinted = true where id = $1 and not hinted"

// ClaimHint stores that the owner gets the hint that a reaction does not decide a card. It returns false if he got it before.
func ClaimHint(ctx context.Context, tx Tx, card int64) (bool, error) {
	tag, err := tx.Exec(ctx, claimHintSQL, card)
	if err != nil {
		return false, fmt.Errorf("note a hint: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// ListedApproval is an approval with its task's agent, chat and kind.
type ListedApproval struct {
	Approval

	Agent   string
	Kind    TaskKind
	Sources []MessageID // the messages whose words may be in the arguments
}

const listApprovalsSQL = "select " + approvalColumns + `, t.agent, t.kind, t.sources from approvals a join tasks t on t.id = a.task_id
	where a.created_at > $1 and a.how <> 'continued' order by a.id desc limit $2`

// ListApprovals returns the approvals since a time, the newest first.
func ListApprovals(ctx context.Context, db DB, since time.Time, limit int) ([]ListedApproval, error) {
	return row.All[ListedApproval](ctx, db, "approvals", listApprovalsSQL, since, limit)
}

const continueApprovedSQL = `with old as (select t.*, (select a.id from approvals a where a.task_id = t.id and a.call_id = any (@calls) order by a.id limit 1) as card from tasks t where t.id = @task),
	new as (insert into tasks (key, kind, chat_id, message_id, sources, agent, model, input, state, attempt, tools, continues, target, execution_id, tainted)
		select 'approval:' || card || ':' || @round::bigint, kind, chat_id, message_id, sources, agent, model, input, 'queued', 1, tools, id, target, execution_id, tainted from old where not forgotten and card is not null
		on conflict (key) do nothing returning id),
	asked as (select s.name, jsonb_agg(c.call order by c.n) as calls from task_steps s, jsonb_array_elements(s.calls) with ordinality c(call, n)
		where s.task_id = @task and s.kind = 'model' and jsonb_typeof(s.calls) = 'array' and c.call->>'ID' = any (@calls) group by s.seq, s.name),
	said as (insert into task_steps (task_id, seq, kind, name, calls, ended_at) select new.id, 0, 'model', asked.name, asked.calls, now() from new, asked),
	agreed as (insert into approvals (task_id, call_id, tool, arguments, binding, expires_at, allowed, decided_at, tier, target, message_id, how)
		select new.id, a.call_id, a.tool, a.arguments, a.binding, a.expires_at, true, now(), a.tier, a.target, a.message_id, 'continued'
		from new, approvals a where a.task_id = @task and a.call_id = any (@calls) and a.allowed)
	select id from new`

// ContinueApproved stores a new task that makes calls of another task, now that the owner has approved them. The other
// task did not wait for his answer (Approval.Unattended). The new task begins with those calls and then continues like
// the other one. ContinueApproved returns ErrNotFound if the other task was forgotten.
func ContinueApproved(ctx context.Context, tx Tx, task TaskID, calls []string, round time.Time) (TaskID, error) {
	return row.Value[TaskID](ctx, tx, "continue a task", continueApprovedSQL,
		pgx.NamedArgs{"task": task, "calls": calls, "round": round.UnixMilli()})
}
