package memory_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/store"
	"multis/store/storetest"
)

// blockingMemory is a Memory whose captures block until the gate is opened.
type blockingMemory struct {
	*memory.Memory

	gate chan struct{}
}

func (g blockingMemory) Capture(ctx context.Context, chat store.ChatID, last bool) error {
	<-g.gate
	return g.Memory.Capture(ctx, chat, last)
}

// maxCaptures is the maximum number of captures that are enqueued at the same time.
const maxCaptures = 100

func TestQueue_LimitsDueCaptures(t *testing.T) {
	t.Parallel()
	const chats = 250
	var mu sync.Mutex
	asked := map[string]int{}
	server := llmtest.Start(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Last()]++
		return llmtest.Reply{Text: `{"notes": [{"kind": "fact", "subject": "words", "text": "Words were said.", "from": [1]}]}`}
	})
	model, err := modelWithTimeout(server.URL, time.Minute)
	require.NoError(t, err)
	st := storetest.NewWithMessages(t, chats, 20, time.Now().Add(-time.Hour))
	g := blockingMemory{memory.New(memory.Options{Store: st, Model: model}), make(chan struct{})}
	runner, err := jobs.NewRunner(t.Context(), st, jobs.Handlers{Capture: g}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()

	count := func(sql string) int { return storetest.Count(t, st, sql) }
	looks := 0
	look := func() {
		looks++
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error { return jobs.Enqueue(t.Context(), tx, jobs.FindCapturesArgs{}) }))
		require.Eventually(t, func() bool {
			return count("select count(*) from river.river_job where kind = 'find_captures' and finalized_at is null") == 0
		}, time.Minute, 20*time.Millisecond)
	}
	const waiting = "select count(*) from river.river_job where kind = 'capture' and finalized_at is null"
	for range 3 {
		look()
		require.Equal(t, maxCaptures, count(waiting))
	}
	close(g.gate)
	for count("select count(*) from chat_memory where fresh > 0") > 0 {
		require.Eventually(t, func() bool { return count(waiting) == 0 }, time.Minute, 20*time.Millisecond)
		require.Less(t, looks, 10, "chats are left out")
		look()
		require.LessOrEqual(t, count(waiting), maxCaptures)
	}
	require.Equal(t, chats, count("select count(*) from notes"), "one of each chat")
	require.Len(t, asked, chats)
	cancel()
	require.NoError(t, <-ended)
}
