package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

// ForgetKind is what a forgetting deletes.
type ForgetKind string

// The kinds of forgettings.
const (
	ForgetSome  ForgetKind = "some"  // the rows of Remaining
	ForgetChats ForgetKind = "chats" // the content of chats from before the command
	ForgetErase ForgetKind = "erase" // contacts: their chats, and what they wrote in others
)

// Forgetting is a deletion that the owner asked for, and its progress. It names rows and holds none of their texts.
type Forgetting struct {
	ID        ForgettingID
	Kind      ForgetKind
	Remaining DeletionSet // what is still to be deleted
	Command   MessageID   // the message that asked for it
	Counts    DeletionCounts
	CreatedAt time.Time
	DoneAt    *time.Time
}

const insertForgettingSQL = "insert into forgettings (kind, remaining, command) values ($1, $2, $3) returning id"

// InsertForgetting stores a forgetting and returns its id.
func InsertForgetting(ctx context.Context, tx Tx, f Forgetting) (ForgettingID, error) {
	return row.Value[ForgettingID](ctx, tx, "new forgetting", insertForgettingSQL, f.Kind, f.Remaining, f.Command)
}

const lockForgettingSQL = "select id, kind, remaining, command, counts, created_at, done_at from forgettings where id = $1 for update"

// LockForgetting returns a forgetting, locked until the end of the transaction.
func LockForgetting(ctx context.Context, tx Tx, forgetting ForgettingID) (Forgetting, error) {
	return row.One[Forgetting](ctx, tx, "forgetting", lockForgettingSQL, forgetting)
}

const updateForgettingSQL = "update forgettings set remaining = $2, counts = $3, done_at = $4 where id = $1"

// UpdateForgetting stores the progress of a forgetting.
func UpdateForgetting(ctx context.Context, tx Tx, f Forgetting) error {
	return row.Exec(ctx, tx, "note how far a forgetting is", updateForgettingSQL, f.ID, f.Remaining, f.Counts, f.DoneAt)
}

// forgetSamplesSQL samples what the planner needs: words and names. Columns with texts are not sampled at all.
const forgetSamplesSQL = "analyze chats, messages, message_index, message_terms, documents, chunks, chunk_index, term_stats, river.river_job"

// ResamplePlanner updates the planner's statistics, so that they contain no sample of deleted text. Statistics of an empty table are kept.
func ResamplePlanner(ctx context.Context, tx Tx) error {
	return row.Exec(ctx, tx, "forget samples", forgetSamplesSQL)
}

// Topic is what to search for: all of Words as they are spelled, or Text with its words in any form.
type Topic struct {
	Words []string
	Text  string // as search.IndexText makes it
}

// TopicRows are the rows that mention a topic.
type TopicRows struct {
	Rows DeletionSet
	// Documents are the names of documents and watched pages that mention it. They are not deleted.
	Documents []string
}

const (
	messagesOnTopicSQL = `select m.id from messages m where concat_ws(' ', m.body, m.attachment->>'name') ~ all (@like) and m.redacted_at is null
		union select i.id from message_configs c, plainto_tsquery(c.config::regconfig, @text) q, message_index i where c.role = '*' and i.config = c.config and i.tsv @@ q
		union select message_id from commitments where what || ' ' || who || ' ' || whom ~ all (@like)
		union select e.message_id from escalations e where e.reason ~ all (@like)
		order by 1 desc limit @limit`

	notesOnTopicSQL = `select n.id, n.chat_id, n.sources from notes n where n.body || ' ' || n.was || ' ' || n.subject ~ all (@like) order by n.id desc limit @limit`

	tasksOnTopicSQL = `select t.id from tasks t where not t.forgotten and (concat_ws(' ', t.input, t.request, t.answer, t.error) ~ all (@like)
			or exists (select from task_steps s where s.task_id = t.id and concat_ws(' ', s.arguments, s.text, s.for_user, s.calls, s.passages, s.ref, s.end_reason) ~ all (@like)))
		order by 1 desc limit @limit`

	outboxOnTopicSQL = `select o.id from outbox o where concat_ws(' ', o.content, o.citations, o.error) ~ all (@like) order by o.seq desc limit @limit`

	schedulesOnTopicSQL = `select s.id from schedules s where s.created_by <> '' and (s.body ~ all (@like)
		or exists (select from schedule_executions r where r.schedule_id = s.id and r.note ~ all (@like))) order by 1 desc limit @limit`

	jobsOnTopicSQL = `select j.id from river.river_job j where concat_ws(' ', case when j.finalized_at is not null then j.args end,
		case when j.finalized_at is not null then j.metadata end, array_to_string(j.errors, ' ')) ~ all (@like) limit @limit`

	questionsOnTopicSQL = `select d.id from dialogs d where d.payload::text ~ all (@like) limit @limit`

	summariesOnTopicSQL = `select s.chat_id from chat_summaries s where s.body ~ all (@like) limit @limit`

	documentsOnTopicSQL = `select distinct d.name from documents d join chunks c on c.doc_id = d.id where d.kind = 'kb' and (c.content ~ all (@like) or d.name ~ all (@like))
		union select w.name from watches w where concat_ws(' ', w.name, w.seen) ~ all (@like) order by 1 limit 20`
)

