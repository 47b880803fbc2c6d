package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"multis/appservice"
	"multis/config"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/ops/metrics"
	"multis/ops/setup"
	"multis/store"
)

// healthCmd asks the running multis whether it is ready.
type healthCmd struct{}

// Run asks once.
func (healthCmd) Run(ctx context.Context, global *cli) error {
	cfg, err := config.Load(global.Config)
	if err != nil {
		return err
	}
	return health.CheckReady(ctx, cfg.Appservice.LocalAddr())
}

// newHealthChecker returns the checker of an installation, for /health, /status and multis status.
func newHealthChecker(cfg *config.Config, db store.DB) *health.Checker {
	homeserver := appservice.NewInspector(doctor.AccessOf(cfg))
	return &health.Checker{
		Config:    cfg,
		DB:        db,
		FreeBytes: doctor.FreeBytes,
		Now:       time.Now,
		Ping: func(ctx context.Context) error {
			_, err := homeserver.Ping(ctx)
			return err
		},
	}
}

// newMetrics returns the metrics of this process. toolName returns the name of a tool if there is such a tool, else another.
func newMetrics(cfg *config.Config, st *store.Store, work *health.Checker, inbox *appservice.Inbox,
	toolName func(string) string,
) *metrics.Metrics {
	return metrics.New(metrics.Options{
		DB:       st.DB(),
		Pool:     st.PoolUse,
		Health:   work,
		Zone:     cfg.TimeZone,
		DayCap:   int64(cfg.Budget.PerDay),
		Events:   inbox.EventCounts,
		ToolName: toolName,
		Version:  version,
		Now:      time.Now,
	})
}

// serveOps answers monitors until ctx ends. It returns at once if that is off.
func serveOps(ctx context.Context, c config.Ops, work, measured http.Handler) error {
	hostname, port := c.Address()
	if port == 0 {
		return nil
	}
	listener, err := setup.Listen(ctx, hostname, port)
	if err != nil {
		return fmt.Errorf("listen for monitors: %w; check ops.listen", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /health", work)
	mux.Handle("GET /metrics", measured)
	return listen(ctx, listener, mux)
}
