package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const day = "2026-11-20"

// newSpend asks for an amount for chat 7, with caps of 100 for the day and 60 for the chat.
func newSpend(amount int64) policy.SpendRequest {
	return policy.SpendRequest{
		Day:     day,
		Chat:    7,
		Purpose: "reply",
		Model:   "openai/m",
		Amount:  amount,
		DayCap:  100,
		ChatCap: 60,
	}
}

func reserve(t *testing.T, s *store.Store, sp policy.SpendRequest) policy.Reservation {
	t.Helper()
	res, err := reserveCost(t.Context(), s, sp)
	require.NoError(t, err)
	return res
}

func spent(t *testing.T, s *store.Store, day string, chat store.ChatID) int64 {
	t.Helper()
	amount, err := store.Spent(t.Context(), s.DB(), day, chat)
	require.NoError(t, err)
	return amount
}

func TestReserve_StopsAtEachCap(t *testing.T) {
	t.Parallel()
	otherChat := func(amount int64) policy.SpendRequest { sp := newSpend(amount); sp.Chat = 8; return sp }
	noChat := func(amount int64) policy.SpendRequest { sp := newSpend(amount); sp.Chat = 0; return sp }
	otherDay := func(amount int64) policy.SpendRequest { sp := newSpend(amount); sp.Day = "2026-11-21"; return sp }
	noCaps := func(amount int64) policy.SpendRequest {
		sp := newSpend(amount)
		sp.DayCap, sp.ChatCap = 0, 0
		return sp
	}
	for name, c := range map[string]struct {
		before []policy.SpendRequest
		asks   policy.SpendRequest
		want   policy.Cap
	}{
		"the chat's cap can be used up":             {nil, newSpend(60), ""},
		"more than the chat's cap cannot":           {nil, newSpend(61), policy.CapChat},
		"a little too much for the chat's rest":     {[]policy.SpendRequest{newSpend(50)}, newSpend(11), policy.CapChat},
		"another chat has a cap of its own":         {[]policy.SpendRequest{newSpend(60)}, otherChat(40), ""},
		"but all chats share the day's":             {[]policy.SpendRequest{newSpend(60)}, otherChat(41), policy.CapDay},
		"what belongs to no chat has the day's cap": {nil, noChat(100), ""},
		"and stops there":                           {nil, noChat(101), policy.CapDay},
		"the next day is a new one":                 {[]policy.SpendRequest{newSpend(60)}, otherDay(60), ""},
		"without caps nothing may be spent":         {nil, noCaps(1), policy.CapDay},
		"what is free passes without caps":          {nil, noCaps(0), ""},
		"what is free passes a lowered cap":         {[]policy.SpendRequest{newSpend(60)}, noCaps(0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			for _, sp := range c.before {
				require.Empty(t, reserve(t, s, sp).Refused)
			}
			before := spent(t, s, c.asks.Day, 0)
			res := reserve(t, s, c.asks)
			require.Equal(t, c.want, res.Refused)
			if c.want != "" {
				require.True(t, res.FirstRefusal)
				require.Equal(t, before, spent(t, s, c.asks.Day, 0), "a refusal reserves nothing")
			} else {
				require.Equal(t, before+c.asks.Amount, spent(t, s, c.asks.Day, 0))
			}
		})
	}
}

func TestReserve_AgentAndRunCaps(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ask := func(agent, run string, amount int64) policy.SpendRequest {
		return policy.SpendRequest{
			Day:      day,
			Agent:    agent,
			Run:      run,
			Amount:   amount,
			DayCap:   1000,
			AgentCap: 100,
			RunCap:   60,
		}
	}
	require.Empty(t, reserve(t, s, ask("nora", "1", 60)).Refused)
	require.Equal(t, policy.CapRun, reserve(t, s, ask("nora", "1", 1)).Refused)
	require.Empty(t, reserve(t, s, ask("nora", "2", 40)).Refused, "another run has a cap of its own")
	require.Equal(t, policy.CapAgent, reserve(t, s, ask("nora", "2", 1)).Refused)
	require.Equal(t, policy.CapAgent, reserve(t, s, ask("nora", "", 1)).Refused, "also outside a run")
	require.Empty(t, reserve(t, s, ask("max", "3", 1)).Refused, "another agent, too")
	require.EqualValues(t, 101, spent(t, s, day, 0), "a refusal reserves nothing anywhere")

	next := ask("nora", "1", 1)
	next.Day = "2026-11-21"
	require.Equal(t, policy.CapRun, reserve(t, s, next).Refused, "a run goes on over midnight")
	next.Run = "4"
	require.Empty(t, reserve(t, s, next).Refused, "an agent's day ends there")

	unnamed := ask("", "", 200)
	require.Empty(t, reserve(t, s, unnamed).Refused, "what belongs to no agent and no run has the day's cap alone")
}

