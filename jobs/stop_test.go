package jobs

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// waitingTurn is a turn that goes on until it is interrupted.
type waitingTurn struct{ began, ended chan struct{} }

func (w waitingTurn) Turn(ctx context.Context, _ store.ChatID, _ string, _ bool) error {
	w.began <- struct{}{}
	<-ctx.Done()
	w.ended <- struct{}{}
	return ctx.Err()
}

// A changed configuration, such as a rule, holds for all jobs soon: what is under way is interrupted, and done again with the new one.
func TestStop_ReloadInterruptsJob(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	w := waitingTurn{make(chan struct{}), make(chan struct{}, 1)}
	before := newWork().handlers()
	before.Turn = w
	runner, err := NewRunner(t.Context(), st, before, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- runner.Run(ctx) }()
	enqueue(t, st, TurnArgs{ChatID: 1})
	<-w.began
	cancel() // as serve does when the configuration has changed
	changed := time.Now()
	require.NoError(t, <-stopped)
	require.Len(t, w.ended, 1)
	require.Less(t, time.Since(changed), 30*time.Second)

	next := newWork()
	start(t, st, next)
	next.await(t, 1)
	require.Equal(t, []string{"turn"}, next.seen)
}
