package llm

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"sync/atomic"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

// anthropicMessages calls Anthropic's Messages by its SDK.
type anthropicMessages struct {
	model   string
	client  anthropic.Client
	dialect atomic.Pointer[dialect]
}

// newAnthropic returns the adapter of a model. The SDK retries nothing, because each attempt is paid. Its client is a literal, because
// anthropic.NewClient would take a key and an address from the environment.
func newAnthropic(e endpoint) *adapter {
	options := []option.RequestOption{
		option.WithBaseURL(e.BaseURL), option.WithAPIKey(e.APIKey), option.WithHTTPClient(newClient(e.Name)), option.WithMaxRetries(0),
	}
	m := &anthropicMessages{model: e.Model, client: anthropic.Client{Options: options}}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *anthropicMessages) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		events, err := m.open(ctx, r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer events.Close()
		var answer anthropicAnswer
		for events.Next() {
			list, err := answer.readEvent(events.Event().Data)
			if err != nil {
				yield(Delta{}, err)
				return
			}
			for _, d := range list {
				if !yield(d, nil) {
					return
				}
			}
		}
		if err := events.Err(); err != nil {
			yield(Delta{}, err)
		}
	}
}

// anthropicError converts an error within the stream.
func anthropicError(data []byte) *Error {
	e := &Error{Reason: ReasonServer, Code: errorCode(data)}
	if e.Code == "overloaded_error" {
		e.Reason = ReasonOverloaded
	}
	return e
}

// open sends the request and returns when the server begins to answer. It retries without the temperature, which newer
// models reject.
func (m *anthropicMessages) open(ctx context.Context, r Request) (ssestream.Decoder, error) {
	var d dialect
	if known := m.dialect.Load(); known != nil {
		d = *known
	}
	for {
		params, err := m.params(r, d)
		if err != nil {
			return nil, err
		}
		events, err := m.post(ctx, params)
		if err == nil {
			m.dialect.Store(&d)
			return events, nil
		}
		var refused *statusError
		if errors.As(err, &refused) && r.Temperature != 0 {
			if next, ok := d.withoutRejected(refused); ok {
				d = next
				continue
			}
		}
		return nil, err
	}
}

// post sends a request for a stream. It does not use the SDK's own stream, which skips the events that have no name;
// other servers send such.
func (m *anthropicMessages) post(ctx context.Context, params anthropic.MessageNewParams) (ssestream.Decoder, error) {
	var res *http.Response
	if err := m.client.Post(ctx, "v1/messages", params, &res, option.WithJSONSet("stream", true)); err != nil {
		return nil, err
	}
	return ssestream.NewDecoder(res), nil
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
		t, err := newAnthropicTool(tool)
		if err != nil {
			return p, err
		}
		if i == len(r.Tools)-1 && r.System == "" {
			t.CacheControl = anthropic.NewCacheControlEphemeralParam()
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: &t})
	}
	if r.NoCalls && len(r.Tools) > 0 { // the tools stay, because the messages may have calls
		p.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	for _, msg := range r.Messages {
		p.Messages = appendAnthropic(p.Messages, msg)
	}
	return p, nil
}

func newAnthropicTool(tool Tool) (anthropic.ToolParam, error) {
	schema, err := tool.parameters()
	if err != nil {
		return anthropic.ToolParam{}, err
	}
	delete(schema, "type") // the SDK sets it to "object"
	t := anthropic.ToolParam{Name: tool.Name, InputSchema: anthropic.ToolInputSchemaParam{ExtraFields: schema}}
	if tool.Description != "" {
		t.Description = anthropic.String(tool.Description)
	}
	return t, nil
}

// appendAnthropic appends a message to list. A message with the same role as the last one is merged into it, because the
// protocol requires the results of parallel calls in one message.
func appendAnthropic(list []anthropic.MessageParam, m Message) []anthropic.MessageParam {
	role := anthropic.MessageParamRoleUser
	var blocks []anthropic.ContentBlockParamUnion
	switch m.Role {
	case RoleTool:
		blocks = append(blocks, newAnthropicResult(m))
	default:
		if m.Role == RoleAssistant {
			role = anthropic.MessageParamRoleAssistant
		}
		for _, image := range m.Images {
			blocks = append(blocks, anthropic.NewImageBlockBase64(image.MIME, base64.StdEncoding.EncodeToString(image.Data)))
		}
		if m.Text != "" { // the API rejects an empty block
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

// newAnthropicResult returns the result of a tool. An empty result has no text, because the API rejects an empty block.
func newAnthropicResult(m Message) anthropic.ContentBlockParamUnion {
	result := anthropic.ToolResultBlockParam{ToolUseID: m.CallID}
	if m.Text != "" {
		result.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: m.Text}}}
	}
	if m.IsError {
		result.IsError = anthropic.Bool(true)
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: &result}
}

// anthropicAnswer assembles an answer from stream events. Blocks arrive one after the other, tool calls in parts.
type anthropicAnswer struct {
	usage  Usage
	call   *partialCall // the call whose block is open
	called bool         // the answer has a tool call
}

// readEvent converts the data of one event to deltas.
func (a *anthropicAnswer) readEvent(data []byte) ([]Delta, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var event anthropic.MessageStreamEventUnion
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, err
	}
	if event.Type == "error" {
		return nil, anthropicError(data)
	}
	return a.read(event), nil
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

// end returns the stop reason and the usage from the last event. The event always has the number of output tokens. If it
// has a number of input tokens, that replaces the earlier one.
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
