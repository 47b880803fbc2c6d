package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

func TestMain(m *testing.M) { Main(m) }

// A connection that a test leaves open would otherwise hold its lock in the test that gets the database next.
func TestReset_DropsLockedDatabase(t *testing.T) { //nolint:paralleltest // it looks at databases between its subtests
	ctx := t.Context()
	for held, want := range map[bool]int{false: 1, true: 0} {
		var name string
		t.Run("test before", func(t *testing.T) {
			st := New(t)
			require.NoError(t, st.DB().QueryRow(t.Context(), "select current_database()").Scan(&name))
			lock, ok, err := st.TryLock(ctx, store.LockClient, 1)
			require.NoError(t, err)
			require.True(t, ok)
			if !held {
				lock.Release(ctx)
			}
		})
		require.Equal(t, want, Count(t, New(t), "select count(*) from pg_database where datname = $1", name))
	}
}
