package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"multis/store"
	"multis/store/storetest"
)

// Several processes make the key of the stored keys at a first start; all must go on with the same one.
func TestInitSetting_KeepsFirstValue(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	values := make([]string, 8)
	var group errgroup.Group
	for i := range values {
		group.Go(func() error {
			err := store.InitSetting(t.Context(), st.Writer(), store.SettingPickle, fmt.Sprint("value ", i))
			if err != nil {
				return err
			}
			_, err = store.GetSetting(t.Context(), st.DB(), store.SettingPickle, &values[i])
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.NotEmpty(t, values[0])
	for _, value := range values {
		require.Equal(t, values[0], value)
	}
}
