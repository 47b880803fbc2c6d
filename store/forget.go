package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/index"
	"multis/store/row"
)

// DeletionCounts counts the rows that were deleted or emptied.
type DeletionCounts struct {
	Messages       int `json:"messages,omitempty"`
	Files          int `json:"files,omitempty"` // kept files of messages
	Notes          int `json:"notes,omitempty"`
	Passages       int `json:"passages,omitempty"` // indexed passages of notes
	Commitments    int `json:"promises,omitempty"`
	Tasks          int `json:"tasks,omitempty"`   // with their steps
	OutboxMessages int `json:"letters,omitempty"` // sent by multis
	Escalations    int `json:"waits,omitempty"`   // deleted, or emptied because of a message
	Schedules      int `json:"reminders,omitempty"`
	Summaries      int `json:"summaries,omitempty"` // of conversations
	Entries        int `json:"entries,omitempty"`   // finished jobs, and dialogs
	Chats          int `json:"chats,omitempty"`     // that are empty now
	// Retract are the outbox messages to delete in the admin room, because they quote a message.
	Retract []uuid.UUID `json:"-"`
}

// Add returns the sum of f and more.
func (f DeletionCounts) Add(more DeletionCounts) DeletionCounts {
	f.Messages += more.Messages
	f.Files += more.Files
	f.Notes += more.Notes
	f.Passages += more.Passages
	f.Commitments += more.Commitments
	f.Tasks += more.Tasks
	f.OutboxMessages += more.OutboxMessages
	f.Escalations += more.Escalations
	f.Schedules += more.Schedules
	f.Summaries += more.Summaries
	f.Entries += more.Entries
	f.Chats += more.Chats
	f.Retract = slices.Concat(f.Retract, more.Retract)
	return f
}

// IsZero reports whether nothing was deleted.
func (f DeletionCounts) IsZero() bool {
	return f.Messages+f.Files+f.Notes+f.Passages+f.Commitments+f.Tasks+f.OutboxMessages+f.Escalations+f.Schedules+f.Summaries+f.Entries+
		f.Chats == 0
}

// DeletionSet names the rows to delete.
type DeletionSet struct {
	Messages       []MessageID  `json:"messages,omitempty"`
	Notes          []NoteID     `json:"notes,omitempty"`
	Tasks          []TaskID     `json:"tasks,omitempty"`
	OutboxMessages []uuid.UUID  `json:"letters,omitempty"`
	Schedules      []ScheduleID `json:"schedules,omitempty"`
	Jobs           []int64      `json:"jobs,omitempty"`      // that are over, or have an error
	Dialogs        []int64      `json:"questions,omitempty"` // questions to the owner
	Summaries      []ChatID     `json:"summaries,omitempty"` // the chats whose summaries are deleted
	// Chats are the chats of the notes, or those to delete completely. The chats of the messages need not be named.
	Chats []ChatID   `json:"chats,omitempty"`
	event id.EventID // an event of multis that was deleted in its room
	// Request is the message that names the topic; 0 if none does. It is deleted first, with what quotes it, and not counted.
	Request MessageID `json:"asked,omitempty"`
}

// The reasons that are stored with emptied messages.
const (
	deletedWhy   = "the message was deleted"
	forgottenWhy = "it was forgotten on your word"
)

// emptyMessagesSQL empties messages; deleteMessagesSQL deletes them.
const emptyMessagesSQL = `update messages set body = '', attachment = null, parked = null, redacted_at = @at, answered_at = coalesce(answered_at, @at),
		action = 'archive', code = 'redacted', reason = @why where id = any (@messages) and redacted_at is null returning id`

const deleteMessagesSQL = `delete from messages where id = any (@messages) returning id`

const removeMessagesSQL = `with deleted as (select id, chat_id, event_id from messages where id = any (@messages)),
	edits as (delete from messages e using deleted d where e.chat_id = d.chat_id and e.relates_to = d.event_id and e.code = 'edited'),
	files as (select count(*) as n from kept_files where message_id = any (@messages)),
	gone as (%s),
	waits as (update escalations set reason = @why, sources = '{}', proposals = '[]' where (message_id = any (@messages) or sources && @messages::bigint[]) and reason <> @why returning 1),
	asked as (delete from dialogs where message_id = any (@messages)),
	unanswered as (delete from unanswered_questions where message_ids && @messages::bigint[]),
	` + forgetTasksSQL + `
	select (select count(*) from gone)::int, (select n from files)::int, (select count(*) from waits)::int, (select count(*) from tasks_gone)::int`

const emptyOwnOutboxSQL = `with said as (update outbox o set content = '{}', citations = '[]', error = '', reason = ''
		where (o.content <> '{}' or o.error <> '') and (o.id = any (@outbox) or o.event_id in (select event_id from messages where id = any (@messages))) returning o.id, o.chat_id),
	files as (delete from outbox_files where outbox_id in (select id from said))
	select said.id, c.kind = 'admin' as admin from said join chats c on c.id = said.chat_id`

