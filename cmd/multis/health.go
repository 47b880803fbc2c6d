package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"multis/admin"
	"multis/appservice"
	"multis/config"
	"multis/ops/doctor"
	"multis/ops/health"
	"multis/ops/metrics"
	"multis/ops/setup"
	"multis/ops/web"
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

// newPage returns the web page; nil if it is off.
func newPage(ctx context.Context, as *assistant, doctors admin.Examiner, work *health.Checker) (*web.Site, error) {
	if as.cfg.Ops.Web == "" {
		return nil, nil //nolint:nilnil // it is off
	}
	return web.New(ctx, web.Options{
		Store:     as.store,
		Room:      as.admin.Web,
		Memory:    as.admin.Web,
		Questions: as.admin.Web,
		Examiner:  doctors,
		Health:    work,
		Documents: as.documents,
		Address:   as.cfg.Ops.Web,
		Owner:     as.cfg.Owner,
		Name:      as.cfg.Name,
		Defaults:  as.defaults,
		Zone:      as.cfg.TimeZone,
		Currency:  as.cfg.Budget.Currency,
		Now:       time.Now,
	})
}

// serveOps answers monitors and shows the web page until ctx ends. It returns at once if that is off. page may be nil.
func serveOps(ctx context.Context, c config.Ops, work, measured http.Handler, page *web.Site) error {
	hostname, port := c.Address()
	if port == 0 {
		return nil
	}
	listener, err := setup.Listen(ctx, hostname, port)
	if err != nil {
		return fmt.Errorf("listen for monitors: %w; check ops.listen", err)
	}
	return listen(ctx, listener, opsRoutes(work, measured, page))
}

// opsRoutes returns what is answered beside the homeserver's port. If a reverse proxy shows the page under a name, there is the page only
// under every name but this machine's: who comes from elsewhere is no monitor.
func opsRoutes(work, measured http.Handler, page *web.Site) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /health", work)
	mux.Handle("GET /metrics", measured)
	switch {
	case page == nil:
		return mux
	case isLoopback(page.Host()):
		mux.Handle("/", page)
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isLoopback((&url.URL{Host: r.Host}).Hostname()) {
			mux.ServeHTTP(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host is this machine, as the browser sees it.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
