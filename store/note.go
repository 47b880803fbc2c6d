package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

// NoteKind is what a note holds.
type NoteKind string

// The kinds of notes.
const (
	NoteDecision   NoteKind = "decision"
	NoteAction     NoteKind = "action"
	NotePreference NoteKind = "preference"
	NoteFact       NoteKind = "fact"
	NoteTone       NoteKind = "tone"
	NoteByHand     NoteKind = "note" // written by hand
)

// Valid reports whether k is one of the kinds.
func (k NoteKind) Valid() bool {
	switch k {
	case NoteDecision, NoteAction, NotePreference, NoteFact, NoteTone, NoteByHand:
		return true
	default:
		return false
	}
}

// Note is a fact that was learned from a chat, or that the owner wrote down.
type Note struct {
	ID      NoteID
	Role    policy.Role
	ChatID  ChatID
	Section *SectionID `db:"section_id"` // the capture; nil for a note written by hand
	Kind    NoteKind
	Subject string // folded; empty if it cannot change
	Body    string
	Was     string      // the former text, which Body replaced
	Sources []MessageID // the messages it was learned from
	// ValidFrom and ValidTo are when it was true. A nil ValidTo means that it still is.
	ValidFrom    time.Time
	ValidTo      *time.Time
	SupersededBy *NoteID
	PrunedAt     *time.Time
	CreatedAt    time.Time // when it was learned
}

const noteColumns = `n.id, n.role, n.chat_id, n.section_id, n.kind, n.subject, n.body, n.was, n.sources, n.valid_from, n.valid_to, n.superseded_by,
	n.pruned_at, n.created_at`

const currentNotesSQL = "select " + noteColumns + ` from notes n where n.role = any ($1) and n.valid_to is null and n.pruned_at is null
	order by n.valid_from desc, n.id desc limit $2`

// CurrentNotes returns the notes in scope that are still valid and not pruned, the newest first.
func CurrentNotes(ctx context.Context, db DB, scope policy.Scope, limit int) ([]Note, error) {
	return row.All[Note](ctx, db, "notes", currentNotesSQL, scope.Roles(), limit)
}

const notesOfRoleSQL = "select " + noteColumns +
	` from notes n where n.role = $1 and n.valid_to is null order by n.valid_from desc, n.id desc limit $2`

// NotesOfRole returns the notes of a role that are still valid, including pruned ones, the newest first.
func NotesOfRole(ctx context.Context, tx Tx, role policy.Role, limit int) ([]Note, error) {
	return row.All[Note](ctx, tx, "notes", notesOfRoleSQL, role, limit)
}

const chatOfSectionSQL = "select chat_id from note_sections where id = $1"

// ChatOfSection returns the chat of a capture, or ErrNotFound.
func ChatOfSection(ctx context.Context, db DB, section SectionID) (ChatID, error) {
	return row.Value[ChatID](ctx, db, "chat of a section", chatOfSectionSQL, section)
}

const notesOfSectionSQL = "select " + noteColumns + " from notes n where n.section_id = $1 order by n.id"

// NotesOfSection returns the notes of a capture.
func NotesOfSection(ctx context.Context, tx Tx, section SectionID) ([]Note, error) {
	return row.All[Note](ctx, tx, "notes", notesOfSectionSQL, section)
}

const insertNoteSQL = `insert into notes (role, chat_id, section_id, kind, subject, body, was, sources, valid_from, valid_to, superseded_by)
	values (@role, @chat, @section, @kind, @subject, @body, @was, @sources, @from, @to, @by) returning id`

// InsertNote stores a note and returns its id.
func InsertNote(ctx context.Context, tx Tx, n Note) (NoteID, error) {
	if n.Sources == nil {
		n.Sources = []MessageID{}
	}
	return row.Value[NoteID](ctx, tx, "new note", insertNoteSQL, pgx.NamedArgs{
		"role": n.Role, "chat": n.ChatID, "section": n.Section, "kind": n.Kind, "subject": text.Storable(n.Subject),
		"body": text.Storable(n.Body), "was": text.Storable(n.Was),
		"sources": n.Sources, "from": n.ValidFrom, "to": n.ValidTo, "by": n.SupersededBy,
	})
}

