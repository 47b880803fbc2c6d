package llm

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
)

// gemini speaks Google's generateContent protocol. It is written by hand, because Google's SDK changes numbers above 2^53
// in the arguments of calls, breaks off at a blank event, prints to stderr, and makes the program 14 MB larger.
type gemini struct {
	model string
	api   api
}

func newGemini(e endpoint) *adapter {
	m := &gemini{model: e.Model, api: api{e.BaseURL, http.Header{"X-Goog-Api-Key": {e.APIKey}}, newClient(e.Name)}}
	return &adapter{endpoint: e, stream: m.stream}
}

func (m *gemini) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		request, err := newGeminiRequest(r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		res, err := m.api.postJSON(ctx, "/v1beta/models/"+url.PathEscape(m.model)+":streamGenerateContent?alt=sse", request)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		defer res.Body.Close()
		var answer geminiAnswer
		for data, err := range events(res.Body) {
			list, err := answer.readEvent(data, err)
			for _, d := range list {
				if !yield(d, nil) {
					return
				}
			}
			if err != nil {
				yield(Delta{}, err)
				return
			}
		}
	}
}

// newGeminiRequest converts a request to the protocol.
func newGeminiRequest(r Request) (geminiRequest, error) {
	p := geminiRequest{Contents: geminiContents(r.Messages), Config: geminiConfig{MaxOutputTokens: r.MaxTokens, Temperature: r.Temperature}}
	if r.MaxTokens <= 0 {
		p.Config.MaxOutputTokens = DefaultMaxTokens
	}
	if r.System != "" {
		p.System = &geminiContent{Parts: []geminiPart{{Text: r.System}}}
	}
	if r.JSON && len(r.Tools) == 0 { // the API rejects JSON mode together with tools
		p.Config.ResponseMIMEType = "application/json"
	}
	var tools geminiTools
	for _, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return p, err
		}
		tools.Functions = append(tools.Functions, geminiFunction{tool.Name, tool.Description, schema})
	}
	if len(tools.Functions) > 0 {
		p.Tools = []geminiTools{tools}
	}
	if r.NoCalls && len(r.Tools) > 0 {
		p.ToolConfig = &geminiToolConfig{geminiCallingConfig{Mode: "NONE"}}
	}
	return p, nil
}

// missingSignature replaces the signature of a call that another provider's model made. Google defines the value.
const missingSignature = "skip_thought_signature_validator"

// geminiContents converts messages. A tool result must name its tool, so the names of earlier calls are collected.
func geminiContents(messages []Message) []geminiContent {
	var list []geminiContent
	names := map[string]string{}
	for _, m := range messages {
		role := "user"
		var parts []geminiPart
		if m.Role == RoleTool {
			key := "output"
			if m.IsError {
				key = "error"
			}
			parts = append(parts, geminiPart{FunctionResponse: &geminiResponse{
				ID: m.CallID, Name: names[m.CallID], Response: map[string]string{key: m.Text},
			}})
		} else {
			if m.Role == RoleAssistant {
				role = "model"
			}
			for _, image := range m.Images {
				parts = append(parts, geminiPart{InlineData: &geminiData{image.MIME, image.Data}})
			}
			if m.Text != "" {
				parts = append(parts, geminiPart{Text: m.Text})
			}
			for i, c := range m.Calls {
				names[c.ID] = c.Name
				parts = append(parts, newGeminiCall(c, i == 0))
			}
		}
		switch last := len(list) - 1; {
		case len(parts) == 0:
		case last >= 0 && list[last].Role == role:
			list[last].Parts = append(list[last].Parts, parts...)
		default:
			list = append(list, geminiContent{role, parts})
		}
	}
	return list
}

// newGeminiCall converts a call of an earlier answer. The first of parallel calls must have a signature: if it has none, it
// gets missingSignature.
func newGeminiCall(c ToolCall, first bool) geminiPart {
	part := geminiPart{FunctionCall: &geminiCall{c.ID, c.Name, c.arguments()}, ThoughtSignature: c.Signature}
	if first && len(c.Signature) == 0 {
		part.ThoughtSignature = []byte(missingSignature)
	}
	return part
}

// geminiAnswer records whether the answer has tool calls, which decides its stop reason.
type geminiAnswer struct{ called bool }

// readEvent converts the data of one event, or the error in its place.
func (a *geminiAnswer) readEvent(data []byte, err error) ([]Delta, error) {
	var event geminiEvent
	if err == nil {
		err = withoutTypeError(json.Unmarshal(data, &event))
	}
	if err == nil && len(event.Error) > 0 && string(event.Error) != "null" {
		err = &Error{Reason: ReasonServer}
	}
	if err != nil {
		return nil, err
	}
	return a.read(event)
}

// read converts one event to deltas.
func (a *geminiAnswer) read(res geminiEvent) ([]Delta, error) {
	var list []Delta
	u := res.UsageMetadata
	list = append(list, nonEmpty(Delta{Usage: Usage{
		In: u.PromptTokenCount + u.ToolUsePromptTokenCount, Out: u.CandidatesTokenCount + u.ThoughtsTokenCount,
		CacheRead: u.CachedContentTokenCount,
	}})...)
	if res.PromptFeedback.BlockReason != "" {
		return append(list, Delta{Stop: StopFilter}), nil
	}
	if len(res.Candidates) == 0 {
		return list, nil
	}
	candidate := res.Candidates[0]
	for _, part := range candidate.Content.Parts {
		list = append(list, a.part(part)...)
	}
	stop, err := a.stop(candidate.FinishReason)
	return append(list, nonEmpty(Delta{Stop: stop})...), err
}

func (a *geminiAnswer) part(p geminiPart) []Delta {
	switch {
	case p.Thought:
		return nil
	case p.FunctionCall != nil:
		c := newCall(p.FunctionCall.ID, p.FunctionCall.Name, string(p.FunctionCall.Args))
		c.Signature = p.ThoughtSignature
		a.called = true
		return nonEmpty(Delta{Call: c})
	default:
		return nonEmpty(Delta{Text: p.Text})
	}
}

func (a *geminiAnswer) stop(reason string) (StopReason, error) {
	switch reason {
	case "", "FINISH_REASON_UNSPECIFIED":
		return "", nil
	case "MAX_TOKENS":
		return StopLength, nil
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST",
		"PROHIBITED_CONTENT", "SPII":
		return StopFilter, nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return "", &Error{Reason: ReasonMalformedCall}
	default:
		if a.called {
			return StopToolCalls, nil
		}
		return StopEnd, nil
	}
}
