package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/store/row"
)

// CommitmentState is the state of a commitment.
type CommitmentState string

// The states of a commitment.
const (
	CommitmentOpen    CommitmentState = "open"
	CommitmentDone    CommitmentState = "done"
	CommitmentDropped CommitmentState = "dropped" // nobody expects it any more, or a newer note replaces its note
)

// Commitment is something that a person promised or has to do.
type Commitment struct {
	ID         CommitmentID
	ChatID     ChatID
	NoteID     *NoteID
	MessageID  MessageID // the message with the promise
	Who        string
	Whom       string
	What       string
	DueAt      *time.Time
	State      CommitmentState
	SnoozedTo  *time.Time
	RemindedAt *time.Time
	CreatedAt  time.Time
}

const commitmentColumns = "c.id, c.chat_id, c.note_id, c.message_id, c.who, c.whom, c.what, c.due_at, c.state, c.snoozed_to, c.reminded_at, c.created_at"

const insertCommitmentSQL = `insert into commitments (chat_id, note_id, message_id, who, whom, what, due_at)
	select @chat, @note, m.id, @who, @whom, @what, @due::timestamptz from messages m where m.id = @message for key share on conflict do nothing`

// InsertCommitment stores a commitment, once per message and text.
func InsertCommitment(ctx context.Context, tx Tx, c Commitment) error {
	return row.Exec(ctx, tx, "note commitment", insertCommitmentSQL, pgx.NamedArgs{
		"chat": c.ChatID, "note": c.NoteID, "message": c.MessageID, "who": text.Storable(c.Who), "whom": text.Storable(c.Whom),
		"what": text.Storable(c.What), "due": c.DueAt,
	})
}

const dropCommitmentsOfNoteSQL = "update commitments set state = 'dropped' where note_id = $1 and state = 'open'"

// DropCommitmentsOfNote drops the open commitments that were learned with a note, because a newer note replaces it.
func DropCommitmentsOfNote(ctx context.Context, tx Tx, note NoteID) error {
	return row.Exec(ctx, tx, "end commitments", dropCommitmentsOfNoteSQL, note)
}

const openCommitmentsSQL = "select " + commitmentColumns +
	` from commitments c where c.state = 'open' and (@chats::bigint[] is null or c.chat_id = any (@chats))
	order by coalesce(c.snoozed_to, c.due_at) nulls last, c.id limit @limit`

// OpenCommitments returns the open commitments of chats, or of all chats for nil, the next due first.
func OpenCommitments(ctx context.Context, db DB, chats []ChatID, limit int) ([]Commitment, error) {
	return row.All[Commitment](ctx, db, "commitments", openCommitmentsSQL, pgx.NamedArgs{"chats": chats, "limit": limit})
}

const commitmentByIDSQL = "select " + commitmentColumns + " from commitments c where c.id = $1"

// CommitmentByID returns one commitment, or ErrNotFound.
func CommitmentByID(ctx context.Context, db DB, commitment CommitmentID) (Commitment, error) {
	return row.One[Commitment](ctx, db, "commitment", commitmentByIDSQL, commitment)
}

const commitmentByEventSQL = "select " + commitmentColumns +
	` from commitments c join outbox o on o.id = c.shown_in where o.chat_id = $1 and o.event_id = $2`

// CommitmentByEvent returns the commitment that an event in a chat shows, or ErrNotFound.
func CommitmentByEvent(ctx context.Context, db DB, chat ChatID, event id.EventID) (Commitment, error) {
	return row.One[Commitment](ctx, db, "commitment", commitmentByEventSQL, chat, event)
}

const setCommitmentSQL = "update commitments set state = $2, snoozed_to = $3, reminded_at = case when $3::timestamptz is null then reminded_at end where id = $1"

// SetCommitment changes the state of a commitment. A time postpones it.
func SetCommitment(ctx context.Context, tx Tx, commitment CommitmentID, state CommitmentState, snoozed *time.Time) error {
	return row.Exec(ctx, tx, "change commitment", setCommitmentSQL, commitment, state, snoozed)
}

const dueRemindersFromSQL = ` from commitments c where c.state = 'open' and c.reminded_at is null
	and case when c.snoozed_to is null then c.due_at <= $1 and c.due_at > $2 else c.snoozed_to <= $3 end`

const dueRemindersSQL = "select " + commitmentColumns + dueRemindersFromSQL + `
	order by coalesce(c.snoozed_to, c.due_at), c.id limit 20 for update skip locked`

// DueReminders returns the commitments to remind the owner of: those due between two times, and those postponed until now.
func DueReminders(ctx context.Context, tx Tx, notBefore, until, now time.Time) ([]Commitment, error) {
	return row.All[Commitment](ctx, tx, "commitments", dueRemindersSQL, until, notBefore, now)
}

const hasDueRemindersSQL = "select exists (select" + dueRemindersFromSQL + ")"

// HasDueReminders reports whether DueReminders would return any.
func HasDueReminders(ctx context.Context, db DB, notBefore, until, now time.Time) (bool, error) {
	return row.Value[bool](ctx, db, "commitments", hasDueRemindersSQL, until, notBefore, now)
}

const markRemindedSQL = "update commitments set reminded_at = $2, shown_in = $3 where id = $1"

// MarkReminded stores that an outbox message reminded the owner of a commitment.
func MarkReminded(ctx context.Context, tx Tx, commitment CommitmentID, at time.Time, out uuid.UUID) error {
	return row.Exec(ctx, tx, "note reminder", markRemindedSQL, commitment, at, out)
}

const setCommitmentEventSQL = "update commitments set shown_in = $2 where id = $1"

// SetCommitmentEvent stores the outbox message that shows a commitment, so that a reaction to it finds the commitment.
func SetCommitmentEvent(ctx context.Context, tx Tx, commitment CommitmentID, out uuid.UUID) error {
	return row.Exec(ctx, tx, "note what shows a commitment", setCommitmentEventSQL, commitment, out)
}
