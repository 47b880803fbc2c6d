package store_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

func TestOpen_LimitsConnections(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	for name, c := range map[string]struct {
		dsn     string
		options store.Options
		want    int32
	}{
		"default":                 {dsn, store.Options{}, store.DefaultConnections},
		"option":                  {dsn, store.Options{Connections: 6}, 6},
		"in the address":          {dsn + "&pool_max_conns=5", store.Options{}, 5},
		"the address counts more": {dsn + "&pool_max_conns=5", store.Options{Connections: 50}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := store.OpenWith(t.Context(), c.dsn, c.options)
			require.NoError(t, err)
			t.Cleanup(st.Close)
			require.Equal(t, c.want, st.Pool().Config().MaxConns)
		})
	}
	_, err := store.Open(t.Context(), dsn+"&pool_max_conns=3")
	require.ErrorContains(t, err, "pool_max_conns is 3, and multis needs at least 4")
}

func TestOpen_RefusesOtherDatabaseAsDirect(t *testing.T) {
	t.Parallel()
	_, err := store.OpenWith(t.Context(), storetest.DSN(t), store.Options{Direct: storetest.DSN(t)})
	require.ErrorIs(t, err, store.ErrOtherDatabase)
}

func TestStore_KeepsLocksThroughPooler(t *testing.T) {
	t.Parallel()
	dsn := storetest.DSN(t)
	options := store.Options{Direct: dsn}
	pooled := storetest.Pooler(t, dsn)
	first, err := store.OpenWith(t.Context(), pooled, options)
	require.NoError(t, err)
	t.Cleanup(first.Close)
	second, err := store.OpenWith(t.Context(), pooled, options)
	require.NoError(t, err)
	t.Cleanup(second.Close)

	lock, ok, err := first.TryLock(t.Context(), store.LockSync, 0)
	require.NoError(t, err)
	require.True(t, ok)
	for range 20 { // as many as the pooler has connections, and more
		_, ok, err := second.TryLock(t.Context(), store.LockSync, 0)
		require.NoError(t, err)
		require.False(t, ok)
		_, err = store.AllChats(t.Context(), second.DB())
		require.NoError(t, err)
	}
	lock.Release(t.Context())
	lock, ok, err = second.TryLock(t.Context(), store.LockSync, 0)
	require.NoError(t, err)
	require.True(t, ok)
	lock.Release(t.Context())
	require.False(t, isPooled(t, first.DirectInspector()))
	require.True(t, isPooled(t, first.Inspector()), "or the test is worth nothing")
}

func isPooled(t *testing.T, i *store.Inspector) bool {
	t.Helper()
	pooled, err := i.IsPooled(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	return pooled
}
