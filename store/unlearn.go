package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// SectionOrigin is the name of the document that holds what a capture wrote.
func SectionOrigin(section int64) string { return fmt.Sprintf("memory:section:%d", section) }

// NoteOrigin is the name of the document that holds a note written by hand.
func NoteOrigin(note int64) string { return fmt.Sprintf("memory:note:%d", note) }

// relearned is how many messages a capture looks at: a chat is captured anew from no further back.
const relearned = 60

const learnedFromSQL = `select m.id, c.kind from messages m join chats c on c.id = m.chat_id where m.chat_id = $1 and m.event_id = $2`

// A note's words are those of its capture, or of the first message of one written by hand; what was said again later only
// vouches for it. A note that took the place of a tainted one quotes it.
const unlearnSQL = `with tainted as (
		select n.id, n.section_id from notes n left join note_sections s on s.id = n.section_id
		where @message = any (n.sources) and @message <= coalesce(s.last_message, n.sources[1])
	), sections as (
		select section_id as id from tainted where section_id is not null
		union select q.section_id from tainted t join notes o on o.id = t.id join notes q on q.id = o.superseded_by where q.section_id is not null
	), going as (
		select n.id, n.sources from notes n where n.id in (select id from tainted) or n.section_id in (select id from sections)
	), promised as (
		delete from commitments where message_id = @message or note_id in (select id from tainted)
	), vouched as (
		update notes set sources = array_remove(sources, @message) where @message = any (sources) and id not in (select id from going)
	), again as (
		update chat_memory m set captured_to = f.first - 1, fresh = f.n, fresh_at = now() from (
			select g.first, (select count(*) from messages m where m.chat_id = @chat and m.id >= g.first and ` + saidSQL + `) as n
			from (select min(s) as first from going, unnest(sources) s) g where g.first is not null
		) f where m.chat_id = @chat and f.first <= m.captured_to and f.n <= @limit
	)
	select 'memory:section:' || id from sections union all select 'memory:note:' || id from tainted where section_id is null`

// A note holds again when what took its place is gone.
const holdsAgainSQL = `update notes set valid_to = null, superseded_by = null
	where superseded_by in (select id from notes where @message = any (sources) or section_id in (` + goneSectionsSQL + `))`

const goneSectionsSQL = `select s.id from note_sections s where 'memory:section:' || s.id = any (@origins)`

const dropSectionsSQL = "delete from note_sections s where 'memory:section:' || s.id = any (@origins)"

const dropNotesSQL = "delete from notes where section_id is null and 'memory:note:' || id = any (@origins)"

// unlearn removes what was learned from a message: the notes of its capture with their passages, the promises, and what quotes
// them. What else that capture found is found anew from the messages that are left.
func unlearn(ctx context.Context, tx Tx, chat int64, event id.EventID) error {
	var message int64
	var kind policy.Kind
	err := tx.QueryRow(ctx, learnedFromSQL, chat, event).Scan(&message, &kind)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for what a message taught: %w", err)
	}
	scope := policy.ContactScope(chat)
	if kind == policy.KindAdmin {
		scope = policy.OwnerScope()
	}
	var before string
	if err := tx.QueryRow(ctx, "select coalesce(current_setting('multis.scope', true), '')").Scan(&before); err != nil {
		return fmt.Errorf("read scope: %w", err)
	}
	if err := SetScope(ctx, tx, scope); err != nil {
		return err
	}
	origins, err := scalars[string](ctx, tx, "forget notes", unlearnSQL, pgx.NamedArgs{"message": message, "chat": chat, "limit": relearned})
	if err != nil {
		return err
	}
	if len(origins) > 0 {
		if err := dropLearned(ctx, tx, message, origins); err != nil {
			return err
		}
	}
	return exec(ctx, tx, "set scope", "select set_config('multis.scope', $1, true)", before)
}

func dropLearned(ctx context.Context, tx Tx, message int64, origins []string) error {
	args := pgx.NamedArgs{"message": message, "origins": origins}
	for _, sql := range []string{holdsAgainSQL, dropSectionsSQL, dropNotesSQL} {
		if err := exec(ctx, tx, "forget notes", sql, args); err != nil {
			return err
		}
	}
	for _, origin := range origins {
		if err := RemoveDocument(ctx, tx, origin); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}
