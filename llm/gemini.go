package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"google.golang.org/genai"
)

// gemini speaks Google's generateContent protocol.
type gemini struct {
	model  string
	models *genai.Models
}

func newGemini(e endpoint) (*adapter, error) {
	// Set everything, because the client takes missing settings from the environment.
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{ //nolint:forbidigo // it connects to nobody
		Backend: genai.BackendGeminiAPI, APIKey: e.APIKey, HTTPClient: newClient(e.Name),
		HTTPOptions: genai.HTTPOptions{BaseURL: e.BaseURL, APIVersion: "v1beta"},
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %s: its settings make no client", ErrConfig, e.Name) // the reason may hold the key
	}
	m := &gemini{model: e.Model, models: client.Models}
	return &adapter{endpoint: e, stream: m.stream}, nil
}

func (m *gemini) stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		config, err := geminiConfig(r)
		if err != nil {
			yield(Delta{}, err)
			return
		}
		var answer geminiAnswer
		for res, err := range m.models.GenerateContentStream(ctx, m.model, geminiContents(r.Messages), config) {
			if err != nil {
				yield(Delta{}, geminiError(err))
				return
			}
			list, err := answer.read(res)
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

// geminiError converts the errors that are specific to this SDK: errors within the stream, and lines that are not events.
func geminiError(err error) error {
	var inStream genai.APIError
	switch {
	case errors.As(err, &inStream):
		return &Error{Reason: ReasonServer}
	case strings.Contains(err.Error(), "invalid stream chunk"):
		return errNoStream
	default:
		return err
	}
}

// geminiConfig converts all of a request except its messages.
func geminiConfig(r Request) (*genai.GenerateContentConfig, error) {
	once := false                                                                                                            // no automatic continuation, which would make further calls that nobody reserved money for
	c := &genai.GenerateContentConfig{MaxOutputTokens: int32(min(r.MaxTokens, math.MaxInt32)), AutomaticContinuation: &once} //nolint:gosec // bounded
	if c.MaxOutputTokens <= 0 {
		c.MaxOutputTokens = DefaultMaxTokens
	}
	if r.System != "" {
		c.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: r.System}}}
	}
	if r.Temperature != 0 {
		t := float32(r.Temperature)
		c.Temperature = &t
	}
	if r.JSON && len(r.Tools) == 0 { // the API rejects JSON mode together with tools
		c.ResponseMIMEType = "application/json"
	}
	var list []*genai.FunctionDeclaration
	for _, tool := range r.Tools {
		schema, err := tool.parameters()
		if err != nil {
			return nil, err
		}
		list = append(list, &genai.FunctionDeclaration{Name: tool.Name, Description: tool.Description, ParametersJsonSchema: schema})
	}
	if len(list) > 0 {
		c.Tools = []*genai.Tool{{FunctionDeclarations: list}}
	}
	return c, nil
}

// missingSignature replaces the signature of a call that another provider's model made. Google defines the value.
const missingSignature = "skip_thought_signature_validator"

// geminiContents converts messages. A tool result must name its tool, so the names of earlier calls are collected.
func geminiContents(messages []Message) []*genai.Content {
	var list []*genai.Content
	names := map[string]string{}
	for _, m := range messages {
		role := genai.RoleUser
		var parts []*genai.Part
		if m.Role == RoleTool {
			key := "output"
			if m.IsError {
				key = "error"
			}
			parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
				ID: m.CallID, Name: names[m.CallID], Response: map[string]any{key: m.Text},
			}})
		} else {
			if m.Role == RoleAssistant {
				role = genai.RoleModel
			}
			for _, image := range m.Images {
				parts = append(parts, &genai.Part{InlineData: &genai.Blob{MIMEType: image.MIME, Data: image.Data}})
			}
			if m.Text != "" {
				parts = append(parts, &genai.Part{Text: m.Text})
			}
			for i, c := range m.Calls {
				names[c.ID] = c.Name
				parts = append(parts, geminiCall(c, i == 0))
			}
		}
		switch last := len(list) - 1; {
		case len(parts) == 0:
		case last >= 0 && list[last].Role == role:
			list[last].Parts = append(list[last].Parts, parts...)
		default:
			list = append(list, &genai.Content{Role: role, Parts: parts})
		}
	}
	return list
}

// geminiCall converts a call of an earlier answer. Of parallel calls only the first has a signature.
func geminiCall(c ToolCall, first bool) *genai.Part {
	args := map[string]any{}
	_ = json.Unmarshal(c.arguments(), &args) // an object, in any case
	part := &genai.Part{FunctionCall: &genai.FunctionCall{ID: c.ID, Name: c.Name, Args: args}, ThoughtSignature: c.Signature}
	if first && len(c.Signature) == 0 {
		part.ThoughtSignature = []byte(missingSignature)
	}
	return part
}

// geminiAnswer records whether the answer has tool calls, which decides its stop reason.
type geminiAnswer struct{ called bool }

// read converts one event to deltas.
func (a *geminiAnswer) read(res *genai.GenerateContentResponse) ([]Delta, error) {
	var list []Delta
	if u := res.UsageMetadata; u != nil {
		list = append(list, nonEmpty(Delta{Usage: Usage{
			In: int64(u.PromptTokenCount) + int64(u.ToolUsePromptTokenCount), Out: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount),
			CacheRead: int64(u.CachedContentTokenCount),
		}})...)
	}
	if f := res.PromptFeedback; f != nil && f.BlockReason != "" {
		return append(list, Delta{Stop: StopFilter}), nil
	}
	if len(res.Candidates) == 0 {
		return list, nil
	}
	candidate := res.Candidates[0]
	if candidate.Content != nil {
		for _, part := range candidate.Content.Parts {
			more, err := a.part(part)
			if err != nil {
				return list, err
			}
			list = append(list, more...)
		}
	}
	stop, err := a.stop(candidate.FinishReason)
	return append(list, nonEmpty(Delta{Stop: stop})...), err
}

func (a *geminiAnswer) part(p *genai.Part) ([]Delta, error) {
	switch {
	case p == nil || p.Thought:
		return nil, nil
	case p.FunctionCall != nil:
		args, err := json.Marshal(p.FunctionCall.Args)
		if err != nil {
			return nil, &Error{Reason: ReasonMalformedCall}
		}
		if p.FunctionCall.Args == nil {
			args = nil
		}
		c := newCall(p.FunctionCall.ID, p.FunctionCall.Name, string(args))
		c.Signature = p.ThoughtSignature
		a.called = true
		return nonEmpty(Delta{Call: c}), nil
	default:
		return nonEmpty(Delta{Text: p.Text}), nil
	}
}

func (a *geminiAnswer) stop(reason genai.FinishReason) (StopReason, error) {
	switch reason {
	case "", genai.FinishReasonUnspecified:
		return "", nil
	case genai.FinishReasonMaxTokens:
		return StopLength, nil
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonLanguage, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII:
		return StopFilter, nil
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls:
		return "", &Error{Reason: ReasonMalformedCall}
	default:
		if a.called {
			return StopToolCalls, nil
		}
		return StopEnd, nil
	}
}
