package main

import (
	"strings"
	"time"

	"multis/budget"
	"multis/config"
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
		Ledger: budget.New(st, int64(cfg.Budget.PerDay)), DayCap: int64(cfg.Budget.PerDay), ChatCap: int64(cfg.Budget.PerChatDay),
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
