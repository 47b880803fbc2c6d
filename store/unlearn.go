package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"multis/policy"
	"multis/store/index"
	"multis/store/row"
)

// SectionOrigin returns the origin of the document with the notes of a capture.
func SectionOrigin(section SectionID) string { return fmt.Sprintf("memory:section:%d", section) }

// NoteOrigin returns the origin of the document with a note that was written by hand.
func NoteOrigin(note NoteID) string { return fmt.Sprintf("memory:note:%d", note) }

// maxRecaptured limits how many messages back a chat is captured again.
const maxRecaptured = 60

// unlearnSQL finds the notes to delete. It deletes the commitments of the messages, removes the messages from the sources
// of other notes, and marks the chats to be captured again. The words of a note are from its capture, or from its first
// message if it was written by hand; later messages only repeat it. A note that replaced a deleted one quotes it and is
// deleted too.
const unlearnSQL = `with tainted as (
		select n.id, n.section_id from notes n left join note_sections s on s.id = n.section_id
		where n.id = any (@notes) or (n.sources && @messages::bigint[]
			and exists (select from unnest(n.sources) m where m = any (@messages) and m <= coalesce(s.last_message, n.sources[1])))
	), sections as (
		select section_id as id from tainted where section_id is not null
		union select q.section_id from tainted t join notes o on o.id = t.id join notes q on q.id = o.superseded_by where q.section_id is not null
	), going as (
		select n.id, n.chat_id, n.sources from notes n where n.id in (select id from tainted) or n.section_id in (select id from sections)
	), promised as (
		delete from commitments where message_id = any (@messages) or note_id in (select id from tainted) returning 1
	), vouched as (
		update notes set sources = (select coalesce(array_agg(m order by o), '{}') from unnest(sources) with ordinality u(m, o) where m <> all (@messages::bigint[]))
		where sources && @messages::bigint[] and id not in (select id from going)
	), again as (
		update chat_memory m set captured_to = f.first - 1, fresh = f.n, fresh_at = now() from (
			select g.chat_id, g.first, (select count(*) from messages m where m.chat_id = g.chat_id and m.id >= g.first and ` + countsForCaptureSQL +
	`) as n
			from (select chat_id, min(s) as first from going, unnest(sources) s group by 1) g
		) f where m.chat_id = f.chat_id and f.first <= m.captured_to and f.n <= @limit
	)
	select (select count(*) from going)::int, (select count(*) from promised)::int,
		array(select 'memory:section:' || id from sections union all select 'memory:note:' || id from tainted where section_id is null)`

// revalidateNotesSQL makes the notes valid again that a deleted note had replaced.
const revalidateNotesSQL = `update notes set valid_to = null, superseded_by = null
	where superseded_by in (select id from notes where section_id in (` + sectionsByOriginsSQL +
	`) or (section_id is null and 'memory:note:' || id = any (@origins)))`

const sectionsByOriginsSQL = `select s.id from note_sections s where 'memory:section:' || s.id = any (@origins)`

const deleteSectionsSQL = "delete from note_sections s where 'memory:section:' || s.id = any (@origins)"

const deleteNotesSQL = "delete from notes where section_id is null and 'memory:note:' || id = any (@origins)"

// derivedDeletions counts what was deleted because it was derived from messages: notes, the passages with them, and commitments.
type derivedDeletions struct {
	Notes       int
	Commitments int
	Origins     []string
	passages    int
}

// deleteDerivedNotes deletes the commitments and the notes that were learned from messages, the notes that are named, and
// all other notes of the same captures. The chats are captured again, so that what those captures took from other
// messages is not lost.
func deleteDerivedNotes(ctx context.Context, tx Tx, scope policy.Scope, messages []MessageID, notes []NoteID) (derivedDeletions, error) {
	var u derivedDeletions
	var before string
	if err := tx.QueryRow(ctx, "select coalesce(current_setting('multis.scope', true), '')").Scan(&before); err != nil {
		return u, fmt.Errorf("read scope: %w", err)
	}
	if err := row.SetScope(ctx, tx, scope); err != nil {
		return u, err
	}
	args := pgx.NamedArgs{"messages": messages, "notes": notes, "limit": maxRecaptured}
	if err := tx.QueryRow(ctx, unlearnSQL, args).Scan(&u.Notes, &u.Commitments, &u.Origins); err != nil {
		return u, fmt.Errorf("forget notes: %w", err)
	}
	if len(u.Origins) > 0 {
		var err error
		if u.passages, err = deleteNoteDocuments(ctx, tx, u.Origins); err != nil {
			return u, err
		}
	}
	return u, row.SetScopeSetting(ctx, tx, before)
}

// deleteNoteDocuments deletes captures and notes written by hand with their passages, and returns the number of passages.
func deleteNoteDocuments(ctx context.Context, tx Tx, origins []string) (int, error) {
	for _, sql := range []string{revalidateNotesSQL, deleteSectionsSQL, deleteNotesSQL} {
		if err := row.Exec(ctx, tx, "forget notes", sql, pgx.NamedArgs{"origins": origins}); err != nil {
			return 0, err
		}
	}
	passages, _, err := index.RemoveDocuments(ctx, tx, origins)
	return passages, err
}
