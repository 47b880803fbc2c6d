package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// failing completes its turn in a transaction, which the first time is rolled back, and fails after each.
type failing struct {
	st    *store.Store
	calls atomic.Int64
}

var errAfter = errors.New("failed after the transaction")

func (f *failing) Turn(ctx context.Context, _ store.ChatID, _ string, _ bool) error {
	n := f.calls.Add(1)
	err := f.st.InTx(ctx, func(tx store.Tx) error {
		err := Complete(ctx, tx)
		if err != nil {
			return err
		}
		if n > 1 {
			return nil
		}
		return errors.New("rolled back")
	})
	return errors.Join(err, errAfter)
}

func TestComplete_InTransactionRunsOnce(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	f := &failing{st: st}
	h := newWork().handlers()
	h.Turn = f
	ctx, cancel := context.WithCancel(context.Background())
	r, err := NewRunner(ctx, st, h, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	enqueue(t, st, TurnArgs{ChatID: 1})
	state := func() (text string) {
		require.NoError(t, st.DB().QueryRow(context.Background(), "select state from river.river_job where kind = 'turn'").Scan(&text))
		return text
	}
	require.Eventually(t, func() bool { return state() == "completed" }, time.Minute, 20*time.Millisecond)
	require.EqualValues(t, 2, f.calls.Load(), "again after what was rolled back, never after what was committed")
	require.NoError(t, st.InTx(context.Background(), func(tx store.Tx) error {
		return Complete(context.Background(), tx)
	}), "without a job it does nothing")
}
