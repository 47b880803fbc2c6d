package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// OpenApproval stores an approval and returns it with its id.
func OpenApproval(t testing.TB, st *store.Store, a store.Approval) store.Approval {
	t.Helper()
	require.NoError(t, st.InTx(context.Background(), func(tx store.Tx) (err error) {
		a, err = store.OpenApproval(context.Background(), tx, a)
		return err
	}))
	return a
}
