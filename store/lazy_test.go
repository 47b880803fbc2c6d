package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestLazy_OnlyLazyWritesSkipSync(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, storetest.DSN(t)+"&synchronous_commit=on")
	require.NoError(t, err)
	t.Cleanup(st.Close)
	waits := func(db store.DB) (mode, scope string) {
		require.NoError(t, db.QueryRow(ctx,
			"select current_setting('synchronous_commit'), coalesce(current_setting('multis.scope', true), '')").Scan(&mode, &scope))
		return mode, scope
	}
	reader, err := st.ContactReader(policy.ContactScope(7))
	require.NoError(t, err)
	_, scope := waits(reader)
	require.NotEmpty(t, scope)

	mode, _ := waits(st.AsyncCommit())
	require.Equal(t, "off", mode)
	writer, err := st.ScopedAsyncCommit(policy.ContactScope(7))
	require.NoError(t, err)
	mode, sameScope := waits(writer)
	require.Equal(t, "off", mode)
	require.Equal(t, scope, sameScope)

	mode, _ = waits(reader)
	require.Equal(t, "on", mode)
	mode, _ = waits(st.DB())
	require.Equal(t, "on", mode)
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error {
		mode, _ = waits(tx)
		return nil
	}))
	require.Equal(t, "on", mode)

	_, err = st.Pool().Exec(ctx, "create table once (n int unique deferrable initially deferred); insert into once values (1)")
	require.NoError(t, err)
	require.Error(t, st.AsyncCommit().QueryRow(ctx, "insert into once values (1) returning n").Scan(new(int)), "a commit that failed")
	_, err = st.ScopedAsyncCommit(policy.Scope{})
	require.ErrorIs(t, err, policy.ErrNoScope)
}

func TestReader_CannotWrite(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := storetest.New(t)
	contact, err := st.ContactReader(policy.ContactScope(7))
	require.NoError(t, err)
	owner, err := st.OwnerReader(policy.OwnerScope(7))
	require.NoError(t, err)
	for _, reader := range []store.Reader{contact, owner} {
		err := reader.QueryRow(ctx, "insert into settings (key, value) values ('x', '1') returning 1").Scan(new(int))
		var pg *pgconn.PgError
		require.ErrorAs(t, err, &pg)
		require.Contains(t, []string{"25006", "42501"}, pg.Code, "read_only_sql_transaction, or insufficient_privilege")
	}
	require.Zero(t, storetest.Count(t, st, "select count(*) from settings where key = 'x'"))
}
