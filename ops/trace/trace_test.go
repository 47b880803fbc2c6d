package trace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"multis/internal/trace"
	ops "multis/ops/trace"
)

// collector is a small collector of OpenTelemetry.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	headers http.Header
}

func startCollector(t *testing.T, status int) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &data) != nil {
			http.Error(w, "no traces", http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.headers = r.Header
		for _, resource := range data.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(c.Close)
	return c
}

type secretError struct{ word string }

func (e secretError) Error() string { return e.word }

// The tests share the tracer of the process, so they run one after the other.
func TestStart_SendsSpans(t *testing.T) { //nolint:paralleltest // they share the tracer of the process
	c := startCollector(t, http.StatusOK)
	ctx, _ := trace.StartRoot(t.Context(), "job turn")
	require.Empty(t, trace.ID(ctx), "nothing is traced yet")
	key := map[string]string{"Authorization": "Bearer abc"}
	stop, err := ops.Start(t.Context(), ops.Options{Endpoint: c.URL + "/", Headers: key, Version: "1.2"})
	require.NoError(t, err)
	_, outside := trace.Start(t.Context(), "sql select")
	require.Nil(t, outside, "outside of a job nothing is recorded")
	ctx, root := trace.StartRoot(t.Context(), "job turn", trace.Number("multis.job.id", 7), trace.Code("multis.job.kind", "turn"))
	id := trace.ID(ctx)
	require.Len(t, id, 32)
	_, child := trace.Start(ctx, "execute_tool", trace.Code("gen_ai.tool.name", "a text with Zxqv"))
	child.End(fmt.Errorf("call: %w", secretError{"Zxqv"}))
	root.End(nil)
	stop()
	require.Len(t, c.spans, 2)
	tool, job := c.spans[0], c.spans[1]
	require.Equal(t, id, fmt.Sprintf("%x", job.GetTraceId()))
	require.Equal(t, job.GetTraceId(), tool.GetTraceId())
	require.Equal(t, job.GetSpanId(), tool.GetParentSpanId())
	require.Equal(t, tracepb.Status_STATUS_CODE_ERROR, tool.GetStatus().GetCode())
	require.NotContains(t, tool.String(), "Zxqv")
	require.Contains(t, tool.String(), "secretError")
	require.Equal(t, int64(7), job.GetAttributes()[0].GetValue().GetIntValue())
	require.Equal(t, "Bearer abc", c.headers.Get("Authorization"))
	require.LessOrEqual(t, job.GetStartTimeUnixNano(), tool.GetStartTimeUnixNano())
	require.False(t, trace.IsOn(ctx), "it has ended")
}

func TestStart_SlowCollectorDelaysNothing(t *testing.T) { //nolint:paralleltest // they share the tracer of the process
	c := startCollector(t, http.StatusServiceUnavailable)
	stop, err := ops.Start(t.Context(), ops.Options{Endpoint: c.URL})
	require.NoError(t, err)
	for range 5000 { // more than the queue takes
		_, span := trace.StartRoot(t.Context(), "job turn")
		span.End(errors.New("x"))
	}
	stop()
	require.NotEmpty(t, c.spans)
	c.Close()
	stop, err = ops.Start(t.Context(), ops.Options{Endpoint: c.URL})
	require.NoError(t, err)
	_, span := trace.StartRoot(t.Context(), "job turn")
	span.End(nil)
	stop()
}

func TestStart_IsOffWithoutEndpoint(t *testing.T) { //nolint:paralleltest // they share the tracer of the process
	stop, err := ops.Start(t.Context(), ops.Options{})
	require.NoError(t, err)
	defer stop()
	ctx, span := trace.StartRoot(t.Context(), "job turn", trace.Number("multis.job.id", 7))
	require.Nil(t, span)
	require.Equal(t, t.Context(), ctx)
	span.Add(trace.Code("multis.job.kind", "turn"))
	span.End(nil)
}

// BenchmarkSpan measures a span of a trace, and the same call while traces are off.
func BenchmarkSpan(b *testing.B) {
	one := func(ctx context.Context) {
		_, span := trace.Start(ctx, "chat", trace.Code("gen_ai.request.model", "qwen3:8b"), trace.Number("gen_ai.request.max_tokens", 1024))
		span.Add(trace.Number("gen_ai.usage.input_tokens", 100))
		span.End(nil)
	}
	b.Run("off", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			one(b.Context())
		}
	})
	b.Run("on", func(b *testing.B) {
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
		defer server.Close()
		stop, err := ops.Start(b.Context(), ops.Options{Endpoint: server.URL})
		require.NoError(b, err)
		defer stop()
		ctx, root := trace.StartRoot(b.Context(), "job turn")
		defer root.End(nil)
		b.ReportAllocs()
		for b.Loop() {
			one(ctx)
		}
	})
}
