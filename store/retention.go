package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/store/index"
	"multis/store/row"
)

// How long rows are stored that no setting governs. Upkeep prunes them: see retentions in cmd/multis.
const (
	ExecutionRetention      = 30 * day
	TaskRetention           = 30 * day
	FindingRetention        = 30 * day
	DeliveryRetention       = 30 * day
	UsageRetention          = 400 * day // the year before is compared with
	SeenEventRetention      = 90 * day  // no homeserver sends an event again later
	PendingEventRetention   = 7 * day
	WebhookRequestRetention = 7 * day
	DialogRetention         = 7 * day // after the question has expired
	ModelHoldRetention      = 2 * day // after the hold is over

	day = 24 * time.Hour
)

const pruneDialogsSQL = "delete from dialogs where expires_at < $1"

// PruneDialogs deletes the questions to the owner that expired before a time, and returns their number.
func PruneDialogs(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Changed(ctx, w, "delete old questions", pruneDialogsSQL, before)
}

// Cutoffs are the times before which messages are deleted: in chats, and in the owner's rooms.
type Cutoffs struct {
	Chats time.Time
	Owner time.Time
}

func (c Cutoffs) args(limit int) pgx.NamedArgs {
	return pgx.NamedArgs{"chats": c.Chats, "owner": c.Owner, "limit": limit}
}

const cutoffSQL = "case when c.kind = 'admin' then @owner::timestamptz else @chats::timestamptz end"

// expiredMessagesSQL leaves out the messages of open escalations, and those of open commitments that are not due yet or have no due date.
const expiredMessagesSQL = `select m.id from chats c, lateral (
		select m.id from messages m where m.chat_id = c.id and m.ts < ` + cutoffSQL + `
			and not exists (select from commitments p where p.message_id = m.id and p.state = 'open' and coalesce(p.snoozed_to, p.due_at, 'infinity') > now())
			and not exists (select from escalations e where e.message_id = m.id and e.closed_at is null)
		order by m.ts, m.id limit @limit for update skip locked
	) m limit @limit`

const expireMessagesSQL = `with files as (select count(*) as n from kept_files where message_id = any (@messages)),
	gone as (delete from messages where id = any (@messages) returning 1),
	letters as (update outbox o set content = '{}', citations = '[]' where o.content <> '{}'
		and ((o.quotes && @messages::bigint[] and o.quotes <> '{}') or (o.sources && @messages::bigint[] and o.sources <> '{}')) returning 1),
	` + forgetTasksSQL + `
	select (select count(*) from gone)::int, (select n from files)::int, (select count(*) from letters)::int, (select count(*) from tasks_gone)::int`

// ExpireMessages deletes up to limit messages that are older than the cutoffs, and empties the tasks that read them and the outbox
// messages that quote them. ExpireRest deletes the notes later.
func ExpireMessages(ctx context.Context, tx Tx, c Cutoffs, limit int) (DeletionCounts, error) {
	var f DeletionCounts
	messages, err := row.Values[MessageID](ctx, tx, "old messages", expiredMessagesSQL, c.args(limit))
	if err != nil {
		return f, err
	}
	if len(messages) == 0 {
		return f, nil
	}
	if err := index.RemoveMessages(ctx, tx, messages); err != nil {
		return f, err
	}
	err = tx.QueryRow(ctx, expireMessagesSQL, pgx.NamedArgs{"messages": messages, "tasks": []TaskID{}}).Scan(&f.Messages, &f.Files,
		&f.OutboxMessages, &f.Tasks)
	if err != nil {
		return f, fmt.Errorf("delete old messages: %w", err)
	}
	return f, nil
}

// expiredNotesSQL finds captures and notes whose messages are all gone. A capture is as old as the newest message of its notes.
const expiredNotesSQL = `(select 'memory:section:' || s.id from note_sections s join chats c on c.id = s.chat_id where s.created_at < ` +
	cutoffSQL + `
		and not exists (select from notes n join messages m on m.id = any (n.sources) where n.section_id = s.id and m.redacted_at is null) order by s.id limit @limit)
	union all
	(select 'memory:note:' || n.id from notes n join chats c on c.id = n.chat_id where n.section_id is null and n.created_at < ` + cutoffSQL +
	`
		and not exists (select from messages m where m.id = any (n.sources) and m.redacted_at is null) order by n.id limit @limit)`

const countNotesSQL = `select count(*)::int from notes n where 'memory:section:' || n.section_id = any ($1) or (n.section_id is null and 'memory:note:' || n.id = any ($1))`

const expireRestSQL = `with letters as (delete from outbox o using chats c where c.id = o.chat_id and o.created_at < ` + cutoffSQL +
	` and o.state <> 'queued'
		and not exists (select from outbox p where p.part_of = coalesce(o.part_of, o.id) and p.state = 'queued') returning o.content <> '{}' as full),
	tasks as (delete from tasks t using chats c where c.id = t.chat_id and t.created_at < ` + cutoffSQL + ` returning not t.forgotten as full),
	forgot as (delete from forgettings where done_at < @owner)
	select (select count(*) from letters where letters.full)::int, (select count(*) from tasks where tasks.full)::int`

// ExpireRest deletes up to limit captures and notes that are older than the cutoffs, with the outbox messages and tasks
// of that time. It is called after ExpireMessages. It returns zero counts when nothing is left.
func ExpireRest(ctx context.Context, tx Tx, c Cutoffs, limit int) (DeletionCounts, error) {
	var f DeletionCounts
	// The scope of all roles is safe here: the statements delete in all chats, but return no texts.
	if err := row.SetScopeSetting(ctx, tx, row.EveryScope); err != nil {
		return f, err
	}
	origins, err := row.Values[string](ctx, tx, "old notes", expiredNotesSQL, c.args(limit))
	if err != nil {
		return f, err
	}
	if len(origins) > 0 {
		if f.Notes, err = row.Value[int](ctx, tx, "old notes", countNotesSQL, origins); err != nil {
			return f, err
		}
		if f.Passages, err = deleteNoteDocuments(ctx, tx, origins); err != nil {
			return f, err
		}
	}
	if err := tx.QueryRow(ctx, expireRestSQL, c.args(limit)).Scan(&f.OutboxMessages, &f.Tasks); err != nil {
		return f, fmt.Errorf("delete what was said long ago: %w", err)
	}
	return f, nil
}
