package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"multis/policy"
	"multis/store/row"
)

const lockDraftSQL = "select " + outColumns + " from outbox o where (o.id = $1 or o.part_of = $1) and o.state = 'draft' order by o.seq for update"

// LockDraft returns the rows of a draft by its first row, locked until the end of the transaction. It returns none if the draft was
// decided before.
func LockDraft(ctx context.Context, tx Tx, first uuid.UUID) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, tx, "draft", lockDraftSQL, first)
}

const queueDraftSQL = `update outbox set state = 'queued', purpose = $2, code = $3, reason = $4, created_at = now()
	where (id = $1 or part_of = $1) and state = 'draft'`

// QueueDraft queues a draft for sending, as if it had been written now, with the gate's decision.
func QueueDraft(ctx context.Context, tx Tx, first uuid.UUID, purpose policy.Purpose, code policy.Code, why string) error {
	return row.Exec(ctx, tx, "release draft", queueDraftSQL, first, purpose, code, why)
}

const makeDraftSQL = `update outbox set state = 'draft', created_at = now()
	where (id = $1 or part_of = $1) and state = 'queued' and not exists (select from outbox p where p.part_of = $1 and p.state not in ('queued', 'draft'))`

// MakeDraft makes a queued message wait for the owner's approval. It returns false if a part of it is not queued any more.
func MakeDraft(ctx context.Context, tx Tx, first uuid.UUID) (bool, error) {
	n, err := row.Changed(ctx, tx, "make a draft", makeDraftSQL, first)
	return n > 0, err
}

const openDraftsSQL = "select " + outColumns + ` from outbox o where o.state = 'draft' and coalesce(o.part_of = o.id, true) and o.content <> '{}'
	order by o.seq limit $1`

// OpenDrafts returns the first row of each draft that waits, the oldest first.
func OpenDrafts(ctx context.Context, db DB, limit int) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "drafts", openDraftsSQL, limit)
}

const draftDialogSQL = "select " + dialogColumns + " from dialogs d where d.kind = $1 and d.draft_id = $2 order by d.id desc limit 1"

// DraftDialog returns the question of a kind about a draft, or ErrNotFound if the owner was not asked yet.
func DraftDialog(ctx context.Context, db DB, kind string, first uuid.UUID) (Dialog, error) {
	return row.One[Dialog](ctx, db, "question about a draft", draftDialogSQL, kind, first)
}

const (
	moveAnswersSQL = "update messages set outbox_id = $2 where outbox_id = $1 and chat_id = (select chat_id from outbox where id = $1)"
	moveRunSQL     = "update schedule_runs set outbox_id = $2 where outbox_id = $1"
)

// ReplaceDraft makes another outbox message the answer to the messages, and the result of the run, that a draft was for.
func ReplaceDraft(ctx context.Context, tx Tx, from, to uuid.UUID) error {
	return errors.Join(row.Exec(ctx, tx, "move what is answered", moveAnswersSQL, from, to), row.Exec(ctx, tx, "move the run of an event", moveRunSQL, from, to))
}

const setRunOutcomeSQL = "update schedule_runs set state = $2, note = $3 where outbox_id = $1"

// SetRunOutcome sets the state of the run whose message an outbox message is.
func SetRunOutcome(ctx context.Context, tx Tx, out uuid.UUID, state RunState, note string) error {
	return row.Exec(ctx, tx, "note what became of a run", setRunOutcomeSQL, out, state, note)
}
