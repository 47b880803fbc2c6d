package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// NewWithMessages is New with chats that have indexed messages, a minute apart, the first one a minute after from. Chat n
// has the room "!n:x" and the contact @contact:x.
func NewWithMessages(t testing.TB, chats, messages int, from time.Time) *store.Store {
	t.Helper()
	st := New(t)
	exec := func(sql string, args ...any) {
		_, err := st.Pool().Exec(context.Background(), sql, args...)
		require.NoError(t, err)
	}
	exec(`insert into chats (protocol, channel_id, kind, name, room_id, contact, bridge_bot, encrypted, mode)
		select 'whatsapp', n::text, 'dm', 'Chat ' || n, '!' || n || ':x', '@contact:x', '@bot:x', 'no', 'silent' from generate_series(1, $1::int) n`, chats)
	exec(`insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason, unindexed)
		select c.id, '$' || c.id || '-' || n, 'contact', '@contact:x', 'text', 'word' || (n * 7919 % 3001) || ' said word' || (c.id * 31 % 977) || ' of word' || n % 59,
			$2::timestamptz + n * interval '1 minute', $2::timestamptz + n * interval '1 minute', 'archive', 'silent', '', false
		from chats c, generate_series(1, $1::int) n`, messages, from)
	exec(`insert into message_index (id, doc_id, ord, role, config, n_tok, tsv) select id, chat_id, id, 'user:' || chat_id, 'english', 5, to_tsvector('english', body) from messages`)
	exec(`insert into chat_memory (chat_id, fresh, fresh_at) select chat_id, count(*), max(ts) from messages group by 1`)
	exec("analyze")
	return st
}
