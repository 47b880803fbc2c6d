package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
)

// ollama calls Ollama's own API, because its OpenAI API takes no num_ctx: there Ollama cuts a prompt of more than 4,096
// tokens at its beginning, without a word, and the instructions are lost. It is written by hand, because Ollama's client
// is a part of its server's module.
type ollama struct {
	model  string
	api    api
	window atomic.Int64 // the largest context window asked for so far, in tokens
}

func newOllama(e endpoint) *adapter {
	header := http.Header{}
	if e.APIKey != "" {
		header.Set("Authorization", "Bearer "+e.APIKey)
	}
	m := &ollama{model: e.Model, api: api{base: e.BaseURL, header: header, client: newClient(e.Name)}}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *ollama) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		request, err := m.request(r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		res, err := m.api.postJSON(ctx, "/api/chat", request)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer res.Body.Close()
		var answer ollamaAnswer
		for events := json.NewDecoder(res.Body); ; {
			list, err := answer.next(events)
			if errors.Is(err, io.EOF) {
				return
			}
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
	}
}

// request converts a request to the protocol.
func (m *ollama) request(r Request) (ollamaRequest, error) {
	if r.MaxTokens <= 0 {
		r.MaxTokens = DefaultMaxTokens
	}
	p := ollamaRequest{Model: m.model, Stream: true}
	p.Options.Context = m.contextFor(r)
	p.Options.MaxTokens = r.MaxTokens
	p.Options.Temperature = r.Temperature
	if r.JSON {
		p.Format = "json"
	}
	if r.System != "" {
		p.Messages = append(p.Messages, ollamaMessage{Role: "system", Content: r.System})
	}
	names := map[string]string{}
	for _, msg := range r.Messages {
		for _, c := range msg.Calls {
			names[c.ID] = c.Name
		}
		p.Messages = append(p.Messages, newOllamaMessage(msg, names))
	}
	if r.NoCalls {
		r.Tools = nil
	}
	for _, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return p, err
		}
		function := ollamaFunction{Name: tool.Name, Description: tool.Description, Parameters: schema}
		p.Tools = append(p.Tools, ollamaTool{Type: "function", Function: function})
	}
	return p, nil
}

const (
	// ollamaMinContext and ollamaMaxContext are the bounds of the context window asked for, in tokens. The memory of the server grows with it.
	ollamaMinContext = 8 << 10
	ollamaMaxContext = 32 << 10
	// ollamaImageTokens is the maximum number of tokens of one image.
	ollamaImageTokens = 2 << 10
	// ollamaBytesPerToken is the minimum number of bytes of a token, on average over a prompt in any script.
	ollamaBytesPerToken = 2
)

// contextFor returns the context window for a request. It doubles when a request needs more and never shrinks, because
// the server loads the model again whenever it changes. The server itself limits it to that of the model.
func (m *ollama) contextFor(r Request) int64 {
	images := int64(0)
	for _, msg := range r.Messages {
		images += int64(len(msg.Images))
	}
	most := maxUsage(r)
	text := most.In - images*imageTokens
	need := text/ollamaBytesPerToken + images*ollamaImageTokens + most.Out
	for {
		was := m.window.Load()
		window := max(was, ollamaMinContext)
		for window < need && window < ollamaMaxContext {
			window *= 2
		}
		if m.window.CompareAndSwap(was, window) {
			return window
		}
	}
}

// newOllamaMessage converts a message. names has the tools of the calls so far, because a result must name its tool.
func newOllamaMessage(m Message, names map[string]string) ollamaMessage {
	if m.Role == RoleTool {
		return ollamaMessage{Role: "tool", Content: resultText(m), ToolName: names[m.CallID], ToolCallID: m.CallID}
	}
	msg := ollamaMessage{Role: string(m.Role), Content: m.Text}
	for _, image := range m.Images {
		msg.Images = append(msg.Images, image.Data)
	}
	for _, c := range m.Calls {
		msg.ToolCalls = append(msg.ToolCalls, ollamaCall{ID: c.ID, Function: ollamaCallFunction{Name: c.Name, Arguments: c.arguments()}})
	}
	return msg
}

// ollamaAnswer records whether the answer has tool calls, which decides its stop reason.
type ollamaAnswer struct{ called bool }

// next reads the next event and converts it to deltas. It returns io.EOF at the end of the stream.
func (a *ollamaAnswer) next(events *json.Decoder) ([]Delta, error) {
	var event ollamaEvent
	if err := withoutTypeError(events.Decode(&event)); err != nil {
		return nil, err
	}
	if len(event.Error) > 0 && string(event.Error) != "null" {
		return nil, &Error{Reason: ReasonServer}
	}
	return a.read(event), nil
}

// read converts one event to deltas. What the model thought is left out.
func (a *ollamaAnswer) read(e ollamaEvent) []Delta {
	list := nonEmpty(Delta{Text: e.Message.Content})
	for _, c := range e.Message.ToolCalls {
		list = append(list, Delta{Call: newCall(c.ID, c.Function.Name, c.Function.text())})
		a.called = true
	}
	if !e.Done {
		return list
	}
	d := Delta{Stop: StopEnd, Usage: Usage{In: e.PromptTokens, Out: e.Tokens}}
	switch {
	case e.DoneReason == "length":
		d.Stop = StopLength
	case a.called:
		d.Stop = StopToolCalls
	}
	return append(list, d)
}

// text returns the arguments. Some servers send them as a string.
func (f ollamaCallFunction) text() string {
	var quoted string
	if strings.HasPrefix(string(f.Arguments), `"`) && json.Unmarshal(f.Arguments, &quoted) == nil {
		return quoted
	}
	return string(f.Arguments)
}
