package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"multis/internal/trace"
)

// tracer makes a span of each statement of a trace: what it does and how many rows it had, never its text or arguments.
type tracer struct{}

// spanKey is the key of a context's *trace.Span.
type spanKey struct{}

// TraceQueryStart begins the span of a statement.
func (tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !trace.IsOn(ctx) {
		return ctx
	}
	operation := operationOf(data.SQL)
	ctx, span := trace.Start(ctx, "sql "+operation, trace.Code("db.system.name", "postgresql"), trace.Code("db.operation.name", operation))
	return context.WithValue(ctx, spanKey{}, span)
}

// TraceQueryEnd ends it.
func (tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	span, ok := ctx.Value(spanKey{}).(*trace.Span)
	if !ok {
		return
	}
	span.Add(trace.Number("db.response.returned_rows", data.CommandTag.RowsAffected()))
	span.End(data.Err)
}

// TraceBatchStart begins the span of a batch.
func (tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if !trace.IsOn(ctx) {
		return ctx
	}
	ctx, span := trace.Start(ctx, "sql batch", trace.Code("db.system.name", "postgresql"), trace.Number("db.operation.batch.size", data.Batch.Len()))
	return context.WithValue(ctx, spanKey{}, span)
}

// TraceBatchQuery does nothing: a batch is one span.
func (tracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd ends it.
func (tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	if span, ok := ctx.Value(spanKey{}).(*trace.Span); ok {
		span.End(data.Err)
	}
}

// operationOf returns the first word of a statement if it is a known one.
func operationOf(sql string) string {
	word, _, _ := strings.Cut(strings.TrimLeft(sql, " \t\n"), " ")
	switch word = strings.ToLower(strings.TrimSuffix(word, ";")); word {
	case "select", "insert", "update", "delete", "with", "begin", "commit", "rollback", "set", "savepoint", "release", "notify", "copy":
		return word
	default:
		return "other"
	}
}
