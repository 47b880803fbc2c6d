package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// What may be spent in the storm, in millionths: the worst case of a call is about 5000.
const (
	stormDay   = 60_000
	stormChat  = 55_000
	stormAgent = 40_000
	stormRun   = 9_000
)

// payingAgent is an agent whose model is paid from the database.
func payingAgent(st *store.Store, model string) (*Agent, error) {
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: model}}, Timeout: time.Minute,
		Prices: map[string]llm.Price{"openai/test": {In: 1_000_000, Out: 1_000_000}},
		Budget: llm.Budget{
			Ledger: databaseLedger{st}, DayCap: stormDay, ChatCap: stormChat, AgentCap: stormAgent, RunCap: stormRun, Today: func() string {
				return "2026-11-20"
			},
		},
	})
	if err != nil {
		return nil, err
	}
	m, err := models.Open([]string{"openai/test"}, "")
	if err != nil {
		return nil, err
	}
	found := search.New(st)
	return New(Options{
		Store:    st,
		Search:   found,
		Name:     "Nora",
		Zone:     time.UTC,
		Tools:    tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{Search: found}),
		Personas: persona.Set{All: []persona.Persona{{ID: "nora"}}, Model: m},
		Box: outbox.New(st, outbox.Settings{
			Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
			Name:     "Nora",
			Disclose: func(string) bool { return true },
		}, nil),
	}), nil
}

// Questions are answered in processes beside each other, each killed at some moment between two writes or while its model thinks, and gone
// on with by others. At no moment is more committed than a cap allows, and in the end what is committed is what the calls add up to.
func TestSpend_StaysInCapsThroughKills(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(5, 6))
	var mu sync.Mutex
	next := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	b := setup(t, llm.None{})
	var victims sync.Map // those of each process
	var thinking atomic.Int64
	server := llmtest.Start(t, func(context.Context, llmtest.Request) llmtest.Reply {
		victims.Range(func(_, v any) bool {
			victim, ok := v.(*storetest.FaultInjector)
			for range thinking.Load() {
				victim.Reach("while a model thinks")
			}
			return ok
		})
		reply := calls("search_docs", map[string]string{"query": fmt.Sprint("piano ", next(1000))})
		if next(3) == 0 {
			reply = llmtest.Reply{Text: answerJSON("Nobody knows.", 0, "")}
		}
		reply.In, reply.Out = int64(next(3000)), int64(next(300))
		return reply
	})
	const later = 10_000 // than all writes of the first process, which dies while its model thinks
	thinking.Store(later)
	first := storetest.NewFaultInjector(later)
	victims.Store("first", first)
	asked := b.storeQuestion("what does an upright piano cost?")
	require.Equal(t, "while a model thinks", first.Run(t, b.store, killDatabase, killPaid+"="+server.URL,
		fmt.Sprintf("%s=%d", killMessage, asked.ID)))
	thinking.Store(20) // from now on a process dies about as likely while a model thinks as between two writes
	var all sync.WaitGroup
	for process := range 3 {
		var asked []store.Message
		for range 8 {
			asked = append(asked, b.storeQuestion("what does a grand piano cost?"))
		}
		all.Go(func() {
			for _, m := range asked {
				v := storetest.NewFaultInjector(1 + next(80))
				victims.Store(process, v)
				v.Run(t, b.store, killDatabase, killPaid+"="+server.URL, fmt.Sprintf("%s=%d", killMessage, m.ID))
				b.withinCaps()
				if next(2) == 0 {
					continue // nobody goes on with it
				}
				again, err := payingAgent(b.store, server.URL)
				if err == nil {
					err = again.Questions.Ask(ctx, b.admin, m, m.Body)
				}
				var pg *pgconn.PgError // the dead process' connection may still hold a row for a moment
				if err != nil && !errors.As(err, &pg) {
					t.Error(err)
				}
				b.withinCaps()
			}
		})
	}
	all.Wait()
	b.withinCaps()
	var purses, wrong, open, refused int
	require.NoError(t, b.store.DB().QueryRow(ctx,
		`select count(*), count(*) filter (where b.committed <> coalesce((select sum(coalesce(cost, reserved)) from usage u
			where case b.cap when 'day' then true when 'agent' then u.agent = b.subject when 'chat' then u.chat_id::text = b.subject else u.run = b.subject end), 0)),
		(select count(*) from usage where settled_at is null), count(*) filter (where refused_at is not null) from budgets b`).Scan(&purses,
		&wrong, &open, &refused))
	require.Greater(t, purses, 10)
	require.Zero(t, wrong, "what is committed is what the calls add up to")
	require.NotZero(t, open, "somebody died while his model thought")
	require.NotZero(t, refused, "the caps were reached")
	t.Logf("%d purses, %d calls never settled, %d caps refused", purses, open, refused)
}
