package main

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"time"

	"multis/agent/heartbeat"
	"multis/agent/persona"
	"multis/config"
	"multis/llm"
	"multis/llm/budget"
	"multis/store"
)

// models holds the opened models of the configuration. Each has a budget.
type models struct {
	all        *llm.Models
	main       llm.Model // llm.model of the configuration
	personas   persona.Set
	heartbeats []heartbeat.Config
	speech     llm.Transcriber
	vision     llm.Model // looks at pictures; llm.None if none is configured
	judge      llm.Model // llm.model for comparing shadow answers; it may spend only half of the day's budget
	answers    llm.Model // answers.judge; nil if that is none, or the model of the agent
	embedders  embedders

	cfg *config.Config
}

// openModels opens all models of the configuration. It connects to none of them.
func openModels(ctx context.Context, cfg *config.Config, st *store.Store) (models, error) {
	m := models{cfg: cfg}
	var err error
	if m.all, err = newModels(cfg, st); err != nil {
		return models{}, err
	}
	if m.main, err = m.open(cfg.LLM.Model); err != nil {
		return models{}, err
	}
	if m.personas, err = newPersonas(cfg, m.all, m.main); err != nil {
		return models{}, err
	}
	if m.heartbeats, err = heartbeatConfigs(cfg, st); err != nil {
		return models{}, err
	}
	if m.speech, err = openSpeech(cfg, st); err != nil {
		return models{}, err
	}
	if m.vision, err = m.open(cfg.Vision.Model); err != nil {
		return models{}, err
	}
	if m.judge, err = openJudge(cfg, st); err != nil {
		return models{}, err
	}
	if len(cfg.LLM.ResolveModels(cfg.Answers.Judge)) > 0 {
		if m.answers, err = m.open(cfg.Answers.Judge); err != nil {
			return models{}, err
		}
	}
	m.embedders, err = openEmbedders(ctx, cfg, st)
	return m, err
}

// open opens a model by its name in the configuration.
func (m models) open(name string) (llm.Model, error) {
	return m.all.Open(m.cfg.LLM.ResolveModels(name), "")
}

// openJudge opens the model that compares shadow answers with the owner's.
func openJudge(cfg *config.Config, st *store.Store) (llm.Model, error) {
	paid := newBudget(cfg, st)
	paid.DayCap /= 2
	all, err := newModelsPaidFrom(cfg, paid)
	if err != nil {
		return nil, err
	}
	return all.Open(cfg.LLM.ResolveModels(cfg.LLM.Model), "")
}

// newModels returns the configured providers and prices, with the budget.
func newModels(cfg *config.Config, st *store.Store) (*llm.Models, error) {
	return newModelsPaidFrom(cfg, newBudget(cfg, st))
}

// newModelsPaidFrom is newModels with another budget.
func newModelsPaidFrom(cfg *config.Config, paid llm.Budget) (*llm.Models, error) {
	prices := map[string]llm.Price{}
	for _, p := range cfg.LLM.Prices {
		prices[p.Model] = llm.Price{In: int64(p.In), Out: int64(p.Out), CacheRead: int64(p.CacheRead), CacheWrite: int64(p.CacheWrite)}
	}
	return llm.New(llm.Options{
		Providers: providers(cfg.LLM),
		Prices:    prices,
		PerDollar: int64(cfg.Budget.PerDollar),
		Timeout:   cfg.LLM.Timeout,
		MaxTokens: cfg.LLM.MaxTokens,
		Budget:    paid,
	})
}

// checkModel returns an error if a configured model cannot be used, for example because its key is missing. It needs no database.
func checkModel(cfg *config.Config) error {
	models, err := newModels(cfg, nil)
	if err != nil {
		return err
	}
	if _, err := models.Open(cfg.LLM.ResolveModels(cfg.LLM.Model), ""); err != nil {
		return modelProblem(cfg, "llm.model", err)
	}
	if _, err := models.Open(cfg.LLM.ResolveModels(cfg.Vision.Model), ""); err != nil {
		return modelProblem(cfg, "vision.model", err)
	}
	if _, err := models.Open(cfg.LLM.ResolveModels(cfg.Answers.Judge), ""); err != nil {
		return modelProblem(cfg, "answers.judge", err)
	}
	_, err = newPersonaList(cfg, models)
	return err
}

// modelProblem returns the error for a key whose model cannot be used. It names the place where the key is set.
func modelProblem(cfg *config.Config, key string, err error) error {
	return cfg.Problem(key, strings.TrimPrefix(err.Error(), llm.ErrConfig.Error()+": "))
}

// newBudget returns the budget of all calls. It has no price; the caller sets it.
func newBudget(cfg *config.Config, st *store.Store) llm.Budget {
	return llm.Budget{
		Ledger: budget.New(st, int64(cfg.Budget.PerDay)), DayCap: int64(cfg.Budget.PerDay), ChatCap: int64(cfg.Budget.PerChatDay),
		AgentCap: int64(cfg.Budget.PerAgentDay), RunCap: int64(cfg.Budget.PerRun),
		Today: func() string { return time.Now().In(cfg.TimeZone).Format(time.DateOnly) },
	}
}

// withModel returns the settings with another model in place of llm.model. The keys next to llm.model stay those of the
// provider that they were written for.
func withModel(l config.LLM, name string) config.LLM {
	own := l.Providers
	l.Providers = map[string]config.Provider{}
	maps.Copy(l.Providers, own)
	if provider, _, isModel := strings.Cut(l.Model, "/"); isModel {
		p := l.Providers[provider]
		p.BaseURL = cmp.Or(l.BaseURL, p.BaseURL)
		p.APIKey = cmp.Or(l.APIKey, p.APIKey)
		p.Local = p.Local || l.Local
		l.Providers[provider] = p
	}
	l.Model = name
	l.BaseURL = ""
	l.APIKey = ""
	l.Local = false
	return l
}

// providers returns the configured providers. The keys next to llm.model override the settings of its provider.
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

// openSpeech opens the model that transcribes voice notes.
func openSpeech(cfg *config.Config, st *store.Store) (llm.Transcriber, error) {
	budget := newBudget(cfg, st)
	budget.Local = cfg.Speech.Local
	return llm.OpenSpeech(llm.SpeechConfig{
		Model:     cfg.Speech.Model,
		BaseURL:   cfg.Speech.BaseURL,
		APIKey:    cfg.Speech.APIKey.Value(),
		Timeout:   cfg.Speech.Timeout,
		PerMinute: int64(cfg.Speech.PricePerMinute),
	}, budget)
}
