package llm

import (
	"context"
	"strings"

	"multis/internal/trace"
)

// callSpan is the span of one call of a model, with the names of OpenTelemetry's conventions for generative AI.
type callSpan struct {
	span  *trace.Span // nil outside of a trace
	usage Usage
	stop  StopReason
	model string // that answered; empty for the one that was called
	err   error
}

// startCall begins the span of a call of a model.
func startCall(ctx context.Context, model string, r Request) (context.Context, *callSpan) {
	provider, name, _ := strings.Cut(model, "/")
	ctx, span := trace.Start(ctx, "chat",
		trace.Code("gen_ai.operation.name", "chat"),
		trace.Code("gen_ai.provider.name", provider),
		trace.Code("gen_ai.request.model", name),
		trace.Code("multis.purpose", r.Purpose),
		trace.Number("gen_ai.request.max_tokens", r.MaxTokens),
		trace.Number("multis.messages", len(r.Messages)),
		trace.Number("multis.tools", len(r.Tools)),
	)
	return ctx, &callSpan{span: span}
}

// watch returns yield, which notes what the span records of an answer.
func (c *callSpan) watch(yield func(Delta, error) bool) func(Delta, error) bool {
	if c.span == nil {
		return yield
	}
	return func(d Delta, err error) bool {
		if d.Usage != (Usage{}) {
			c.usage = d.Usage
		}
		if d.Stop != "" {
			c.stop, c.model = d.Stop, d.Model
		}
		if err != nil {
			c.err = err
		}
		return yield(d, err)
	}
}

// end ends the span.
func (c *callSpan) end() {
	if c.span == nil {
		return
	}
	_, name, _ := strings.Cut(c.model, "/")
	c.span.Add(
		trace.Number("gen_ai.usage.input_tokens", c.usage.In),
		trace.Number("gen_ai.usage.output_tokens", c.usage.Out),
		trace.Code("gen_ai.response.finish_reasons", c.stop),
		trace.Code("gen_ai.response.model", name),
	)
	c.span.End(c.err)
}
