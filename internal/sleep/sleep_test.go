package sleep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/sleep"
)

func TestFor_WaitsTheWholeTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		require.NoError(t, sleep.For(t.Context(), time.Hour))
		require.Equal(t, time.Hour, time.Since(begin))
	})
}

func TestFor_EndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.ErrorIs(t, sleep.For(ctx, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Minute, time.Since(begin))
	})
}
