package appservice

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// TestTheKeysAreLetGoAsSoonAsTheDatabaseLetsTheLockGo: another process opens them then, and a poll may go on for half a minute.
func TestTheKeysAreLetGoAsSoonAsTheDatabaseLetsTheLockGo(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lock, ok, err := b.store.TryLock(t.Context(), store.LockSync, 0)
	require.NoError(t, err)
	require.True(t, ok)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lost := make(chan struct{})
	require.True(t, alive(ctx, lock))
	go func() { watch(ctx, lock); close(lost) }()
	var ended bool
	require.NoError(t, b.store.DB().QueryRow(ctx, `select pg_terminate_backend(pid) from pg_locks
		where locktype = 'advisory' and classid = $1 and database = (select oid from pg_database where datname = current_database())`, int32(store.LockSync)).Scan(&ended))
	require.True(t, ended)
	<-lost
	require.NoError(t, ctx.Err(), "it is seen at once, not when the time is over")
}
