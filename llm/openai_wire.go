package llm

import (
	"encoding/base64"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
)

// params converts a request to the protocol.
func (m *openAI) params(r Request, d dialect) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{Model: m.model}
	if r.System != "" {
		p.Messages = append(p.Messages, openai.SystemMessage(r.System))
	}
	for _, msg := range r.Messages {
		p.Messages = append(p.Messages, newOpenAIMessage(msg))
	}
	for _, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return p, err
		}
		f := shared.FunctionDefinitionParam{Name: tool.Name, Parameters: schema}
		if tool.Description != "" {
			f.Description = openai.String(tool.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	if r.NoCalls && len(r.Tools) > 0 {
		p.ToolChoice.OfAuto = openai.String("none")
	}
	limit := r.MaxTokens
	if limit <= 0 {
		limit = DefaultMaxTokens
	}
	if d.completionTokens {
		p.MaxCompletionTokens = openai.Int(int64(limit))
	} else {
		p.MaxTokens = openai.Int(int64(limit))
	}
	if !d.noUsage {
		p.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	if r.Temperature != 0 && !d.noTemperature {
		p.Temperature = openai.Float(r.Temperature)
	}
	if r.JSON && !d.noFormat {
		p.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	}
	return p, nil
}

func newOpenAIMessage(m Message) openai.ChatCompletionMessageParamUnion {
	switch {
	case m.Role == RoleTool:
		return openai.ToolMessage(resultText(m), m.CallID)
	case m.Role == RoleAssistant:
		msg := openai.AssistantMessage(m.Text)
		if m.Text == "" && len(m.Calls) > 0 {
			msg.OfAssistant.Content = openai.ChatCompletionAssistantMessageParamContentUnion{}
		}
		for _, c := range m.Calls {
			function := openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: string(c.arguments())}
			msg.OfAssistant.ToolCalls = append(msg.OfAssistant.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: c.ID, Function: function},
			})
		}
		return msg
	case len(m.Images) > 0:
		parts := make([]openai.ChatCompletionContentPartUnionParam, 0, len(m.Images)+1)
		for _, image := range m.Images {
			url := "data:" + image.MIME + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
			parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: url}))
		}
		return openai.UserMessage(append(parts, openai.TextContentPart(m.Text)))
	default:
		return openai.UserMessage(m.Text)
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

// readEvent converts the data of one event to deltas.
func (a *openAIAnswer) readEvent(data []byte) ([]Delta, error) {
	var chunk openai.ChatCompletionChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return nil, err
	}
	if failure := chunk.JSON.ExtraFields["error"].Raw(); failure != "" && failure != "null" {
		return nil, &Error{Reason: ReasonServer}
	}
	return a.read(chunk), nil
}

// read converts one chunk to deltas.
func (a *openAIAnswer) read(c openai.ChatCompletionChunk) []Delta {
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
	if used := openAIUsage(c.Usage); used != (Usage{}) {
		list = append(list, Delta{Usage: used})
	}
	return list
}

// add adds a part of a tool call. Some servers send index 0 for all calls; then their ids tell them apart.
func (a *openAIAnswer) add(piece openai.ChatCompletionChunkChoiceDeltaToolCall) {
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

func openAIUsage(u openai.CompletionUsage) Usage {
	cached := u.PromptTokensDetails
	return Usage{In: u.PromptTokens, Out: u.CompletionTokens, CacheRead: cached.CachedTokens, CacheWrite: cached.CacheWriteTokens}
}
