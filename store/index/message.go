package index

import (
	"context"

	"github.com/jackc/pgx/v5"

	"multis/internal/language"
	"multis/policy"
	"multis/store/row"
)

// MessageEntry is a message as it is written to the message index.
type MessageEntry struct {
	ID         row.MessageID
	Words      string // what is searched, as normalized words; empty for a message that is not searchable
	Language   language.Language
	Author     string // its author, as normalized words
	Day        int    // the number of its day; the messages of one day in a chat are one conversation
	IsQuestion bool
}

const removeMessagesSQL = "delete from message_index where id = any ($1)"

// RemoveMessages removes messages from the message index.
func RemoveMessages(ctx context.Context, tx row.Tx, messages []row.MessageID) error {
	return row.Exec(ctx, tx, "remove messages from their index", removeMessagesSQL, messages)
}

const markIndexedSQL = "update messages set unindexed = false where id = any ($1) and unindexed"

// indexMessagesSQL places a message that is older than all indexed ones of its chat before them, as when history is read
// backwards, and any other message after them.
const indexMessagesSQL = `with n as (
		select m.chat_id, u.*, m.ts < coalesce(e.first_ts, 'infinity') and e.first_ts is not null as older, coalesce(e.first, 0) as first, coalesce(e.last, -1) as last, m.ts
		from unnest(@ids::bigint[], @words::text[], @configs::text[], @authors::text[], @questions::boolean[], @days::int[])
			u(id, words, config, author, is_question, day)
		join messages m on m.id = u.id left join lateral (
			select min(i.ord) as first, max(i.ord) as last, (select f.ts from message_index g join messages f on f.id = g.id where g.doc_id = m.chat_id order by g.ord limit 1) as first_ts
			from message_index i where i.doc_id = m.chat_id
		) e on true where u.words <> '' and m.redacted_at is null and not exists (select from chats c where c.id = m.chat_id and c.kind = 'admin')
	)
	insert into message_index (id, doc_id, ord, role, config, n_tok, author, is_question, part, tsv)
	select n.id, n.chat_id, case when older then first - (row_number() over (partition by chat_id, older order by ts desc, id desc))::int
			else last + (row_number() over (partition by chat_id, older order by ts, id))::int end,
		'user:' || n.chat_id, n.config, t.n, n.author, n.is_question, n.day, v.tsv
	from n, to_tsvector(n.config::regconfig, n.words) v(tsv), lateral (select coalesce(sum(cardinality(positions)), 0) as n from unnest(v.tsv)) t`

const mergeMessageEntriesSQL = "select gin_clean_pending_list('message_index_tsv')"

// AddMessages replaces the entries of messages. Messages of the admin room are not searchable, because most of them are about searches.
func AddMessages(ctx context.Context, tx row.Tx, messages []MessageEntry) error {
	ids := row.Column(messages, func(m MessageEntry) row.MessageID { return m.ID })
	if err := RemoveMessages(ctx, tx, ids); err != nil {
		return err
	}
	err := row.Exec(ctx, tx, "index messages", indexMessagesSQL, pgx.NamedArgs{
		"ids": ids, "words": row.Column(messages, func(m MessageEntry) string { return m.Words }),
		"configs":   row.Column(messages, func(m MessageEntry) language.Language { return m.Language }),
		"authors":   row.Column(messages, func(m MessageEntry) string { return m.Author }),
		"questions": row.Column(messages, func(m MessageEntry) bool { return m.IsQuestion }),
		"days":      row.Column(messages, func(m MessageEntry) int { return m.Day }),
	})
	if err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "mark messages as indexed", markIndexedSQL, ids); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "merge index entries", mergeMessageEntriesSQL)
}

// messageTextColumns are the columns of a hit. They come from the message itself, because message_index has no texts and
// a contact cannot read it.
const messageTextColumns = `select m.id, m.chat_id as doc_id, 0 as ord, 'user:' || m.chat_id as role, 'conv' as kind, '' as title, '' as shown_title, '' as section,
	0 as line_from, 0 as line_to, 0 as page_from, 0 as page_to, m.body as content, m.ts as indexed_at, 0::float8 as activation from `

const messageTextsSQL = messageTextColumns +
	`messages m where m.id = any ($2) and coalesce('user:' || m.chat_id in (select unnest($1::text[])), false)
	and m.redacted_at is null and not m.unindexed`

// MessageTexts returns messages as chunks: those that scope may see and whose index entries are current, in no particular order. DocID is
// the chat, and IndexedAt the time of the message.
func MessageTexts(ctx context.Context, db row.DB, scope policy.Scope, ids []int64) ([]ChunkText, error) {
	return row.All[ChunkText](ctx, db, "messages", messageTextsSQL, scope.Roles(), ids)
}

const recentMessagesSQL = messageTextColumns + `unnest($1::bigint[]) c(id), lateral (
		select * from messages where chat_id = c.id and kind <> 'reaction' and redacted_at is null and body <> '' order by ts desc, id desc limit $2
	) m order by m.ts desc, m.id desc limit $2`

// RecentMessages returns the newest messages of the chats of scope, the newest first.
func RecentMessages(ctx context.Context, db row.DB, scope policy.Scope, limit int) ([]ChunkText, error) {
	return row.All[ChunkText](ctx, db, "messages", recentMessagesSQL, scope.Chats(), limit)
}
