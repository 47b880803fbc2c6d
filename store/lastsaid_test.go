package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// planReader notes the plans of what is read through it.
type planReader struct {
	store.DB

	plans []string
}

func (p *planReader) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	p.explain(ctx, sql, args...)
	return p.DB.QueryRow(ctx, sql, args...)
}

func (p *planReader) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	p.explain(ctx, sql, args...)
	return p.DB.Query(ctx, sql, args...)
}

func (p *planReader) explain(ctx context.Context, sql string, args ...any) {
	rows, err := p.DB.Query(ctx, "explain "+sql, args...)
	if err != nil {
		p.plans = append(p.plans, err.Error())
		return
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		lines = append(lines, err.Error())
	}
	p.plans = append(p.plans, strings.Join(lines, "\n"))
}

// longChatSQL stores a chat of 2,000 questions with their answers.
const longChatSQL = `with chat as (insert into chats (protocol, channel_id, room_id, kind) values ('whatsapp', 'c', '!r:example.com', 'dm') returning id),
	said as (insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, sent_at)
		select gen_random_uuid(), chat.id, 'owner', 'reply', 'm.room.message', '{}', 'ok', '', 'sent', now() - n * interval '1 hour' from chat, generate_series(1, 2000) n)
	insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason, answered_at)
		select chat.id, '$' || n, 'contact', '@a:example.com', 'text', '', at, at, 'answer', 'ok', '', at from chat, generate_series(1, 2000) n, lateral (select now() - n * interval '1 hour') t (at)
		returning chat_id`

func TestLastSaid_ReadsNoPast(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var chat store.ChatID
	require.NoError(t, st.DB().QueryRow(t.Context(), longChatSQL).Scan(&chat))
	for _, table := range []string{"messages", "outbox"} {
		_, err := st.Writer().Exec(t.Context(), "analyze "+table)
		require.NoError(t, err)
	}
	reader := &planReader{DB: st.DB()}
	since := time.Now().Add(-6 * time.Hour)
	_, err := store.UnansweredTurns(t.Context(), reader, chat, since)
	require.NoError(t, err)
	_, err = store.LastClarification(t.Context(), reader, chat, since)
	require.ErrorIs(t, err, store.ErrNotFound)
	plans := strings.Join(reader.plans, "\n")
	for _, index := range []string{"outbox_said", "messages_owner_said", "messages_asked", "messages_clarified"} {
		require.Contains(t, plans, index)
	}
	require.NotContains(t, plans, "Seq Scan on messages")
}
