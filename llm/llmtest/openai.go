package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// openAI is the chat completions protocol.
var openAI = protocol{read: readOpenAI, answer: answerOpenAI, refuse: refuseOpenAI}

type openAIFunction struct {
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Arguments   string          `json:"arguments"`
}

type openAICall struct {
	Index    int            `json:"index"`
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function openAIFunction `json:"function"`
}

type openAIMessage struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"` // a string, a list of parts, or missing
	ToolCalls  []openAICall    `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

func readOpenAI(r *http.Request) (Request, error) {
	var wire struct {
		Model               string          `json:"model"`
		Stream              bool            `json:"stream"`
		Messages            []openAIMessage `json:"messages"`
		MaxTokens           int             `json:"max_tokens"`
		MaxCompletionTokens int             `json:"max_completion_tokens"`
		Temperature         float64         `json:"temperature"`
		StreamOptions       struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		ResponseFormat struct {
			Type string `json:"type"`
		} `json:"response_format"`
		ToolChoice any `json:"tool_choice"`
		Tools      []struct {
			Function openAIFunction `json:"function"`
		} `json:"tools"`
	}
	if err := decode(r, &wire); err != nil {
		return Request{}, err
	}
	if !wire.Stream {
		return Request{}, errors.New("only streams are served here")
	}
	req := Request{
		Model: wire.Model, MaxTokens: wire.MaxTokens + wire.MaxCompletionTokens, CompletionLimit: wire.MaxCompletionTokens > 0,
		Temperature: wire.Temperature, JSON: wire.ResponseFormat.Type == "json_object", WantsUsage: wire.StreamOptions.IncludeUsage,
	}
	req.NoCalls = wire.ToolChoice == "none"
	req.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, t := range wire.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: string(t.Function.Parameters)})
	}
	for _, m := range wire.Messages {
		msg, err := m.read()
		if err != nil {
			return Request{}, err
		}
		if m.Role == "system" {
			req.System += msg.Text
		} else {
			req.Messages = append(req.Messages, msg)
		}
	}
	return req, checkCalls(req.Messages)
}

func (m openAIMessage) read() (Message, error) {
	msg := Message{Role: m.Role, CallID: m.ToolCallID}
	for _, c := range m.ToolCalls {
		msg.Calls = append(msg.Calls, Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
	}
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &msg.Text) == nil {
		return msg, nil
	}
	var parts []struct {
		Text     string `json:"text"`
		ImageURL *struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return msg, fmt.Errorf("read content: %w", err)
	}
	for _, p := range parts {
		msg.Text += p.Text
		if p.ImageURL != nil {
			kind, encoded, _ := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
			data, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				return msg, fmt.Errorf("read picture: %w", err)
			}
			msg.Images = append(msg.Images, Image{kind, data})
		}
	}
	return msg, nil
}

// checkCalls rejects a call without a result and a result without a call, as providers do.
func checkCalls(messages []Message) error {
	open := map[string]bool{}
	for _, m := range messages {
		if m.Role == "tool" {
			if !open[m.CallID] {
				return fmt.Errorf("a result for the unknown call %q", m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return errors.New("a call has no result")
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return errors.New("a call has no result")
	}
	return nil
}

func refuseOpenAI(w io.Writer, r Reply) {
	type details struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	send(w, struct {
		Error details `json:"error"`
	}{details{Message: r.Message, Type: "invalid_request_error", Code: r.Code}})
}

type openAIChunk struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Created int64          `json:"created"`
	Model   string         `json:"model"`
	Choices []openAIChoice `json:"choices"`
	Usage   *openAIUsage   `json:"usage"`
}

type openAIChoice struct {
	Index        int         `json:"index"`
	Delta        openAIDelta `json:"delta"`
	FinishReason *string     `json:"finish_reason"`
}

type openAIDelta struct {
	Role      string       `json:"role,omitempty"`
	Content   string       `json:"content,omitempty"`
	Refusal   string       `json:"refusal,omitempty"`
	ToolCalls []openAICall `json:"tool_calls,omitempty"`
}

type openAIUsage struct {
	PromptTokens        int64 `json:"prompt_tokens"`
	CompletionTokens    int64 `json:"completion_tokens"`
	TotalTokens         int64 `json:"total_tokens"`
	PromptTokensDetails struct {
		CachedTokens int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// answerOpenAI streams a reply: the role, the text and the calls in small pieces, the finish reason, the usage, the end mark.
func answerOpenAI(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	chunk := func(d openAIDelta, stop *string, u *openAIUsage) {
		c := openAIChunk{
			ID:      "chatcmpl-1",
			Object:  "chat.completion.chunk",
			Created: time.Now().Unix(),
			Model:   req.Model,
			Choices: []openAIChoice{},
			Usage:   u,
		}
		if u == nil {
			c.Choices = append(c.Choices, openAIChoice{Delta: d, FinishReason: stop})
		}
		sendEvent(w, "", c)
	}
	chunk(openAIDelta{Role: "assistant"}, nil, nil)
	streamText(r, reply, reply.Text, func(s string) { chunk(openAIDelta{Content: s}, nil, nil) })
	for _, s := range splitText(reply.Refusal) {
		chunk(openAIDelta{Refusal: s}, nil, nil)
	}
	for i, c := range reply.Calls {
		chunk(openAIDelta{ToolCalls: []openAICall{{Index: i, ID: c.ID, Type: "function", Function: openAIFunction{Name: c.Name}}}}, nil, nil)
		for _, s := range splitText(c.Args) {
			chunk(openAIDelta{ToolCalls: []openAICall{{Index: i, Function: openAIFunction{Arguments: s}}}}, nil, nil)
		}
	}
	stop := reply.Stop
	if stop == "" {
		stop = "stop"
		if len(reply.Calls) > 0 {
			stop = "tool_calls"
		}
	}
	chunk(openAIDelta{}, &stop, nil)
	if req.WantsUsage && !reply.NoUsage {
		u := openAIUsage{PromptTokens: reply.In, CompletionTokens: reply.Out, TotalTokens: reply.In + reply.Out}
		u.PromptTokensDetails.CachedTokens = reply.Cached
		chunk(openAIDelta{}, nil, &u)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}
