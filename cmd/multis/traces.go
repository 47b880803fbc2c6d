package main

import (
	"cmp"
	"context"
	"os"

	"multis/config"
	"multis/ops/trace"
	"multis/store"
)

// startTraces begins to send traces if a collector is configured, by traces.endpoint or by the variable that OpenTelemetry has for it.
func startTraces(ctx context.Context, t config.Traces) (stop func(), err error) {
	headers := map[string]string{}
	if t.Authorization != "" {
		headers["Authorization"] = t.Authorization.Value()
	}
	return trace.Start(ctx, trace.Options{
		Endpoint: cmp.Or(t.Endpoint, os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")),
		Headers:  headers,
		Version:  version,
	})
}

// serveTraced is serveUntilChange, with traces if a collector is configured.
func serveTraced(ctx context.Context, source configSource, cfg *config.Config, st *store.Store) (next *config.Config, err error) {
	stop, err := startTraces(ctx, cfg.Traces)
	if err != nil {
		return nil, err
	}
	defer stop()
	return serveUntilChange(ctx, source, cfg, st)
}