const emptyQuotingOutboxSQL = `with quotes as (update outbox o set content = '{}', citations = '[]', reason = ''
		where o.quotes && @messages::bigint[] and o.quotes <> '{}' and o.content <> '{}' returning o.id),
	files as (delete from outbox_files where outbox_id in (select id from quotes))
	select id from quotes`

// emptyRestingOutboxSQL empties the outbox messages that may hold words of the messages, quoted or not. They stay in
// their rooms. With @spared, those that are still queued are sent first, and emptied by markSentSQL.
const emptyRestingOutboxSQL = `with resting as (update outbox o set content = '{}', citations = '[]', reason = ''
		where o.sources && (@messages::bigint[] || array(select message_id from tasks where id = any (@tasks) and message_id is not null))
			and o.sources <> '{}' and o.content <> '{}' and (o.state <> 'queued' or not @spared) returning o.id),
	files as (delete from outbox_files where outbox_id in (select id from resting))
	select count(*)::int from resting`

const deleteSchedulesSQL = "delete from schedules where id = any ($1) and created_by <> ''"

const deleteSummariesSQL = "with gone as (delete from chat_summaries where sources && $1 or chat_id = any ($2) returning 1) select count(*)::int from gone"

const deleteDialogsSQL = "delete from dialogs where id = any ($1)"

// deleteJobsSQL deletes jobs that are over. A job that is not over only loses its errors.
const deleteJobsSQL = `with waiting as (update river.river_job set errors = null where id = any ($1) and finalized_at is null returning id),
	over as (delete from river.river_job where id = any ($1) and finalized_at is not null returning id)
	select id from waiting union all select id from over`

// clearJobErrorsSQL deletes the errors of jobs, which may quote what a job worked on. Jobs of other contacts' chats keep theirs.
const clearJobErrorsSQL = `update river.river_job j set errors = null where j.errors is not null and not exists (
	select from chats c where c.kind <> 'admin' and c.id <> all (@chats) and c.id not in (select chat_id from messages where id = any (@messages))
		and c.id = coalesce((j.args->>'chat')::bigint, (select chat_id from messages where id = (j.args->>'message')::bigint),
			(select chat_id from tasks where id = (j.args->>'task')::bigint), (select chat_id from outbox where id = (j.args->>'outbox')::uuid)))`

const chatsOfMessagesSQL = `select c.id, c.kind from chats c where c.id in (select chat_id from messages where id = any ($1)) or c.id = any ($2) order by c.id`

// Forget empties the messages of d and deletes its other rows, the notes and commitments that came from them, and the
// outbox texts that quote them. The rows of messages stay, empty, so that the same events cannot come back.
func Forget(ctx context.Context, tx Tx, d DeletionSet, at time.Time) (DeletionCounts, error) {
	emptied, err := row.All[struct {
		ID    uuid.UUID
		Admin bool
	}](ctx, tx, "outbox messages", emptyOwnOutboxSQL, pgx.NamedArgs{"outbox": d.OutboxMessages, "messages": row.EmptyIfNil(d.Messages)})
	if err != nil {
		return DeletionCounts{}, err
	}
	f, err := forget(ctx, tx, d, removal{emptyMessagesSQL, forgottenWhy, at})
	if err != nil {
		return f, err
	}
	f.OutboxMessages += len(emptied)
	for _, l := range emptied {
		if l.Admin { // a message in a contact's chat stays: deleting it would show the contact that something was deleted
			f.Retract = append(f.Retract, l.ID)
		}
	}
	for _, drop := range []struct {
		sql   string
		ids   any
		count *int
	}{
		{deleteJobsSQL, row.EmptyIfNil(d.Jobs), &f.Entries},
		{deleteDialogsSQL, row.EmptyIfNil(d.Dialogs), &f.Entries},
		{deleteSchedulesSQL, row.EmptyIfNil(d.Schedules), &f.Schedules},
	} {
		tag, err := tx.Exec(ctx, drop.sql, drop.ids)
		if err != nil {
			return f, fmt.Errorf("forget what else there is: %w", err)
		}
		*drop.count += int(tag.RowsAffected())
	}
	return f, nil
}

// removal holds how messages are removed, the reason that is stored with them, and the time.
type removal struct {
	sql string
	why string
	at  time.Time
}