func TestSettle_ReleasesRestOfAgentAndRun(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	sp := policy.SpendRequest{
		Day:      day,
		Chat:     7,
		Agent:    "nora",
		Run:      "1",
		Amount:   60,
		DayCap:   60,
		ChatCap:  60,
		AgentCap: 60,
		RunCap:   60,
	}
	res := reserve(t, s, sp)
	require.NoError(t, settleCost(t.Context(), s, res.ID, policy.Settlement{Amount: 20}))
	sp.Amount = 41
	require.NotEmpty(t, reserve(t, s, sp).Refused)
	sp.Amount = 40
	require.Empty(t, reserve(t, s, sp).Refused)
}

func TestReserve_RefusesNonsense(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	_, err := reserveCost(t.Context(), s, newSpend(-1))
	require.ErrorContains(t, err, "negative")
	bad := newSpend(1)
	bad.Day = "yesterday evening"
	_, err = reserveCost(t.Context(), s, bad)
	require.Error(t, err)
}

func TestReserve_MarksFirstRefusal(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	require.True(t, reserve(t, s, newSpend(61)).FirstRefusal)
	require.False(t, reserve(t, s, newSpend(61)).FirstRefusal)
	other := newSpend(61)
	other.Chat = 8
	require.True(t, reserve(t, s, other).FirstRefusal, "each chat has a first one")
	require.True(t, reserve(t, s, newSpend(101)).FirstRefusal, "and so has the day")
	require.False(t, reserve(t, s, newSpend(101)).FirstRefusal)
	next := newSpend(101)
	next.Day = "2026-11-21"
	require.True(t, reserve(t, s, next).FirstRefusal)
}

func TestSettle_ReleasesRest(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	res := reserve(t, s, newSpend(60))
	require.NoError(t, settleCost(t.Context(), s, res.ID, policy.Settlement{Amount: 15, In: 10, Out: 3}))
	require.EqualValues(t, 15, spent(t, s, day, 0))
	require.EqualValues(t, 15, spent(t, s, day, 7))
	require.Empty(t, reserve(t, s, newSpend(45)).Refused)
	res = reserve(t, s, newSpend(0))
	require.NoError(t, s.InTx(t.Context(), func(tx store.Tx) error {
		booked, all, err := store.SettleCost(t.Context(), tx, res.ID, policy.Settlement{Amount: 5})
		require.Equal(t, day, booked)
		require.EqualValues(t, 15+45+5, all, "what the day costs by now")
		return err
	}))
	require.Equal(t, policy.CapChat, reserve(t, s, newSpend(1)).Refused)
}

func TestSettle_HappensOnce(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	res := reserve(t, s, newSpend(60))
	require.NoError(t, settleCost(t.Context(), s, res.ID, policy.Settlement{Amount: 15}))
	require.ErrorIs(t, settleCost(t.Context(), s, res.ID, policy.Settlement{}), store.ErrNotFound)
	require.ErrorIs(t, settleCost(t.Context(), s, res.ID+1, policy.Settlement{}), store.ErrNotFound)
	require.EqualValues(t, 15, spent(t, s, day, 7))
}

func TestSettle_BooksHigherCost(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	res := reserve(t, s, newSpend(50))
	require.NoError(t, settleCost(t.Context(), s, res.ID, policy.Settlement{Amount: 70}))
	require.EqualValues(t, 70, spent(t, s, day, 7))
	require.Equal(t, policy.CapChat, reserve(t, s, newSpend(1)).Refused)
}

func TestUsage_ByPurpose(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	for _, amount := range []int64{10, 20} {
		res := reserve(t, s, newSpend(amount))
		require.NoError(t, settleCost(t.Context(), s, res.ID, policy.Settlement{Amount: amount / 2, In: amount, Out: 1}))
	}
	ask := newSpend(30)
	ask.Purpose = "ask"
	reserve(t, s, ask)
	other := newSpend(5)
	other.Day = "2026-11-19"
	reserve(t, s, other)

	list, err := store.UsageByPurpose(t.Context(), s.DB(), day)
	require.NoError(t, err)
	require.Equal(t, []store.Usage{
		{Purpose: "ask", Amount: 30, Calls: 1, Open: 1},
		{Purpose: "reply", Amount: 15, Calls: 2, In: 30, Out: 2},
	}, list)
}

