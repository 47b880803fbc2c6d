package llm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"sync/atomic"
)

// anthropicVersion is the version of the protocol.
const anthropicVersion = "2023-06-01"

// anthropicMessages speaks Anthropic's Messages protocol.
type anthropicMessages struct {
	model   string
	api     api
	dialect atomic.Pointer[dialect]
}

func newAnthropic(e endpoint) *adapter {
	header := http.Header{"X-Api-Key": {e.APIKey}, "Anthropic-Version": {anthropicVersion}}
	m := &anthropicMessages{model: e.Model, api: api{e.BaseURL, header, newClient(e.Name)}}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *anthropicMessages) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		body, err := m.open(ctx, r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer body.Close()
		var answer anthropicAnswer
		for data, err := range events(body) {
			var event anthropicEvent
			if err == nil {
				err = withoutTypeError(json.Unmarshal(data, &event))
			}
			if err == nil && event.Type == "error" {
				err = anthropicError(data)
			}
			if err != nil {
				yield(Delta{}, err)
				return
			}
			for _, d := range answer.read(event) {
				if !yield(d, nil) {
					return
				}
			}
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
func (m *anthropicMessages) open(ctx context.Context, r Request) (io.ReadCloser, error) {
	var d dialect
	if known := m.dialect.Load(); known != nil {
		d = *known
	}
	for {
		body, err := m.request(r, d)
		if err != nil {
			return nil, err
		}
		res, err := m.api.postJSON(ctx, "/v1/messages", body)
		if err == nil {
			m.dialect.Store(&d)
			return res.Body, nil
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

// request converts a request to the protocol. Tools and instructions are the same in every call, so they are marked for
// the provider's cache. Tools come first in a prompt, so one mark after the instructions covers both.
func (m *anthropicMessages) request(r Request, d dialect) (anthropicRequest, error) {
	p := anthropicRequest{Model: m.model, MaxTokens: r.MaxTokens, Stream: true}
	if p.MaxTokens <= 0 {
		p.MaxTokens = DefaultMaxTokens
	}
	if !d.noTemperature {
		p.Temperature = r.Temperature
	}
	for i, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return p, err
		}
		schema["type"] = "object"
		t := anthropicTool{Name: tool.Name, Description: tool.Description, InputSchema: schema}
		if i == len(r.Tools)-1 && r.System == "" {
			t.CacheControl = cacheMark
		}
		p.Tools = append(p.Tools, t)
	}
	if r.System != "" {
		p.System = []anthropicBlock{{Type: "text", Text: r.System, CacheControl: cacheMark}}
	}
	for _, msg := range r.Messages {
		p.Messages = appendAnthropic(p.Messages, msg)
	}
	return p, nil
}

// appendAnthropic appends a message to list. A message with the same role as the last one is merged into it, because the
// protocol requires the results of parallel calls in one message.
func appendAnthropic(list []anthropicMessage, m Message) []anthropicMessage {
	role := "user"
	var blocks []anthropicBlock
	switch m.Role {
	case RoleTool:
		blocks = append(blocks, anthropicBlock{Type: "tool_result", ToolUseID: m.CallID, Content: m.Text, IsError: m.IsError})
	default:
		if m.Role == RoleAssistant {
			role = "assistant"
		}
		for _, image := range m.Images {
			blocks = append(blocks, anthropicBlock{Type: "image", Source: &anthropicSource{"base64", image.MIME, base64.StdEncoding.EncodeToString(image.Data)}})
		}
		if m.Text != "" { // the API rejects an empty block
			blocks = append(blocks, anthropicBlock{Type: "text", Text: m.Text})
		}
		for _, c := range m.Calls {
			blocks = append(blocks, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.arguments()})
		}
	}
	switch last := len(list) - 1; {
	case len(blocks) == 0:
		return list
	case last >= 0 && list[last].Role == role:
		list[last].Content = append(list[last].Content, blocks...)
		return list
	default:
		return append(list, anthropicMessage{role, blocks})
	}
}

// anthropicAnswer assembles an answer from stream events. Blocks arrive one after the other, tool calls in parts.
type anthropicAnswer struct {
	usage  Usage
	call   *partialCall // the call whose block is open
	called bool         // the answer has a tool call
}

// read converts one event to deltas.
func (a *anthropicAnswer) read(e anthropicEvent) []Delta {
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

// end returns the stop reason and the usage from the last event. The event always has the number of output tokens. If it has a number of input
// tokens, that replaces the earlier one.
func (a *anthropicAnswer) end(e anthropicEvent) []Delta {
	a.usage.Out = max(a.usage.Out, e.Usage.OutputTokens)
	if e.Usage.InputTokens > 0 {
		out := a.usage.Out
		a.usage = anthropicUsage(e.Usage.InputTokens, out, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens)
	}
	d := Delta{Usage: a.usage}
	switch e.Delta.StopReason {
	case "":
	case "max_tokens", "model_context_window_exceeded":
		d.Stop = StopLength
	case "refusal":
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
