package budget

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// countNotices counts the enqueued notices to the owner, by cap and percentage.
func countNotices(t *testing.T, st *store.Store) map[string]int {
	t.Helper()
	rows, err := st.DB().Query(context.Background(),
		"select args->>'cap' || ' ' || (args->>'percent') from river.river_job where kind = 'budget'")
	require.NoError(t, err)
	defer rows.Close()
	count := map[string]int{}
	for rows.Next() {
		var what string
		require.NoError(t, rows.Scan(&what))
		count[what]++
	}
	require.NoError(t, rows.Err())
	return count
}

func TestThreshold_ReportedOnceConcurrently(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		return store.ReplaceHooks(t.Context(), tx, []store.Hook{{Name: "desk", Events: []string{string(policy.HookBudget)}}})
	}))
	l := New(st, 1000)
	spend := func(amount, cost int64) {
		res, err := l.Reserve(context.Background(), policy.SpendRequest{Day: "2026-11-20", Purpose: "reply", Amount: amount, DayCap: 1000})
		if err == nil && res.Refused == "" {
			err = l.Settle(context.Background(), res.ID, policy.Settlement{Amount: cost})
		}
		if err != nil {
			t.Error(err)
		}
	}
	together := func(n int, amount, cost int64) {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() { spend(amount, cost) })
		}
		wg.Wait()
	}
	together(8, 60, 60) // 480
	require.Empty(t, countNotices(t, st))
	together(4, 10, 10) // 520
	require.Equal(t, map[string]int{"day 50": 1}, countNotices(t, st))
	together(8, 40, 40) // 840
	require.Equal(t, map[string]int{"day 50": 1, "day 80": 1}, countNotices(t, st))
	together(12, 500, 500) // no call fits into what is left
	require.Equal(t, map[string]int{"day 50": 1, "day 80": 1, "day 100": 1}, countNotices(t, st))
	hooks, err := store.Deliveries(t.Context(), st.DB(), "desk", 10)
	require.NoError(t, err)
	require.Len(t, hooks, 3, "and hooks hear of each")
	require.Equal(t, "2026-11-20/day/100", hooks[0].Ref)
	together(20, 10, 10)
	require.Equal(t, map[string]int{"day 50": 1, "day 80": 1, "day 100": 1}, countNotices(t, st), "what fits after all is no news")
}

func TestThresholds_GiveOneNotice(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	l := New(st, 1000)
	res, err := l.Reserve(t.Context(), policy.SpendRequest{Day: "2026-11-20", Amount: 900, DayCap: 1000})
	require.NoError(t, err)
	require.NoError(t, l.Settle(t.Context(), res.ID, policy.Settlement{Amount: 900}))
	require.Equal(t, map[string]int{"day 80": 1}, countNotices(t, st))
}

func TestCap_ReportedOnce(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	l := New(st, 1000)
	ask := func(sp policy.SpendRequest) {
		sp.Day = "2026-11-20"
		sp.Amount = 100
		sp.DayCap = 1000
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if _, err := l.Reserve(context.Background(), sp); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	ask(policy.SpendRequest{Agent: "nora", AgentCap: 50})
	ask(policy.SpendRequest{Run: "17", RunCap: 50})
	ask(policy.SpendRequest{Run: "18", RunCap: 50})
	ask(policy.SpendRequest{Chat: 7, ChatCap: 50})
	require.Equal(t, map[string]int{"agent 100": 1, "run 100": 2, "chat 100": 1}, countNotices(t, st))

	// with a lower cap, as indexing uses it
	res, err := l.Reserve(t.Context(), policy.SpendRequest{Day: "2026-11-20", Amount: 600, DayCap: 500})
	require.NoError(t, err)
	require.Equal(t, policy.CapDay, res.Refused)
	require.Zero(t, countNotices(t, st)["day 100"], "half a day's cap is no news")
}