// FindTopic finds the rows of all chats that mention a topic, at most limit of each kind. It is for the owner only.
func (s *Store) FindTopic(ctx context.Context, topic Topic, limit int) (TopicRows, error) {
	var h TopicRows
	if len(topic.Words) == 0 {
		return h, nil
	}
	like := make([]string, len(topic.Words))
	for i, w := range topic.Words {
		like[i] = caseInsensitivePattern(w)
	}
	args := pgx.NamedArgs{"like": like, "text": topic.Text, "limit": limit}
	err := s.ReadAll(ctx, func(tx Tx) (err error) {
		d := &h.Rows
		err = cmp.Or(
			findRows(ctx, tx, &d.Messages, messagesOnTopicSQL, args), findRows(ctx, tx, &d.Tasks, tasksOnTopicSQL, args),
			findRows(ctx, tx, &d.Schedules, schedulesOnTopicSQL, args), findRows(ctx, tx, &d.Jobs, jobsOnTopicSQL, args),
			findRows(ctx, tx, &d.Dialogs, questionsOnTopicSQL, args), findRows(ctx, tx, &d.Summaries, summariesOnTopicSQL, args),
			findRows(ctx, tx, &d.OutboxMessages, outboxOnTopicSQL, args), findRows(ctx, tx, &h.Documents, documentsOnTopicSQL, args),
		)
		if err != nil {
			return err
		}
		notes, err := row.All[sourcedNote](ctx, tx, "notes about a topic", notesOnTopicSQL, args)
		d.addNotes(notes)
		return err
	})
	return h, err
}

// findRows sets ids to the ids, or names, of the rows that mention a topic.
func findRows[ID any](ctx context.Context, tx Tx, ids *[]ID, sql string, args pgx.NamedArgs) (err error) {
	*ids, err = row.Values[ID](ctx, tx, "what is about a topic", sql, args)
	return err
}

// sourcedNote is a note with the chat and the messages that it was learned from.
type sourcedNote struct {
	ID      NoteID
	ChatID  ChatID
	Sources []MessageID
}