const supersedeNoteSQL = "update notes set valid_to = $2, superseded_by = $3 where id = $1 and valid_to is null"

// SupersedeNote ends the validity of a note that a newer one replaces.
func SupersedeNote(ctx context.Context, tx Tx, old NoteID, at time.Time, by NoteID) error {
	return row.Exec(ctx, tx, "supersede note", supersedeNoteSQL, old, at, by)
}

const lockNoteSQL = "select " + noteColumns + " from notes n where n.id = $1 and n.role = $2 and n.valid_to is null for update"

// LockNote returns a note of a role that is still valid, locked until the end of the transaction; or ErrNotFound.
func LockNote(ctx context.Context, tx Tx, role policy.Role, note NoteID) (Note, error) {
	return row.One[Note](ctx, tx, "note", lockNoteSQL, note, role)
}

const formerNotesSQL = "select " + noteColumns + ` from notes n where n.role = $1 and n.superseded_by is not null and n.valid_to > $2
	order by n.valid_to desc, n.id desc`

// FormerNotes returns the notes of a role that were replaced since a time, by the notes that replaced them. If a note
// replaced several, it is the newest of them.
func FormerNotes(ctx context.Context, tx Tx, role policy.Role, since time.Time) (map[NoteID]Note, error) {
	list, err := row.All[Note](ctx, tx, "former notes", formerNotesSQL, role, since)
	former := map[NoteID]Note{}
	for _, n := range list {
		if _, found := former[*n.SupersededBy]; !found {
			former[*n.SupersededBy] = n
		}
	}
	return former, err
}

const restoreNoteSQL = "update notes set valid_to = null, superseded_by = null where id = $1"

// RestoreNote makes a note valid again that was replaced.
func RestoreNote(ctx context.Context, tx Tx, note NoteID) error {
	return row.Exec(ctx, tx, "restore note", restoreNoteSQL, note)
}

const mergeNoteSQL = `update notes set sources = (select array_agg(distinct s order by s) from unnest(sources || $2::bigint[]) s), pruned_at = null where id = $1`

// MergeNote adds messages to the sources of a note, because they say the same.
func MergeNote(ctx context.Context, tx Tx, note NoteID, sources []MessageID) error {
	return row.Exec(ctx, tx, "merge note", mergeNoteSQL, note, sources)
}

const insertSectionSQL = `insert into note_sections (chat_id, role, last_message) values ($1, $2, $3)
	on conflict (chat_id, last_message) do update set role = excluded.role returning id`

// InsertSection stores a capture and returns its id. A chat that is captured again up to the same message keeps the id.
func InsertSection(ctx context.Context, tx Tx, chat ChatID, role policy.Role, lastMessage MessageID) (SectionID, error) {
	return row.Value[SectionID](ctx, tx, "new section", insertSectionSQL, chat, role, lastMessage)
}

const pruneNotesSQL = `update notes set pruned_at = now() where role = $1 and pruned_at is null
	and section_id in (select id from note_sections where role = $1 order by id desc offset $2)`

// PruneNotes takes the notes of all but the newest captures out of the prompts. They can still be found.
func PruneNotes(ctx context.Context, tx Tx, role policy.Role, keep int) error {
	return row.Exec(ctx, tx, "prune notes", pruneNotesSQL, role, keep)
}

const messagesBehindSQL = `select d.id as document, m as message from documents d join notes n on n.section_id = substring(d.origin from '^memory:section:(\d+)$')::bigint, unnest(n.sources) m where d.id = any ($1)
	union select d.id, m from documents d join notes n on n.section_id is null and n.id = substring(d.origin from '^memory:note:(\d+)$')::bigint, unnest(n.sources) m where d.id = any ($1)`

// MessagesBehind returns the messages that the notes in documents were learned from, by document.
func MessagesBehind(ctx context.Context, tx Tx, docs []DocumentID) (map[DocumentID][]MessageID, error) {
	rows, err := row.All[struct {
		Document DocumentID
		Message  MessageID
	}](ctx, tx, "sources of notes", messagesBehindSQL, docs)
	behind := make(map[DocumentID][]MessageID)
	for _, r := range rows {
		behind[r.Document] = append(behind[r.Document], r.Message)
	}
	return behind, err
}
