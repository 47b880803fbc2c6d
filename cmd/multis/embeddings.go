package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"multis/config"
	"multis/llm"
	"multis/store"
	"multis/store/index"
)

// queryTimeout limits the embedding of a query. The search itself waits less long for it.
const queryTimeout = 5 * time.Second

// embedders holds the embedding model twice, with different budgets. Both fields are nil without embeddings.
type embedders struct {
	queries  llm.Embedder // may spend the whole budget of the day
	passages llm.Embedder // may spend half of it, so that indexing leaves money for answers
}

// openEmbedders opens the embedding model, if one is configured and the database has pgvector.
func openEmbedders(ctx context.Context, cfg *config.Config, st *store.Store) (embedders, error) {
	e := cfg.Embeddings
	if e.Model == config.NoModel {
		return embedders{}, nil
	}
	has, err := index.HasVectors(ctx, st.DB())
	if err != nil {
		return embedders{}, err
	}
	if !has {
		zerolog.Ctx(ctx).Warn().Msg("The database has no pgvector, so searches use words only. Run CREATE EXTENSION vector as an administrator, then restart multis")
		return embedders{}, nil
	}
	open := func(purpose string, timeout time.Duration, dayCap config.Money) (llm.Embedder, error) {
		budget := newBudget(cfg, st)
		budget.Price = llm.Price{In: int64(e.PricePerMTok)}
		budget.Local = e.Local
		budget.DayCap = int64(dayCap)
		return llm.OpenEmbedder(llm.EmbedConfig{
			Model:      e.Model,
			BaseURL:    e.BaseURL,
			APIKey:     e.APIKey.Value(),
			Dimensions: e.Dimensions,
			Timeout:    timeout,
			Purpose:    purpose,
		}, budget)
	}
	var both embedders
	if both.queries, err = open("search", queryTimeout, cfg.Budget.PerDay); err != nil {
		return embedders{}, err
	}
	both.passages, err = open("index", time.Minute, cfg.Budget.PerDay/2)
	return both, err
}
