package migrations_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store/storetest"
)

func TestPlan_StatesLocksAndDuration(t *testing.T) {
	t.Parallel()
	rows := map[string]int64{"messages": 1_000_000}
	for sql, want := range map[string]migrations.Step{
		"create table new (id bigint)":     {},
		"create index new_id on new (id)":  {},
		"comment on table messages is 'x'": {},
		"create index messages_x on messages (x)": {
			Table: "messages", Lock: "SHARE", Rows: 1_000_000,
			Estimate: 5 * time.Second,
		},
		"update messages set x = 1": {
			Table: "messages", Lock: "ROW EXCLUSIVE", Rows: 1_000_000,
			Estimate: 30 * time.Second,
		},
		"alter table messages add x text": {Table: "messages", Lock: "ACCESS EXCLUSIVE", Rows: 1_000_000},
		"alter table messages alter x type text": {
			Table: "messages", Lock: "ACCESS EXCLUSIVE", Rows: 1_000_000,
			Estimate: 30 * time.Second,
		},
		"alter table messages add constraint c check (x > 0)": {
			Table: "messages", Lock: "ACCESS EXCLUSIVE", Rows: 1_000_000,
			Estimate: time.Second,
		},
		"alter table messages add constraint c check (x > 0) not valid": {Table: "messages", Lock: "ACCESS EXCLUSIVE", Rows: 1_000_000},
		"alter table messages validate constraint c": {
			Table: "messages", Lock: "SHARE UPDATE EXCLUSIVE", Rows: 1_000_000,
			Estimate: time.Second,
		},
		"vacuum messages": {Lock: "unknown"},
	} {
		want.Statement = sql
		require.Equal(t, want, migrations.Describe(sql, rows), sql)
	}
}

func TestPlan_ChangesNothing(t *testing.T) {
	t.Parallel()
	dsn := empty(t, "planned", "createrole")
	steps, err := migrations.Plan(t.Context(), dsn)
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	var there bool
	require.NoError(t, conn.QueryRow(ctx,
		"select to_regclass('chats') is not null or to_regclass('goose_db_version') is not null").Scan(&there))
	require.False(t, there)

	steps, err = migrations.Plan(ctx, storetest.DSN(t))
	require.NoError(t, err)
	require.Empty(t, steps, "it is up to date")
}

func TestPlan_UnderstandsEveryStatement(t *testing.T) {
	t.Parallel()
	steps, err := migrations.Plan(t.Context(), empty(t, "understood", ""))
	require.NoError(t, err)
	for _, s := range steps {
		if s.Lock == "unknown" {
			require.Regexp(t, `^do \$\$`, s.Statement, s.Migration)
		}
	}
}

func TestUp_WaitsForLockedTable(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "update schema_functions set hash = 'of an older version'")
	require.NoError(t, err)
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "lock table messages in share mode")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- migrations.Run(ctx, dsn) }()
	other, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer other.Close(ctx)
	const waitingSQL = "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')"
	require.Eventually(t, func() (waits bool) {
		return other.QueryRow(ctx, waitingSQL).Scan(&waits) == nil && waits
	}, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() (waits bool) {
		return other.QueryRow(ctx, waitingSQL).Scan(&waits) == nil && !waits
	}, time.Minute, 10*time.Millisecond, "it gives way to the others")
	require.NoError(t, tx.Rollback(ctx))
	require.NoError(t, <-done)
}
