package store

import (
	"context"
	"time"

	"multis/policy"
	"multis/store/row"
)

const messagesOfChatSQL = "select " + messageColumns + ` from messages m where m.chat_id = $1 and m.ts >= $2 and (m.ts, m.id) > ($3, $4)
	and m.redacted_at is null and m.body <> '' and m.kind <> 'reaction' order by m.ts, m.id limit $5`

// MessagesOfChat returns the messages of a chat since a time, the oldest first: limit messages after another one. The
// zero message means from the start.
func MessagesOfChat(ctx context.Context, db DB, chat ChatID, since time.Time, after Message, limit int) ([]Message, error) {
	return collectMessages(ctx, db, messagesOfChatSQL, chat, since, after.At, after.ID, limit)
}

// Section is the valid notes of one capture. Without an id it is a note that was written by hand.
type Section struct {
	ID    *SectionID
	At    time.Time
	Notes []Note
}

const sectionsSQL = "select " + noteColumns +
	` from notes n left join note_sections s on s.id = n.section_id where n.role = $1 and n.valid_to is null
	order by coalesce(s.created_at, n.created_at), n.section_id nulls last, n.id`

// Sections returns the valid notes of a role by capture, the oldest first.
func Sections(ctx context.Context, tx Tx, role policy.Role) ([]Section, error) {
	notes, err := row.All[Note](ctx, tx, "notes", sectionsSQL, role)
	var sections []Section
	for _, n := range notes {
		last := len(sections) - 1
		if last < 0 || n.Section == nil || sections[last].ID == nil || *sections[last].ID != *n.Section {
			sections = append(sections, Section{ID: n.Section, At: n.CreatedAt})
			last++
		}
		sections[last].Notes = append(sections[last].Notes, n)
	}
	return sections, err
}
