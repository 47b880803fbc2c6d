package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Commitment is something that somebody promised, or has to do.
type Commitment struct {
	ID        int64
	ChatID    int64
	NoteID    *int64
	MessageID int64 // where it was said
	Who       string
	Whom      string
	What      string
	DueAt     *time.Time
	State     string // open, done, dropped
	SnoozedTo *time.Time
	NudgedAt  *time.Time
	CreatedAt time.Time
}

const commitmentColumns = "c.id, c.chat_id, c.note_id, c.message_id, c.who, c.whom, c.what, c.due_at, c.state, c.snoozed_to, c.nudged_at, c.created_at"

const insertCommitmentSQL = `insert into commitments (chat_id, note_id, message_id, who, whom, what, due_at)
	values (@chat, @note, @message, @who, @whom, @what, @due) on conflict do nothing`

// InsertCommitment enters a promise into the ledger, once.
func InsertCommitment(ctx context.Context, tx Tx, c Commitment) error {
	return exec(ctx, tx, "note commitment", insertCommitmentSQL, pgx.NamedArgs{
		"chat": c.ChatID, "note": c.NoteID, "message": c.MessageID, "who": clean(c.Who), "whom": clean(c.Whom), "what": clean(c.What), "due": c.DueAt,
	})
}

const openCommitmentsSQL = "select " + commitmentColumns + ` from commitments c where c.state = 'open'
	and (c.snoozed_to is null or c.snoozed_to <= $1) order by c.due_at nulls last, c.id limit $2`

// OpenCommitments returns what is promised and not done, what is due first at the head, without what was put off beyond at.
func OpenCommitments(ctx context.Context, db DB, at time.Time, limit int) ([]Commitment, error) {
	return collect[Commitment](ctx, db, "commitments", openCommitmentsSQL, at, limit)
}

const setCommitmentSQL = "update commitments set state = $2, snoozed_to = $3, nudged_at = case when $3::timestamptz is null then nudged_at end where id = $1"

// SetCommitment changes how far a promise is; a time puts it off.
func SetCommitment(ctx context.Context, tx Tx, commitment int64, state string, snoozed *time.Time) error {
	return exec(ctx, tx, "change commitment", setCommitmentSQL, commitment, state, snoozed)
}

const dueCommitmentsSQL = "select " + commitmentColumns + ` from commitments c where c.state = 'open' and c.nudged_at is null
	and c.due_at is not null and c.due_at <= $1 and c.due_at > $2 and (c.snoozed_to is null or c.snoozed_to <= $3) order by c.due_at, c.id limit 20 for update skip locked`

// DueCommitments returns the promises due until a time and not older than another, of which nobody was reminded.
func DueCommitments(ctx context.Context, tx Tx, until, notBefore, now time.Time) ([]Commitment, error) {
	return collect[Commitment](ctx, tx, "commitments", dueCommitmentsSQL, until, notBefore, now)
}

const nudgedSQL = "update commitments set nudged_at = now() where id = any ($1)"

// Nudged notes that the owner was reminded of promises.
func Nudged(ctx context.Context, tx Tx, commitments []int64) error {
	return exec(ctx, tx, "note reminder", nudgedSQL, commitments)
}