// forget is Forget without d's outbox messages, schedules, jobs and dialogs.
func forget(ctx context.Context, tx Tx, d DeletionSet, e removal) (DeletionCounts, error) {
	var f DeletionCounts
	messages := row.EmptyIfNil(d.Messages)
	answering, err := row.Values[TaskID](ctx, tx, "tasks that came to what is deleted", answeringSQL, messages, d.event)
	if err != nil {
		return f, err
	}
	d.Tasks = unique(slices.Concat(d.Tasks, answering))
	scope, err := deletionScope(ctx, tx, d)
	if err != nil {
		return f, err
	}
	if err := row.Exec(ctx, tx, "forget what jobs failed with", clearJobErrorsSQL,
		pgx.NamedArgs{"messages": messages, "chats": row.EmptyIfNil(d.Chats)}); err != nil {
		return f, err
	}
	if f.Summaries, err = row.Value[int](ctx, tx, "summaries", deleteSummariesSQL, messages, row.EmptyIfNil(d.Summaries)); err != nil {
		return f, err
	}
	if err := index.RemoveMessages(ctx, tx, messages); err != nil {
		return f, err
	}
	var learned derivedDeletions
	steps := []func() error{
		func() error {
			args := pgx.NamedArgs{"messages": messages, "tasks": row.EmptyIfNil(d.Tasks), "at": e.at, "why": e.why}
			err := tx.QueryRow(ctx, fmt.Sprintf(removeMessagesSQL, e.sql), args).Scan(&f.Messages, &f.Files, &f.Escalations, &f.Tasks)
			if err != nil {
				return fmt.Errorf("forget messages: %w", err)
			}
			return nil
		},
		func() (err error) {
			learned, err = deleteDerivedNotes(ctx, tx, scope, messages, row.EmptyIfNil(d.Notes))
			return err
		},
	}
	if e.sql == deleteMessagesSQL {
		// deleting a message deletes its commitments, so these are counted before; an emptied message must be empty before its
		// chat is captured again
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return f, err
		}
	}
	f.Notes = learned.Notes
	f.Commitments = learned.Commitments
	f.Passages = learned.passages
	f.Retract, err = row.Values[uuid.UUID](ctx, tx, "quotes", emptyQuotingOutboxSQL, pgx.NamedArgs{"messages": messages})
	if err != nil {
		return f, err
	}
	resting, err := row.Value[int](ctx, tx, "what rests on messages", emptyRestingOutboxSQL,
		pgx.NamedArgs{"messages": messages, "tasks": row.EmptyIfNil(d.Tasks), "spared": e.sql == emptyMessagesSQL})
	f.OutboxMessages = len(f.Retract) + resting
	return f, err
}

// deletionScope returns the scope in which d can be deleted: the roles of its chats, and the owner's role if d concerns
// the admin room or no chat.
func deletionScope(ctx context.Context, db DB, d DeletionSet) (policy.Scope, error) {
	type in struct {
		ID   ChatID
		Kind policy.Kind
	}
	chats, err := row.All[in](ctx, db, "chats", chatsOfMessagesSQL, row.EmptyIfNil(d.Messages), row.EmptyIfNil(d.Chats))
	if err != nil {
		return policy.Scope{}, err
	}
	var ids []ChatID
	owners := len(chats) == 0
	for _, c := range chats {
		if c.Kind == policy.KindAdmin {
			owners = true
			continue
		}
		ids = append(ids, c.ID)
	}
	if owners {
		return policy.OwnerScope(ids...), nil
	}
	return policy.ContactScope(ids...), nil
}

// answeringSQL finds the tasks whose answers are among the messages, and later tasks that read such an answer together with its question.
const answeringSQL = `with said as materialized (select o.* from outbox o where o.event_id in (select event_id from messages where id = any ($1) union all select $2)),
	answering as (select t.id, t.message_id from said o join tasks t on t.id = o.task_id
		union select t.id, t.message_id from said o join messages m on m.chat_id = o.chat_id and m.outbox_id = coalesce(o.part_of, o.id) join tasks t on t.message_id = m.id)
	select id from answering union select l.id from answering a join tasks l on l.sources @> array[a.message_id] and l.id > a.id`

const messageOfEventSQL = "select id from messages where chat_id = $1 and event_id = $2 and redacted_at is null"

// emptyEventSQL empties an outbox message that was deleted in its room, and deletes edits that wait for a message that will not come.
const emptyEventSQL = `with edits as (delete from messages where chat_id = $1 and relates_to = $2 and code = 'edited')
	update outbox set content = '{}', citations = '[]', reason = '' where chat_id = $1 and event_id = $2 and content <> '{}'`

// RedactMessage empties a message that was deleted in its room, with the tasks that read it, the outbox messages that quote it, and the
// notes that were learned from it. If it waited for an answer, it gets none. It returns the outbox messages to delete from their rooms.
func RedactMessage(ctx context.Context, tx Tx, chat ChatID, event id.EventID, at time.Time) ([]uuid.UUID, error) {
	if err := row.Exec(ctx, tx, "empty what was deleted", emptyEventSQL, chat, event); err != nil {
		return nil, err
	}
	d := DeletionSet{event: event}
	message, err := row.Value[MessageID](ctx, tx, "deleted message", messageOfEventSQL, chat, event)
	switch {
	case err == nil:
		d.Messages = []MessageID{message}
		if err := row.Exec(ctx, tx, "take an approval back", withdrawApprovalSQL, message, withdrawnReason); err != nil {
			return nil, err
		}
		if err := row.Exec(ctx, tx, "delete the schedules of a message", deleteSchedulesOfSQL, message); err != nil {
			return nil, err
		}
	case !errors.Is(err, ErrNotFound):
		return nil, err
	}
	f, err := forget(ctx, tx, d, removal{emptyMessagesSQL, deletedWhy, at})
	return f.Retract, err
}
