package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestOnlyWhatIsWrittenLazilyDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, storetest.DSN(t)+"&synchronous_commit=on")
	require.NoError(t, err)
	t.Cleanup(st.Close)
	waits := func(db store.DB) (mode, scope string) {
		require.NoError(t, db.QueryRow(ctx, "select current_setting('synchronous_commit'), coalesce(current_setting('multis.scope', true), '')").Scan(&mode, &scope))
		return mode, scope
	}
	reader, err := st.ContactReader(policy.ContactScope(7))
	require.NoError(t, err)
	_, scope := waits(reader)
	require.NotEmpty(t, scope)

	mode, _ := waits(st.Lazy())
	require.Equal(t, "off", mode)
	mode, still := waits(reader.Lazy())
	require.Equal(t, "off", mode)
	require.Equal(t, scope, still)

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
	require.Error(t, st.Lazy().QueryRow(ctx, "insert into once values (1) returning n").Scan(new(int)), "a commit that failed")
	require.ErrorIs(t, store.Reader{}.Lazy().QueryRow(ctx, "select 1").Scan(new(int)), policy.ErrNoScope)
}
