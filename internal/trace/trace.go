// Package trace records what a task does as OpenTelemetry spans. It is off, and then costs nothing, until Use is called.
//
// A span has a name and attributes that are constants, ids, counts and codes. An Attr can be made of nothing else: there is no way to add a
// text, a name, an address or the text of an error.
package trace

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otel "go.opentelemetry.io/otel/trace"
)

// Attr is an attribute of a span.
type Attr struct {
	key    string
	code   string
	number int64
	isCode bool
}

// Number returns an attribute that is an id or a count.
func Number[T ~int | ~int64](key string, value T) Attr { return Attr{key: key, number: int64(value)} }

// Code returns an attribute that is a name of the program or of the configuration, such as a kind, a tool or a model. What does not look
// like one is left out.
func Code[T ~string](key string, value T) Attr {
	return Attr{key: key, code: string(value), isCode: true}
}

// code matches the name of a kind, a state, a model or a tool.
var code = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,79}$`)

// keyValues returns the attributes, without the codes that look like none.
func keyValues(attrs []Attr) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, len(attrs))
	for _, a := range attrs {
		switch {
		case !a.isCode:
			list = append(list, attribute.Int64(a.key, a.number))
		case code.MatchString(a.code):
			list = append(list, attribute.String(a.key, a.code))
		}
	}
	return list
}

// tracer is what records the spans of this process; nil while tracing is off.
var tracer atomic.Pointer[otel.Tracer] //nolint:gochecknoglobals // one process has one tracer, like one log

// Use has the spans recorded by a tracer from now on. Nil turns tracing off.
func Use(t otel.Tracer) {
	if t == nil {
		tracer.Store(nil)
		return
	}
	tracer.Store(&t)
}

// Span is a part of a trace. A nil *Span records nothing.
type Span struct{ span otel.Span }

// StartRoot begins a trace.
func StartRoot(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	t := tracer.Load()
	if t == nil {
		return ctx, nil
	}
	ctx, span := (*t).Start(ctx, name, otel.WithNewRoot(), otel.WithSpanKind(otel.SpanKindConsumer), //nolint:spancheck // Span.End ends it
		otel.WithAttributes(keyValues(attrs)...))
	return ctx, &Span{span} //nolint:spancheck // as above
}

// Start begins a part of the trace of ctx. Outside of a trace it does nothing.
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, *Span) {
	t := tracer.Load()
	if t == nil || !otel.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	ctx, span := (*t).Start(ctx, name, otel.WithSpanKind(otel.SpanKindClient), //nolint:spancheck // Span.End ends it
		otel.WithAttributes(keyValues(attrs)...))
	return ctx, &Span{span} //nolint:spancheck // as above
}

// IsOn reports whether ctx belongs to a trace.
func IsOn(ctx context.Context) bool {
	return tracer.Load() != nil && otel.SpanFromContext(ctx).IsRecording()
}

// Add adds attributes to the span of ctx.
func Add(ctx context.Context, attrs ...Attr) {
	if IsOn(ctx) {
		otel.SpanFromContext(ctx).SetAttributes(keyValues(attrs)...)
	}
}

// ID returns the id of the trace of ctx; empty outside of one.
func ID(ctx context.Context) string {
	if !IsOn(ctx) {
		return ""
	}
	return otel.SpanContextFromContext(ctx).TraceID().String()
}

// Add adds attributes.
func (s *Span) Add(attrs ...Attr) {
	if s != nil {
		s.span.SetAttributes(keyValues(attrs)...)
	}
}

// End ends the span. Of an error it records the type, never the text.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, "")
		s.span.SetAttributes(attribute.String("error.type", errorType(err)))
	}
	s.span.End()
}

// errorType returns the code of an error that has one, else the Go type of its cause.
func errorType(err error) string {
	if coded, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok && code.MatchString(coded.SQLState()) {
		return coded.SQLState()
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return fmt.Sprintf("%T", err)
		}
		err = inner
	}
}
