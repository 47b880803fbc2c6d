package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/store"
	"multis/store/storetest"
)

func TestBudget_CapsHoldEndToEnd(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	server := llmtest.Start(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: "yes", In: 200, Out: 50}
	})
	cfg := &config.Config{
		TimeZone: time.UTC, Budget: config.Budget{PerDay: 40_000, PerChatDay: 15_000, PerAgentDay: 25_000, PerRun: 6_000},
		LLM: config.LLM{
			Model: "openai/test", BaseURL: server.URL, Timeout: time.Minute,
			Prices: []config.Price{{Model: "openai/test", In: 1_000_000, Out: 2_000_000}},
		},
	}
	var wg sync.WaitGroup
	for chat := range int64(6) {
		wg.Go(func() {
			models, err := newModels(cfg, st) // separate models and ledger, as in another process
			if err != nil {
				t.Error(err)
				return
			}
			model, err := models.Open(cfg.LLM.ResolveModels(cfg.LLM.Model), "")
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				ctx, cancel := context.WithCancel(context.Background())
				if i%5 == 4 {
					cancel() // a crash before the answer: the worst case stays booked
				}
				_, err := llm.Complete(ctx, model, llm.Request{
					Messages:  []llm.Message{{Role: llm.RoleUser, Text: "do you deliver?"}},
					MaxTokens: 100,
					Purpose:   "reply",
					Chat:      store.ChatID(chat + 1),
				})
				if err != nil && !errors.Is(err, llm.ErrOverBudget) && ctx.Err() == nil {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	day := time.Now().UTC().Format(time.DateOnly)
	for chat := range int64(7) {
		spent, err := store.Spent(context.Background(), st.DB(), day, store.ChatID(chat))
		require.NoError(t, err)
		if chat == 0 {
			require.LessOrEqual(t, spent, int64(40_000), "the day's cap")
			require.Positive(t, spent)
			continue
		}
		require.LessOrEqual(t, spent, int64(15_000), "a chat's cap")
	}
	require.NotEmpty(t, server.Requests())
	require.Less(t, len(server.Requests()), 120, "past the cap no call is made")
}

func TestBudget_DayBeginsAtOwnersMidnight(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Pacific/Kiritimati") // 14 hours ahead
	require.NoError(t, err)
	before := time.Now().In(zone).Format(time.DateOnly)
	today := newBudget(&config.Config{TimeZone: zone}, nil).Today()
	after := time.Now().In(zone).Format(time.DateOnly)
	require.Contains(t, []string{before, after}, today)
}
