package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"multis/config"
	"multis/jobs"
	"multis/llm"
	"multis/store"
)

// newModels makes models as they are configured, each paid for from the budget.
func newModels(cfg *config.Config, st *store.Store) (*llm.Models, error) {
	prices := map[string]llm.Price{}
	for _, p := range cfg.LLM.Prices {
		prices[p.Model] = llm.Price{In: int64(p.In), Out: int64(p.Out), CacheRead: int64(p.CacheRead), CacheWrite: int64(p.CacheWrite)}
	}
	return llm.New(llm.Options{
		Providers: providers(cfg.LLM), Prices: prices, PerDollar: int64(cfg.Budget.PerDollar), Timeout: cfg.LLM.Timeout, Budget: newBudget(cfg, st),
	})
}

// checkModel tells what is missing for the model in use, before anything is started for it.
func checkModel(cfg *config.Config) error {
	models, err := newModels(cfg, nil)
	if err != nil {
		return err
	}
	if _, err := models.Open(cfg.LLM.Names(cfg.LLM.Model), ""); err != nil {
		return err
	}
	_, err = personas(cfg, models)
	return err
}

// newBudget is what every kind of call is paid from. Who calls adds the price.
func newBudget(cfg *config.Config, st *store.Store) llm.Budget {
	return llm.Budget{
		Ledger: ledger{st, int64(cfg.Budget.PerDay)}, DayCap: int64(cfg.Budget.PerDay), ChatCap: int64(cfg.Budget.PerChatDay),
		AgentCap: int64(cfg.Budget.PerAgentDay), RunCap: int64(cfg.Budget.PerRun),
		Today: func() string { return time.Now().In(cfg.TimeZone).Format(time.DateOnly) },
	}
}

// providers are those of their own section, and that of the one model with what stands beside it.
func providers(l config.LLM) map[string]llm.Provider {
	list := map[string]llm.Provider{}
	for name, p := range l.Providers {
		list[name] = llm.Provider{Protocol: llm.Protocol(p.Type), BaseURL: p.BaseURL, APIKey: p.APIKey.Value(), Local: p.Local}
	}
	if name, _, isModel := strings.Cut(l.Model, "/"); isModel {
		p := list[name]
		if l.BaseURL != "" {
			p.BaseURL = l.BaseURL
		}
		if l.APIKey != "" {
			p.APIKey = l.APIKey.Value()
		}
		p.Local = p.Local || l.Local
		list[name] = p
	}
	return list
}

// ledger keeps a model's budget in the database.
type ledger struct {
	st     *store.Store
	dayCap int64
}

// Reserve sets the worst case of a call aside. The first refusal by a cap is told in the admin room.
func (l ledger) Reserve(ctx context.Context, s llm.Spend) (llm.Reservation, error) {
	var res store.Reservation
	err := l.st.InTx(ctx, func(tx store.Tx) (err error) {
		res, err = store.ReserveCost(ctx, tx, store.Spend(s))
		if err != nil || res.Refused == "" {
			return err
		}
		news := res.First
		if res.Refused == store.CapDay { // the filling of an index stops at half a day's cap, which is no news
			if s.DayCap < l.dayCap {
				return nil
			}
			if news, err = store.MarkTold(ctx, tx, s.Day, 0, 100); err != nil {
				return err
			}
		}
		if !news {
			return nil
		}
		return tellBudget(ctx, tx, jobs.BudgetArgs{Day: s.Day, Percent: 100, Cap: res.Refused, Chat: s.Chat, Agent: s.Agent})
	})
	return llm.Reservation(res), err
}

// tellBudget has the owner told what became of a budget, and the hooks.
func tellBudget(ctx context.Context, tx store.Tx, news jobs.BudgetArgs) error {
	if err := jobs.Enqueue(ctx, tx, news); err != nil {
		return err
	}
	ref := fmt.Sprintf("%s/%s/%d", news.Day, news.Cap, news.Percent)
	switch news.Cap {
	case store.CapChat:
		ref += fmt.Sprintf("/%d", news.Chat)
	case store.CapAgent:
		ref += "/" + news.Agent
	}
	return jobs.Emit(ctx, tx, store.HookBudget, ref)
}

// tellAt are the parts of the day's cap, in per cent, that the owner is told of once they are spent, the greatest first.
var tellAt = []int64{80, 50}

// Settle books what a call really cost. A settlement that is lost leaves the worst case booked.
func (l ledger) Settle(ctx context.Context, reservation int64, s llm.Settlement) error {
	day, spent, err := store.SettleCost(ctx, l.st.Lazy(), reservation, store.Settlement(s))
	if err != nil || s.Amount == 0 || l.dayCap == 0 {
		return err
	}
	for _, percent := range tellAt {
		if amount := l.dayCap * percent / 100; spent >= amount {
			return l.tellSpent(ctx, day, amount, percent)
		}
	}
	return nil
}

// tellSpent has the owner told, once, that a part of the day's cap is spent.
func (l ledger) tellSpent(ctx context.Context, day string, amount, percent int64) error {
	return l.st.InTx(ctx, func(tx store.Tx) error {
		news, err := store.MarkTold(ctx, tx, day, amount, int(percent))
		if err != nil || !news {
			return err
		}
		return tellBudget(ctx, tx, jobs.BudgetArgs{Day: day, Percent: int(percent), Cap: store.CapDay})
	})
}
