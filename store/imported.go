package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"multis/internal/text"
	"multis/store/row"
)

const importMessageSQL = `insert into messages (chat_id, event_id, author, sender, kind, body, ts, answered_at, action, code, reason)
	select @chat, @event, @author, @sender, 'text', @body, @at::timestamptz, now(), 'archive', 'backfill', 'It was imported from a file.'
	where not exists (select from messages m where m.chat_id = @chat and m.body = @body and m.event_id not like '$import:%'
		and m.ts between @at::timestamptz - interval '2 minutes' and @at::timestamptz + interval '2 minutes')
	on conflict (event_id) do nothing returning id`

const touchChatSQL = "update chats set last_message_at = greatest(last_message_at, $2) where id = $1"

// ImportMessage stores a message of an import file, unless it was stored before, from a file or from a bridge.
func ImportMessage(ctx context.Context, tx Tx, m Message) (bool, error) {
	rows, err := row.Values[MessageID](ctx, tx, "imported message", importMessageSQL, pgx.NamedArgs{
		"chat": m.ChatID, "event": m.EventID, "author": m.Author, "sender": text.Storable(m.Sender.String()), "body": text.Storable(m.Body),
		"at": m.At,
	})
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		return false, nil
	}
	return true, row.Exec(ctx, tx, "note when a chat was used", touchChatSQL, m.ChatID, m.At)
}

// hasNoteSQL allows a day of difference, because one note may be in two files with different precision of its time.
const hasNoteSQL = `select exists (select from notes n where n.role = $1 and n.body = $2
	and n.valid_from between $3::timestamptz - interval '1 day' and $3::timestamptz + interval '1 day')`

// HasNote reports whether a note with the same words of about the same time exists, valid or not.
func HasNote(ctx context.Context, tx Tx, n Note) (bool, error) {
	return row.Value[bool](ctx, tx, "note", hasNoteSQL, n.Role, text.Storable(n.Body), n.ValidFrom)
}
