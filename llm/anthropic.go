package llm

import (
	"context"
	"encoding/base64"
	"errors"
	"iter"
	"sync/atomic"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

// anthropicMessages speaks Anthropic's Messages protocol.
type anthropicMessages struct {
	model   string
	service anthropic.MessageService
	dialect atomic.Pointer[dialect]
}

func newAnthropic(e endpoint) *adapter {
	m := &anthropicMessages{
		model: e.Model,
		// The service alone, as the whole client would take keys and addresses from the environment too.
		service: anthropic.NewMessageService(option.WithoutEnvironmentDefaults(), option.WithBaseURL(e.BaseURL), option.WithAPIKey(e.APIKey),
			option.WithHTTPClient(newClient(e.Name)), option.WithMaxRetries(0)),
	}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *anthropicMessages) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		stream, err := m.open(ctx, r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer stream.Close()
		var answer anthropicAnswer
		for stream.Next() {
			for _, d := range answer.read(stream.Current()) {
				if !yield(d, nil) {
					return
				}
			}
		}
		var inStream *anthropic.Error
		if err := stream.Err(); errors.As(err, &inStream) {
			code := errorCode([]byte(inStream.RawJSON()))
			e := &Error{Reason: ReasonServer, Code: code}
			if code == "overloaded_error" {
				e.Reason = ReasonOverloaded
			}
			yield(Delta{}, e)
		} else if err != nil {
			yield(Delta{}, err)
		}
	}
}

// open sends the request and returns when the server begins to answer. It retries without the temperature, which newer
// models reject.
func (m *anthropicMessages) open(ctx context.Context, r Request) (*ssestream.Stream[anthropic.MessageStreamEventUnion], error) {
	var d dialect
	if known := m.dialect.Load(); known != nil {
		d = *known
	}
	for {
		params, err := m.params(r, d)
		if err != nil {
			return nil, err
		}
		stream := m.service.NewStreaming(ctx, params)
		if stream.Err() == nil {
			m.dialect.Store(&d)
			return stream, nil
		}
		var refused *statusError
		if errors.As(stream.Err(), &refused) && r.Temperature != 0 {
			if next, ok := d.learn(refused); ok {
				d = next
				continue
			}
		}
		return nil, stream.Err()
	}
}

// params converts a request to the protocol. Tools and instructions are the same in every call, so they are marked for
// the provider's cache. Tools come first in a prompt, so one mark after the instructions covers both.
func (m *anthropicMessages) params(r Request, d dialect) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: m.model, MaxTokens: int64(r.MaxTokens)}
	if p.MaxTokens <= 0 {
		p.MaxTokens = DefaultMaxTokens
	}
	if r.Temperature != 0 && !d.noTemperature {
		p.Temperature = anthropic.Float(r.Temperature)
	}
	for i, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return p, err
		}
		delete(schema, "type") // the SDK sets it to "object"
		t := anthropic.ToolParam{
			Name: tool.Name, Description: anthropic.String(tool.Description),
			InputSchema: anthropic.ToolInputSchemaParam{ExtraFields: schema},
		}
		if i == len(r.Tools)-1 && r.System == "" {
			t.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &t})
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for _, msg := range r.Messages {
		p.Messages = appendAnthropic(p.Messages, msg)
	}
	return p, nil
}

// appendAnthropic appends a message to list. A message with the same role as the last one is merged into it, because the
// protocol requires the results of parallel calls in one message.
func appendAnthropic(list []anthropic.MessageParam, m Message) []anthropic.MessageParam {
	role := anthropic.MessageParamRoleUser
	var blocks []anthropic.ContentBlockParamUnion
	switch m.Role {
	case RoleTool:
		blocks = append(blocks, anthropic.NewToolResultBlock(m.CallID, m.Text, m.IsError))
	default:
		if m.Role == RoleAssistant {
			role = anthropic.MessageParamRoleAssistant
		}
		for _, image := range m.Images {
			blocks = append(blocks, anthropic.NewImageBlockBase64(image.MIME, base64.StdEncoding.EncodeToString(image.Data)))
		}
		if m.Text != "" { // an empty block is refused
			blocks = append(blocks, anthropic.NewTextBlock(m.Text))
		}
		for _, c := range m.Calls {
			blocks = append(blocks, anthropic.NewToolUseBlock(c.ID, c.arguments(), c.Name))
		}
	}
	switch last := len(list) - 1; {
	case len(blocks) == 0:
		return list
	case last >= 0 && list[last].Role == role:
		list[last].Content = append(list[last].Content, blocks...)
		return list
	default:
		return append(list, anthropic.MessageParam{Role: role, Content: blocks})
	}
}

// anthropicAnswer assembles an answer from stream events. Blocks arrive one after the other, tool calls in parts.
type anthropicAnswer struct {
	usage  Usage
	call   *partialCall // the call whose block is open
	called bool         // the answer has a tool call
}

// read converts one event to deltas.
func (a *anthropicAnswer) read(e anthropic.MessageStreamEventUnion) []Delta {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		a.usage = anthropicUsage(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
		return nonEmpty(Delta{Usage: a.usage})
	case "content_block_start":
		if e.ContentBlock.Type == "tool_use" {
			a.call = &partialCall{id: e.ContentBlock.ID, name: e.ContentBlock.Name}
			return nil
		}
		if e.ContentBlock.Type == "text" {
			return nonEmpty(Delta{Text: e.ContentBlock.Text})
		}
	case "content_block_delta":
		if a.call != nil {
			a.call.args += e.Delta.PartialJSON
			return nil
		}
		return nonEmpty(Delta{Text: e.Delta.Text})
	case "content_block_stop":
		if a.call != nil {
			c := newCall(a.call.id, a.call.name, a.call.args)
			a.call, a.called = nil, true
			return nonEmpty(Delta{Call: c})
		}
	case "message_delta":
		return a.end(e)
	}
	return nil
}

// end returns the stop reason and the usage from the last event. The event always has the number of output tokens. If it also has that of
// input tokens, it replaces the earlier one.
func (a *anthropicAnswer) end(e anthropic.MessageStreamEventUnion) []Delta {
	a.usage.Out = max(a.usage.Out, e.Usage.OutputTokens)
	if e.Usage.InputTokens > 0 {
		out := a.usage.Out
		a.usage = anthropicUsage(e.Usage.InputTokens, out, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens)
	}
	d := Delta{Usage: a.usage}
	switch e.Delta.StopReason {
	case "":
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		d.Stop = StopLength
	case anthropic.StopReasonRefusal:
		d.Stop = StopRefusal
	default:
		d.Stop = StopEnd
		if a.called {
			d.Stop = StopToolCalls
		}
	}
	return nonEmpty(d)
}

// anthropicUsage converts token counts. Anthropic's input count excludes cached tokens; Usage.In includes them.
func anthropicUsage(in, out, read, written int64) Usage {
	return Usage{In: in + read + written, Out: out, CacheRead: read, CacheWrite: written}
}

// nonEmpty returns a list with d, or nil if d is the zero value.
func nonEmpty(d Delta) []Delta {
	if d == (Delta{}) {
		return nil
	}
	return []Delta{d}
}
