// Package trace sends the spans of package internal/trace to a collector of OpenTelemetry, by OTLP over HTTP.
//
// The exporter is our own: that of OpenTelemetry brings all of gRPC into the program. Spans that a collector does not take are dropped, so
// that a slow one never delays an answer.
package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/protobuf/proto"

	"multis/internal/trace"
)

// Options configure Start.
type Options struct {
	// Endpoint is the base address of the collector, such as http://127.0.0.1:4318. Empty means that nothing is traced.
	Endpoint string
	Headers  map[string]string // sent to the collector, such as a key
	Version  string            // of multis
}

// tracesPath is where a collector takes spans.
const tracesPath = "/v1/traces"

const (
	sendTimeout = 10 * time.Second
	stopTimeout = 5 * time.Second
	logInterval = time.Minute // the least time between two log lines about a collector that takes nothing
)

// Start begins to trace this process. stop sends what is left and ends it.
func Start(ctx context.Context, o Options) (stop func(), err error) {
	if o.Endpoint == "" {
		return func() {}, nil
	}
	address, err := url.Parse(strings.TrimSuffix(o.Endpoint, "/"))
	if err != nil {
		return nil, fmt.Errorf("read the address for traces: %w", err)
	}
	if !strings.HasSuffix(address.Path, tracesPath) {
		address.Path += tracesPath
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&exporter{address: address.String(), headers: o.Headers, log: zerolog.Ctx(ctx)}),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "multis"), attribute.String("service.version", o.Version),
		)),
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
	)
	trace.Use(provider.Tracer("multis"))
	return func() {
		trace.Use(nil)
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = provider.Shutdown(ending) // the exporter logs why spans were not taken
	}, nil
}

// exporter sends spans to a collector.
type exporter struct {
	address string
	headers map[string]string
	log     *zerolog.Logger
	client  http.Client

	mu       sync.Mutex
	loggedAt time.Time
}

// ExportSpans sends spans. What the collector does not take is dropped, which the log says at most once a minute.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := proto.Marshal(traces(spans))
	if err == nil {
		err = e.send(ctx, body)
	}
	if err == nil || ctx.Err() != nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.loggedAt) > logInterval {
		e.loggedAt = time.Now()
		e.log.Warn().Err(err).Int("spans", len(spans)).Msg("The collector of traces takes nothing, the spans are dropped")
	}
	return nil
}

// send posts a body to the collector.
func (e *exporter) send(ctx context.Context, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range e.headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the collector says %s", resp.Status)
	}
	return nil
}

// Shutdown does nothing: what is left was exported before.
func (e *exporter) Shutdown(context.Context) error { return nil }
