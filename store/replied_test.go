package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// manyEscalationsSQL stores 200 chats of 20 messages, and 20,000 escalations in them. It runs no triggers, which would take minutes.
const manyEscalationsSQL = `alter table chats disable trigger user; alter table messages disable trigger user; alter table escalations disable trigger user;
	insert into chats (protocol, channel_id, room_id, kind, last_message_at) select 'whatsapp', 'c' || i, '!' || i || ':x', 'dm', now() - i * interval '1 hour' from generate_series(1, 200) i;
	insert into messages (chat_id, event_id, sender, author, kind, body, ts, received_at, action, code, reason)
		select c.id, '$' || c.id || '-' || i, '@x:x', case when i % 2 = 0 then 'contact' else 'owner_phone' end, 'text', 'Where are you?', t.at, t.at,
			case when i % 2 = 0 then 'answer' else 'archive' end, '', ''
		from chats c, generate_series(1, 20) i, lateral (select c.last_message_at - i * interval '1 minute') t (at);
	insert into escalations (chat_id, message_id, reason, opened_at, closed_at) select m.chat_id, m.id, '', m.ts, m.ts from messages m, generate_series(1, 10) where m.author = 'contact'`

// The questions that people answered are looked for every few seconds, so that this must not read all escalations of the past.
func TestReplied_UsesIndex(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		_, err := tx.Exec(t.Context(), manyEscalationsSQL)
		return err
	}))
	for _, table := range []string{"chats", "messages", "escalations"} {
		_, err := st.Pool().Exec(t.Context(), "analyze "+table)
		require.NoError(t, err)
	}
	reader := &planReader{DB: st.DB()}
	since := time.Now().Add(-24 * time.Hour)
	_, err := store.RepliedQuestions(t.Context(), reader, since)
	require.NoError(t, err)
	_, err = store.HasRepliedQuestions(t.Context(), reader, since)
	require.NoError(t, err)
	require.Len(t, reader.plans, 2)
	for _, plan := range reader.plans {
		require.Contains(t, plan, "escalations_message")
		require.NotContains(t, plan, "Seq Scan on escalations")
	}
	require.Contains(t, strings.Join(reader.plans, "\n"), "escalations_chat")
}