// Many callers, in three processes as far as Postgres can tell, reserve and settle random amounts; some die in between.
// At no moment is more committed than a cap allows, and in the end the sums are what the calls add up to.
func TestReserve_ConcurrentStaysInCap(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			const dayCap, chatCap, agentCap, runCap, chats = 4000, 1500, 1700, 900, 4
			dsn := storetest.DSN(t)
			var all sync.WaitGroup
			var processes []*store.Store
			for process := range uint64(3) {
				s, err := store.Open(t.Context(), dsn)
				require.NoError(t, err)
				t.Cleanup(s.Close)
				processes = append(processes, s)
				for caller := range uint64(6) {
					r := rand.New(rand.NewPCG(seed, process*100+caller))
					all.Go(func() {
						for range 40 {
							amount := r.Int64N(100)
							res, err := reserveCost(t.Context(), s, policy.SpendRequest{
								Day: day, Chat: store.ChatID(r.Int64N(chats)), Purpose: "reply", Model: "openai/m",
								Amount: amount, DayCap: dayCap, ChatCap: chatCap,
								Agent: fmt.Sprint("agent", r.Int64N(3)), Run: fmt.Sprint(r.Int64N(10)), AgentCap: agentCap, RunCap: runCap,
							})
							checkCaps(t, s, dayCap, chatCap, chats)
							checkOtherCaps(t, s, map[policy.Cap]int64{policy.CapAgent: agentCap, policy.CapRun: runCap})
							if err != nil || res.Refused != "" || r.IntN(4) == 0 { // the last: the process died
								report(t, err)
								continue
							}
							report(t, settleCost(t.Context(), s, res.ID, policy.Settlement{Amount: r.Int64N(amount + 1)}))
							checkCaps(t, s, dayCap, chatCap, chats)
						}
					})
				}
			}
			all.Wait()
			for _, s := range processes {
				s.Close()
			}

			s, err := store.Open(t.Context(), dsn)
			require.NoError(t, err)
			t.Cleanup(s.Close)
			var deadlocks int
			require.NoError(t, s.DB().QueryRow(t.Context(),
				"select deadlocks from pg_stat_database where datname = current_database()").Scan(&deadlocks))
			require.Zero(t, deadlocks, "all take the rows in one order")
			for chat := range int64(chats) {
				require.Equal(t, sumOfCalls(t, s, chat), spent(t, s, day, store.ChatID(chat)))
			}
			require.Greater(t, spent(t, s, day, 0), int64(dayCap/2), "the caps were worth asking for")
			res := reserve(t, s, policy.SpendRequest{Day: day, Amount: dayCap, DayCap: dayCap})
			require.Equal(t, policy.CapDay, res.Refused)
			require.False(t, res.FirstRefusal, "the storm ran into the day's cap")
		})
	}
}

func report(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// checkCaps checks that neither a chat nor the day has spent more than its cap, while calls are running.
func checkCaps(t *testing.T, s *store.Store, dayCap, chatCap, chats int64) {
	for chat := range chats {
		limit := chatCap
		if chat == 0 {
			limit = dayCap
		}
		amount, err := store.Spent(context.WithoutCancel(t.Context()), s.DB(), day, store.ChatID(chat))
		report(t, err)
		if amount > limit {
			t.Errorf("chat %d: %d committed, cap %d", chat, amount, limit)
		}
	}
}

// checkOtherCaps checks that no budget of these caps has more committed than the cap.
func checkOtherCaps(t *testing.T, s *store.Store, caps map[policy.Cap]int64) {
	for name, limit := range caps {
		var most int64
		report(t, s.DB().QueryRow(context.WithoutCancel(t.Context()), "select coalesce(max(committed), 0) from budgets where cap = $1",
			name).Scan(&most))
		if most > limit {
			t.Errorf("%s: %d committed, cap %d", name, most, limit)
		}
	}
}

// sumOfCalls returns the sum of the costs of all calls of a chat; for chat 0 of all chats.
func sumOfCalls(t *testing.T, s *store.Store, chat int64) (sum int64) {
	t.Helper()
	const sql = "select coalesce(sum(coalesce(cost, reserved)), 0)::bigint from usage where day = $1::date and $2::bigint in (0, chat_id)"
	require.NoError(t, s.DB().QueryRow(t.Context(), sql, day, chat).Scan(&sum))
	return sum
}

func reserveCost(ctx context.Context, s *store.Store, sp policy.SpendRequest) (res policy.Reservation, _ error) {
	err := s.InTx(ctx, func(tx store.Tx) (err error) {
		res, err = store.ReserveCost(ctx, tx, sp)
		return err
	})
	return res, err
}

func settleCost(ctx context.Context, s *store.Store, id int64, st policy.Settlement) error {
	return s.InTx(ctx, func(tx store.Tx) error {
		_, _, err := store.SettleCost(ctx, tx, id, st)
		return err
	})
}

func TestReserve_RefusedIsNotCharged(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	reserve(t, s, newSpend(50))
	require.Equal(t, policy.CapChat, reserve(t, s, newSpend(11)).Refused)
	require.EqualValues(t, 50, spent(t, s, day, 0))
	require.EqualValues(t, 50, spent(t, s, day, 7))
	var calls int
	require.NoError(t, s.DB().QueryRow(t.Context(), "select count(*) from usage").Scan(&calls))
	require.Equal(t, 1, calls, "what was refused is not listed")
}

// statementCounter counts the statements that a connection is given.
type statementCounter struct{ n atomic.Int64 }

func (c *statementCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}

func (*statementCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestReserve_LocksDayBriefly(t *testing.T) {
	t.Parallel()
	var counter statementCounter
	config := storetest.New(t).Pool().Config()
	config.ConnConfig.Tracer = &counter
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	s, err := store.New(t.Context(), pool)
	require.NoError(t, err)
	reserve(t, s, newSpend(1))
	before := counter.n.Load()
	reserve(t, s, newSpend(1))
	require.EqualValues(t, 3, counter.n.Load()-before, "begin, the charge, commit")
}
