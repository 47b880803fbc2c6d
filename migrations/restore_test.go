package migrations_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
)

// oldRows fill the tables as a backup of an older build does.
type oldRows struct{ dsn string }

// Load inserts a draft in the words of that build.
func (o oldRows) Load(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, o.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx,
		`with chat as (insert into chats (protocol, channel_id, kind, held_until) values ('whatsapp', 'ana', 'dm', '2026-11-01 12:00+00') returning id)
		insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state)
		select '00000000-0000-0000-0000-000000000001', id, 'owner', 'reply', 'm.room.message', '{}', '', '', 'held' from chat`)
	return err
}

// Finish changes nothing.
func (oldRows) Finish(context.Context, pgx.Tx) error { return nil }

func TestRestore_OlderSchemaIsMigrated(t *testing.T) {
	t.Parallel()
	// 00113 renamed what is filled here, so the rows are there before it runs.
	ctx := t.Context()
	dsn := empty(t, "restored_older", "createrole")
	require.NoError(t, migrations.Restore(ctx, dsn, migrations.Version{Tables: 112, River: 6}, oldRows{dsn}))
	st, err := store.Open(ctx, dsn)
	require.NoError(t, err)
	defer st.Close()
	state, err := st.Inspector().Schema(ctx)
	require.NoError(t, err)
	require.Equal(t, migrations.StateCurrent, state)
	var drafts int
	require.NoError(t, st.DB().QueryRow(ctx,
		"select count(*) from outbox o join chats c on c.id = o.chat_id where o.state = 'draft' and c.owner_active_until = '2026-11-01 12:00+00'").Scan(&drafts))
	require.Equal(t, 1, drafts)
	require.NoError(t, migrations.Run(ctx, dsn), "the restore is finished")
}
