package migrations_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
)

func TestUp_RefusesForeignDatabase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dsn := empty(t, "foreign_program", "createrole")
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "create table events (id int); create table rooms (id int)")
	require.NoError(t, err)

	require.ErrorIs(t, migrations.Run(ctx, dsn), migrations.ErrForeign)
	_, err = migrations.Plan(ctx, dsn)
	require.ErrorIs(t, err, migrations.ErrForeign)
	require.ErrorContains(t, err, "there is events, rooms")
	in, err := store.OpenInspector(ctx, dsn)
	require.NoError(t, err)
	defer in.Close()
	state, err := in.Schema(ctx)
	require.NoError(t, err)
	require.Equal(t, migrations.StateForeign, state)
	var tables, schemas int
	require.NoError(t, conn.QueryRow(ctx,
		"select (select count(*) from pg_class where relnamespace = 'public'::regnamespace), (select count(*) from pg_namespace where nspname in ('river', 'matrix'))").Scan(&tables, &schemas))
	require.Equal(t, 2, tables)
	require.Zero(t, schemas)

	_, err = conn.Exec(ctx, "drop table events, rooms")
	require.NoError(t, err)
	require.NoError(t, migrations.Run(ctx, dsn))
	_, err = conn.Exec(ctx, "create table mine (id int)")
	require.NoError(t, err)
	require.NoError(t, migrations.Run(ctx, dsn), "a table that is added later does no harm")
}
