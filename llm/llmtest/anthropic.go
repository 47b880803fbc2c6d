package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// anthropic is the Messages protocol.
var anthropic = protocol{read: readAnthropic, answer: answerAnthropic, refuse: refuseAnthropic}

type anthropicBlock struct {
	Type   string          `json:"type"`
	Text   string          `json:"text"`
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Source struct {
		MediaType string `json:"media_type"`
		Data      []byte `json:"data"`
	} `json:"source"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	CacheControl *struct{}       `json:"cache_control"`
}

func readAnthropic(r *http.Request) (Request, error) {
	var wire struct {
		Model       string           `json:"model"`
		Stream      bool             `json:"stream"`
		MaxTokens   int              `json:"max_tokens"`
		Temperature float64          `json:"temperature"`
		System      []anthropicBlock `json:"system"`
		Messages    []struct {
			Role    string           `json:"role"`
			Content []anthropicBlock `json:"content"`
		} `json:"messages"`
		ToolChoice struct {
			Type string `json:"type"`
		} `json:"tool_choice"`
		Tools []struct {
			Name         string          `json:"name"`
			Description  string          `json:"description"`
			InputSchema  json.RawMessage `json:"input_schema"`
			CacheControl *struct{}       `json:"cache_control"`
		} `json:"tools"`
	}
	if err := decode(r, &wire); err != nil {
		return Request{}, err
	}
	if !wire.Stream || wire.MaxTokens == 0 || r.Header.Get("Anthropic-Version") == "" {
		return Request{}, errors.New("stream, max_tokens and anthropic-version are needed here")
	}
	req := Request{
		Key:         r.Header.Get("X-Api-Key"),
		Model:       wire.Model,
		MaxTokens:   wire.MaxTokens,
		Temperature: wire.Temperature,
		NoCalls:     wire.ToolChoice.Type == "none",
		WantsUsage:  true,
	}
	for _, b := range wire.System {
		req.System += b.Text
		req.CacheMarked = req.CacheMarked || b.CacheControl != nil
	}
	for _, t := range wire.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Name, Description: t.Description, Schema: string(t.InputSchema)})
		req.CacheMarked = req.CacheMarked || t.CacheControl != nil
	}
	for i, m := range wire.Messages {
		if len(m.Content) == 0 || i > 0 && wire.Messages[i-1].Role == m.Role {
			return Request{}, errors.New("roles take turns, and nobody says nothing")
		}
		req.Messages = append(req.Messages, anthropicMessages(m.Role, m.Content)...)
	}
	return req, checkCalls(req.Messages)
}

// anthropicMessages converts a message of an Anthropic request to Messages: one for each tool result, and one for the rest.
func anthropicMessages(role string, blocks []anthropicBlock) []Message {
	var list []Message
	said := Message{Role: role}
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			var text string
			var parts []anthropicBlock
			if json.Unmarshal(b.Content, &text) != nil && json.Unmarshal(b.Content, &parts) == nil {
				for _, p := range parts {
					text += p.Text
				}
			}
			list = append(list, Message{Role: "tool", CallID: b.ToolUseID, Text: text, IsError: b.IsError})
		case "tool_use":
			said.Calls = append(said.Calls, Call{ID: b.ID, Name: b.Name, Args: string(b.Input)})
		case "image":
			said.Images = append(said.Images, Image{b.Source.MediaType, b.Source.Data})
		default:
			said.Text += b.Text
		}
	}
	if said.Text != "" || len(said.Calls) > 0 || len(said.Images) > 0 {
		list = append(list, said)
	}
	return list
}

func refuseAnthropic(w io.Writer, r Reply) {
	type details struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	code := r.Code
	if code == "" {
		code = "invalid_request_error"
	}
	send(w, struct {
		Type  string  `json:"type"`
		Error details `json:"error"`
	}{"error", details{Type: code, Message: r.Message}})
}

type object map[string]any

// answerAnthropic streams a reply as blocks: the text, then each call.
func answerAnthropic(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	usage := object{
		"input_tokens": reply.In - reply.Cached - reply.Written, "output_tokens": 1,
		"cache_read_input_tokens": reply.Cached, "cache_creation_input_tokens": reply.Written,
	}
	if reply.NoUsage {
		usage = object{}
	}
	sendEvent(w, "message_start", object{"type": "message_start", "message": object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": req.Model, "content": []any{}, "stop_reason": nil, "usage": usage,
	}})
	sendEvent(w, "ping", object{"type": "ping"})
	index := 0
	block := func(start object, fill func(delta func(object))) {
		sendEvent(w, "content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		fill(func(d object) {
			sendEvent(w, "content_block_delta", object{"type": "content_block_delta", "index": index, "delta": d})
		})
		sendEvent(w, "content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	if text := reply.Text + reply.Refusal; text != "" || reply.Cut || reply.Hang {
		block(object{"type": "text", "text": ""}, func(delta func(object)) {
			streamText(r, reply, text, func(s string) { delta(object{"type": "text_delta", "text": s}) })
		})
	}
	for _, c := range reply.Calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, func(delta func(object)) {
			for _, s := range splitText(c.Args) {
				delta(object{"type": "input_json_delta", "partial_json": s})
			}
		})
	}
	stop := reply.Stop
	switch {
	case stop != "":
	case reply.Refusal != "":
		stop = "refusal"
	case len(reply.Calls) > 0:
		stop = "tool_use"
	default:
		stop = "end_turn"
	}
	used := object{"output_tokens": reply.Out}
	if reply.NoUsage {
		used = object{}
	}
	sendEvent(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": used})
	sendEvent(w, "message_stop", object{"type": "message_stop"})
}
