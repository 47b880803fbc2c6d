package trace

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// traces returns spans of one provider as a message. On the wire it is the same as the request that a collector takes.
func traces(spans []sdktrace.ReadOnlySpan) *tracepb.TracesData {
	if len(spans) == 0 {
		return &tracepb.TracesData{}
	}
	list := make([]*tracepb.Span, len(spans))
	for i, s := range spans {
		list[i] = span(s)
	}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: attributes(spans[0].Resource().Attributes())},
		ScopeSpans: []*tracepb.ScopeSpans{{
			Scope: &commonpb.InstrumentationScope{Name: spans[0].InstrumentationScope().Name},
			Spans: list,
		}},
	}}}
}

func span(s sdktrace.ReadOnlySpan) *tracepb.Span {
	id, traceID := s.SpanContext().SpanID(), s.SpanContext().TraceID()
	p := &tracepb.Span{
		TraceId:           traceID[:],
		SpanId:            id[:],
		Name:              s.Name(),
		Kind:              tracepb.Span_SpanKind(s.SpanKind()), //nolint:gosec // both have the same small numbers
		StartTimeUnixNano: uint64(s.StartTime().UnixNano()),
		EndTimeUnixNano:   uint64(s.EndTime().UnixNano()),
		Attributes:        attributes(s.Attributes()),
		Status:            &tracepb.Status{},
	}
	if s.Parent().HasSpanID() {
		parent := s.Parent().SpanID()
		p.ParentSpanId = parent[:]
	}
	if s.Status().Code == codes.Error {
		p.Status.Code = tracepb.Status_STATUS_CODE_ERROR
	}
	return p
}

// attributes returns attributes, which are numbers and strings only.
func attributes(list []attribute.KeyValue) []*commonpb.KeyValue {
	all := make([]*commonpb.KeyValue, len(list))
	for i, a := range list {
		value := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: a.Value.String()}}
		if a.Value.Type() == attribute.INT64 {
			value.Value = &commonpb.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		}
		all[i] = &commonpb.KeyValue{Key: string(a.Key), Value: value}
	}
	return all
}
