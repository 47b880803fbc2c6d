package llm

import (
	"encoding/base64"
	"encoding/json"
)

// The requests of the chat completions protocol.
type (
	openAIRequest struct {
		Model               string               `json:"model"`
		Messages            []openAIMessage      `json:"messages"`
		Tools               []openAITool         `json:"tools,omitempty"`
		MaxTokens           int                  `json:"max_tokens,omitempty"`
		MaxCompletionTokens int                  `json:"max_completion_tokens,omitempty"`
		Temperature         float64              `json:"temperature,omitempty"`
		ResponseFormat      *openAIFormat        `json:"response_format,omitempty"`
		Stream              bool                 `json:"stream"`
		StreamOptions       *openAIStreamOptions `json:"stream_options,omitempty"`
	}
	openAIFormat struct {
		Type string `json:"type"`
	}
	openAIStreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	openAIMessage struct {
		Role       string       `json:"role"`
		Content    any          `json:"content,omitempty"` // a string, a list of openAIPart, or nothing
		ToolCalls  []openAICall `json:"tool_calls,omitempty"`
		ToolCallID string       `json:"tool_call_id,omitempty"`
	}
	openAIPart struct {
		Type     string       `json:"type"`
		Text     string       `json:"text,omitempty"`
		ImageURL *openAIImage `json:"image_url,omitempty"`
	}
	openAIImage struct {
		URL string `json:"url"`
	}
	openAITool struct {
		Type     string         `json:"type"`
		Function openAIFunction `json:"function"`
	}
	openAIFunction struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitempty"`
		Parameters  map[string]any `json:"parameters"`
	}
	openAICall struct {
		Index    int64              `json:"index,omitempty"` // in an answer
		ID       string             `json:"id"`
		Type     string             `json:"type"`
		Function openAICallFunction `json:"function"`
	}
	openAICallFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

// The chunks of an answer.
type (
	openAIChunk struct {
		Error   json.RawMessage `json:"error"` // set if the answer failed
		Choices []openAIChoice  `json:"choices"`
		Usage   openAIUsage     `json:"usage"`
	}
	openAIChoice struct {
		Delta struct {
			Content   string       `json:"content"`
			Refusal   string       `json:"refusal"`
			ToolCalls []openAICall `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	}
	openAIUsage struct {
		PromptTokens        int64 `json:"prompt_tokens"`
		CompletionTokens    int64 `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens     int64 `json:"cached_tokens"`
			CacheWriteTokens int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	}
)

// request converts a request to the protocol.
func (m *openAI) request(r Request, d dialect) (openAIRequest, error) {
	p := openAIRequest{Model: m.model, Stream: true}
	if r.System != "" {
		p.Messages = append(p.Messages, openAIMessage{Role: "system", Content: r.System})
	}
	for _, msg := range r.Messages {
		p.Messages = append(p.Messages, newOpenAIMessage(msg))
	}
	for _, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, openAITool{Type: "function", Function: openAIFunction{tool.Name, tool.Description, schema}})
	}
	limit := r.MaxTokens
	if limit <= 0 {
		limit = DefaultMaxTokens
	}
	if d.completionTokens {
		p.MaxCompletionTokens = limit
	} else {
		p.MaxTokens = limit
	}
	if !d.noUsage {
		p.StreamOptions = &openAIStreamOptions{IncludeUsage: true}
	}
	if !d.noTemperature {
		p.Temperature = r.Temperature
	}
	if r.JSON && !d.noFormat {
		p.ResponseFormat = &openAIFormat{Type: "json_object"}
	}
	return p, nil
}

func newOpenAIMessage(m Message) openAIMessage {
	switch {
	case m.Role == RoleTool:
		return openAIMessage{Role: "tool", Content: resultText(m), ToolCallID: m.CallID}
	case m.Role == RoleAssistant:
		msg := openAIMessage{Role: "assistant"}
		if m.Text != "" || len(m.Calls) == 0 {
			msg.Content = m.Text
		}
		for _, c := range m.Calls {
			msg.ToolCalls = append(msg.ToolCalls, openAICall{ID: c.ID, Type: "function", Function: openAICallFunction{c.Name, string(c.arguments())}})
		}
		return msg
	case len(m.Images) > 0:
		var parts []openAIPart
		for _, image := range m.Images {
			url := "data:" + image.MIME + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
			parts = append(parts, openAIPart{Type: "image_url", ImageURL: &openAIImage{url}})
		}
		return openAIMessage{Role: "user", Content: append(parts, openAIPart{Type: "text", Text: m.Text})}
	default:
		return openAIMessage{Role: "user", Content: m.Text}
	}
}

// resultText returns a tool's result. It marks a failure in the text, because the protocol has no field for it.
func resultText(m Message) string {
	if m.IsError {
		return "error: " + m.Text
	}
	return m.Text
}

// openAIAnswer assembles an answer from chunks. Tool calls arrive in parts and are complete when the answer ends.
type openAIAnswer struct {
	ended   bool
	refused bool
	calls   []partialCall
}

// read converts one chunk to deltas.
func (a *openAIAnswer) read(c openAIChunk) []Delta {
	var list []Delta
	if len(c.Choices) > 0 {
		choice := c.Choices[0]
		a.refused = a.refused || choice.Delta.Refusal != ""
		if text := choice.Delta.Content + choice.Delta.Refusal; text != "" {
			list = append(list, Delta{Text: text})
		}
		for _, piece := range choice.Delta.ToolCalls {
			a.add(piece)
		}
		if choice.FinishReason != "" && !a.ended {
			a.ended = true
			list = append(list, a.end(choice.FinishReason)...)
		}
	}
	if used := c.Usage.usage(); used != (Usage{}) {
		list = append(list, Delta{Usage: used})
	}
	return list
}

// add adds a part of a tool call. Some servers send index 0 for all calls; then their ids tell them apart.
func (a *openAIAnswer) add(piece openAICall) {
	i := len(a.calls) - 1
	for i >= 0 && a.calls[i].index != piece.Index {
		i--
	}
	if i < 0 || piece.ID != "" && a.calls[i].id != "" && piece.ID != a.calls[i].id {
		a.calls = append(a.calls, partialCall{index: piece.Index})
		i = len(a.calls) - 1
	}
	call := &a.calls[i]
	if piece.ID != "" {
		call.id = piece.ID
	}
	if piece.Function.Name != "" {
		call.name = piece.Function.Name
	}
	call.args += piece.Function.Arguments
}

// end returns the tool calls and the stop reason.
func (a *openAIAnswer) end(reason string) []Delta {
	var list []Delta
	for _, c := range a.calls {
		list = append(list, Delta{Call: newCall(c.id, c.name, c.args)})
	}
	stop := StopEnd
	switch {
	case reason == "length":
		stop = StopLength
	case reason == "content_filter":
		stop = StopFilter
	case a.refused:
		stop = StopRefusal
	case len(a.calls) > 0: // whatever finish_reason the server sends
		stop = StopToolCalls
	}
	return append(list, Delta{Stop: stop})
}

func (u openAIUsage) usage() Usage {
	return Usage{
		In: u.PromptTokens, Out: u.CompletionTokens,
		CacheRead: u.PromptTokensDetails.CachedTokens, CacheWrite: u.PromptTokensDetails.CacheWriteTokens,
	}
}
