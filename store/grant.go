package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/internal/text"
	"multis/store/row"
)

// MaxGrant is the longest time for which calls can be allowed. The database refuses more.
const MaxGrant = 8 * time.Hour

// Grant allows for some hours further calls like one that the owner approved: calls of the same agent, in the same chat,
// of the same tool, about the same target.
type Grant struct {
	ID         int64
	ApprovalID int64
	ChatID     ChatID
	Agent      string
	Tool       string
	Target     string // as rules see it; empty for a tool whose calls have none
	CreatedAt  time.Time
	ExpiresAt  time.Time
	RevokedAt  *time.Time
	Uses       int // how many calls were made under it
}

const grantColumns = "g.id, g.approval_id, g.chat_id, g.agent, g.tool, g.target, g.created_at, g.expires_at, g.revoked_at, g.uses"

const openGrantSQL = `insert into approval_grants as g (approval_id, chat_id, agent, tool, target, created_at, expires_at)
	select a.id, t.chat_id, t.agent, a.tool, a.target, @now, @expires from approvals a join tasks t on t.id = a.task_id
	where a.id = @id and a.allowed and a.grantable and a.tier = 'confirm' returning ` + grantColumns

// OpenGrant allows further calls like that of an approval until a time. It returns ErrNotFound if the approval allows no grant.
func OpenGrant(ctx context.Context, tx Tx, approval int64, now, expires time.Time) (Grant, error) {
	return row.One[Grant](ctx, tx, "grant", openGrantSQL, pgx.NamedArgs{"id": approval, "now": now, "expires": expires})
}

const useGrantSQL = `update approval_grants g set uses = uses + 1 where g.id = (select id from approval_grants
		where chat_id = @chat and agent = @agent and tool = @tool and target = @target and revoked_at is null and expires_at > @now
			and created_at <= @now + interval '1 minute' -- else the clock was set back, which would make it longer
		order by expires_at desc limit 1 for update) and revoked_at is null returning ` + grantColumns

// UseGrant stores an approval for a call of a task that an open grant allows, and returns it. It returns ErrNotFound if
// no grant covers the call.
func UseGrant(ctx context.Context, tx Tx, t Task, a Approval, now time.Time) (Approval, error) {
	g, err := row.One[Grant](ctx, tx, "grant", useGrantSQL, pgx.NamedArgs{
		"chat": t.ChatID, "agent": t.Agent, "tool": a.Tool, "target": text.Storable(a.Target), "now": now,
	})
	if err != nil {
		return Approval{}, err
	}
	yes := true
	a.Allowed = &yes
	a.How = HowGrant
	a.GrantID = &g.ID
	a.ExpiresAt = g.ExpiresAt
	return OpenApproval(ctx, tx, a)
}

const openGrantsSQL = "select " + grantColumns + " from approval_grants g where g.revoked_at is null and g.expires_at > $1 order by g.id"

// OpenGrants returns the grants that are in force, in their order.
func OpenGrants(ctx context.Context, db DB, now time.Time) ([]Grant, error) {
	return row.All[Grant](ctx, db, "grants", openGrantsSQL, now)
}

const revokeGrantSQL = "update approval_grants g set revoked_at = now() where g.id = $1 and g.revoked_at is null and g.expires_at > $2 returning " + grantColumns

// RevokeGrant ends a grant. It returns ErrNotFound if the grant is not in force.
func RevokeGrant(ctx context.Context, tx Tx, grant int64, now time.Time) (Grant, error) {
	return row.One[Grant](ctx, tx, "grant", revokeGrantSQL, grant, now)
}

// GrantUse is the number of calls that grants allowed in a period, and the number of those grants.
type GrantUse struct {
	Grants int
	Calls  int
}

const countGrantedSQL = `select count(distinct grant_id) as grants, count(*) as calls from approvals where grant_id is not null and created_at >= $1 and ($2::timestamptz is null or created_at < $2)`

// CountGranted counts the calls that grants allowed in a period. The zero until means no end.
func CountGranted(ctx context.Context, db DB, from, until time.Time) (GrantUse, error) {
	return row.One[GrantUse](ctx, db, "calls under grants", countGrantedSQL, from, nullTime(until))
}