// caseInsensitivePattern returns a regular expression that matches a text in small or capital letters of any language.
// Most databases know only the English ones.
func caseInsensitivePattern(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch small, capital := unicode.ToLower(r), unicode.ToUpper(r); {
		case small != capital:
			b.WriteString("[" + string(small) + string(capital) + "]")
		case r < unicode.MaxASCII && !unicode.IsDigit(r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// addNotes adds notes with the messages that they were learned from, so that they are not learned again.
func (d *DeletionSet) addNotes(notes []sourcedNote) {
	for _, n := range notes {
		d.Notes, d.Chats = append(d.Notes, n.ID), append(d.Chats, n.ChatID)
		d.Messages = append(d.Messages, n.Sources...)
	}
	d.Messages, d.Chats = unique(d.Messages), unique(d.Chats)
}

// findNoteSQL also finds the former wordings of a note, which have its capture and its sources.
const findNoteSQL = `with recursive versions as (select id, chat_id, sources, section_id from notes where id = $1
		union select o.id, o.chat_id, o.sources, o.section_id from notes o join versions v on o.superseded_by = v.id
			and o.section_id is not distinct from v.section_id and o.sources = v.sources)
	select id, chat_id, sources from versions order by id = $1 desc, id`

// FindNote returns one note, as it is and was worded, with the messages that it was learned from; or ErrNotFound.
func (s *Store) FindNote(ctx context.Context, note NoteID) (DeletionSet, error) {
	var d DeletionSet
	err := s.ReadAll(ctx, func(tx Tx) error {
		versions, err := row.All[sourcedNote](ctx, tx, "note", findNoteSQL, note)
		if err == nil && len(versions) == 0 {
			return ErrNotFound
		}
		d.addNotes(versions)
		return err
	})
	return d, err
}

const messagesToDeleteSQL = "select id from messages where chat_id = $1 and id <= $2 order by id limit $3 for update"

const restOfChatSQL = `with promises as (delete from commitments where chat_id = @chat and created_at <= @at returning 1),
	tasks as (delete from tasks where chat_id = @chat and created_at <= @at returning forgotten),
	letters as (update outbox set content = '{}', citations = '[]', error = '', reason = '' where chat_id = @chat and created_at < @at and content <> '{}' returning id),
	files as (delete from outbox_files where outbox_id in (select id from letters)),
	asked as (delete from dialogs where chat_id = @chat and created_at <= @at),
	waits as (delete from escalations where chat_id = @chat and opened_at <= @at),
	holds as (delete from model_holds where @erase and (chat_id = @chat or sender in (select contact from chats where id = @chat and contact <> ''))),
	reminders as (delete from schedules where @erase and chat_id = @chat and created_by <> '' returning 1),
	summaries as (delete from chat_summaries where chat_id = @chat and created_at <= @at returning 1),
	memory as (delete from chat_memory m where chat_id = @chat and not exists (select from messages x where x.chat_id = @chat and x.id > @until))
	select (select count(*) from promises)::int, (select count(*) from tasks where not forgotten)::int, (select count(*) from letters)::int, (select count(*) from reminders)::int, (select count(*) from summaries)::int`

const notesOfChatSQL = "select n.id from notes n where n.chat_id = $1 and n.created_at <= $2"

const sectionsOfChatSQL = "select 'memory:section:' || s.id from note_sections s where s.chat_id = $1 and s.created_at <= $2"

// ForgetChatStep deletes up to limit messages of a chat. When none is left, it deletes everything else of the chat, and more is false.
func ForgetChatStep(ctx context.Context, tx Tx, f Forgetting, chat Chat, limit int) (gone DeletionCounts, more bool, err error) {
	until, at := f.Command, f.CreatedAt
	if f.Kind == ForgetErase { // also what arrived while the chat was being turned off
		until, at = math.MaxInt64, at.AddDate(100, 0, 0)
	}
	messages, err := row.Values[MessageID](ctx, tx, "messages to forget", messagesToDeleteSQL, chat.ID, until, limit)
	if err != nil {
		return gone, false, err
	}
	if len(messages) > 0 {
		gone, err = forget(ctx, tx, DeletionSet{Messages: messages}, removal{deleteMessagesSQL, forgottenWhy, f.CreatedAt})
		return gone, true, err
	}
	scope := policy.ContactScope(chat.ID)
	if chat.Kind == policy.KindAdmin {
		scope = policy.OwnerScope()
	}
	if err := row.SetScope(ctx, tx, scope); err != nil {
		return gone, false, err
	}
	notes, err := row.Values[NoteID](ctx, tx, "notes to forget", notesOfChatSQL, chat.ID, at)
	if err != nil {
		return gone, false, err
	}
	learned, err := deleteDerivedNotes(ctx, tx, scope, []MessageID{}, row.EmptyIfNil(notes))
	if err != nil {
		return gone, false, err
	}
	gone.Notes = learned.Notes
	gone.Commitments = learned.Commitments
	gone.Passages = learned.passages
	gone.Chats = 1
	origins, err := row.Values[string](ctx, tx, "captures to forget", sectionsOfChatSQL, chat.ID, at)
	if err != nil {
		return gone, false, err
	}
	passages, err := deleteNoteDocuments(ctx, tx, origins)
	if err != nil {
		return gone, false, err
	}
	gone.Passages += passages
	var promises int
	err = tx.QueryRow(ctx, restOfChatSQL, pgx.NamedArgs{"chat": chat.ID, "at": at, "until": until, "erase": f.Kind == ForgetErase}).
		Scan(&promises, &gone.Tasks, &gone.OutboxMessages, &gone.Schedules, &gone.Summaries)
	if err != nil {
		return gone, false, fmt.Errorf("forget a chat: %w", err)
	}
	gone.Commitments += promises
	return gone, false, nil
}

func unique[ID comparable](ids []ID) []ID {
	seen := make(map[ID]bool, len(ids))
	var out []ID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

const messageByEventInAnyChatSQL = "select " + messageColumns + " from messages m where m.event_id = $1"

// MessageByEventInAnyChat returns the message of an event, in whichever chat it is, or ErrNotFound.
func MessageByEventInAnyChat(ctx context.Context, db DB, event id.EventID) (Message, error) {
	return oneMessage(ctx, db, messageByEventInAnyChatSQL, event)
}

const allChatsSQL = "select id from chats order by kind = 'admin', id"

// AllChats returns the ids of all chats, the admin room last.
func AllChats(ctx context.Context, db DB) ([]ChatID, error) {
	return row.Values[ChatID](ctx, db, "chats", allChatsSQL)
}
