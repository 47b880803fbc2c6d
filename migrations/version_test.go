package migrations_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store/storetest"
)

func TestVersion_BackupOnlyBeforeChange(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dsn := empty(t, "backed_up", "createrole")
	calls := 0
	backUp := func(context.Context) error { calls++; return nil }
	require.NoError(t, migrations.RunAfter(ctx, dsn, backUp))
	require.NoError(t, migrations.RunAfter(ctx, dsn, backUp))
	require.Zero(t, calls, "it was empty, and then up to date")
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(ctx))
	_, err = conn.Exec(ctx, "update schema_functions set revision = revision - 1, hash = ''")
	require.NoError(t, err)
	broken := errors.New("no backup")
	require.ErrorIs(t, migrations.RunAfter(ctx, dsn, func(context.Context) error { return broken }), broken)
	var unchanged bool
	require.NoError(t, conn.QueryRow(ctx, "select hash = '' from schema_functions").Scan(&unchanged))
	require.True(t, unchanged)
	require.NoError(t, migrations.RunAfter(ctx, dsn, backUp))
	require.Equal(t, 1, calls)
}

func TestVersion_OlderPartMakesOlder(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"delete from goose_db_version where version_id = (select max(version_id) from goose_db_version)",
		"update schema_functions set revision = revision - 1",
		"delete from river.river_migration where version = (select max(version) from river.river_migration)",
		"update matrix.crypto_version set version = version - 1",
		"update matrix.mx_version set version = version - 1",
	} {
		st := storetest.New(t)
		_, err := st.Pool().Exec(t.Context(), part)
		require.NoError(t, err)
		state, err := st.Inspector().Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, migrations.StateOlder, state, part)
	}
}
