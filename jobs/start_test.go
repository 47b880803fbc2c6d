package jobs

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// soon is well below poll: what starts within it was told of.
const soon = 15 * time.Second

// awaitSoon waits until a job is done.
func (w *fakeWork) awaitSoon(t *testing.T) {
	t.Helper()
	select {
	case <-w.done:
	case <-time.After(soon):
		require.Fail(t, "the job was left to the next poll")
	}
}

func TestStart_BySQLAsByEnqueue(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	start(t, st, w)
	enqueue(t, st, TurnArgs{ChatID: 1})
	w.awaitSoon(t) // the queue is up
	_, err := st.Pool().Exec(t.Context(),
		`insert into river.river_job (kind, queue, args, max_attempts) values ('turn', 'chat', '{"chat": 2}', 1)`)
	require.NoError(t, err)
	w.awaitSoon(t)
}

func TestStart_QuickSuccession(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	start(t, st, w)
	for n := range 30 { // River would tell of the first only
		enqueue(t, st, SendArgs{}, TurnArgs{ChatID: store.ChatID(n + 1)})
		w.awaitSoon(t)
		w.awaitSoon(t)
	}
}

func TestStart_LaterJobWhenDue(t *testing.T) {
	t.Parallel()
	for state, job := range map[string]string{
		"scheduled": "now() + interval '2 seconds', 0",
		"retryable": "now() + interval '2 seconds', 1",
		"available": "now() + interval '2 seconds', 0", // of a snoozed job
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			st, w := storetest.New(t), newWork()
			start(t, st, w)
			enqueue(t, st, TurnArgs{ChatID: 1})
			w.awaitSoon(t)
			_, err := st.Pool().Exec(t.Context(), `insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at, attempt)
				values ('turn', 'chat', '{"chat": 2}', 5, '`+state+`', `+job+`)`)
			require.NoError(t, err)
			w.awaitSoon(t)
			var early bool
			require.NoError(t, st.DB().QueryRow(t.Context(),
				"select attempted_at < scheduled_at from river.river_job where args->>'chat' = '2'").Scan(&early))
			require.False(t, early)
		})
	}
}

func TestStart_LostNotificationIsRepeated(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	start(t, st, w)
	enqueue(t, st, TurnArgs{ChatID: 1})
	w.awaitSoon(t)
	_, err := st.Pool().Exec(t.Context(), "alter table river.river_job disable trigger notify_of_job")
	require.NoError(t, err)
	_, err = st.Pool().Exec(t.Context(),
		`insert into river.river_job (kind, queue, args, max_attempts) values ('turn', 'chat', '{"chat": 2}', 1)`)
	require.NoError(t, err)
	w.awaitSoon(t)
}

func TestStart_EmptySearchStoresNoJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		search func(context.Context) (bool, error)
		want   Args
	}{
		"always":        {nil, BackupArgs{}},
		"found":         {func(context.Context) (bool, error) { return true, nil }, BackupArgs{}},
		"nothing found": {func(context.Context) (bool, error) { return false, nil }, nil},
		"failed":        {func(context.Context) (bool, error) { return false, context.DeadlineExceeded }, BackupArgs{}},
	} {
		args, _ := unlessIdle(t.Context(), BackupArgs{}, c.search)()
		require.Equal(t, c.want, args, name)
	}
}
