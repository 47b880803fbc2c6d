package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// ollama is Ollama's chat protocol.
var ollama = protocol{read: readOllama, answer: answerOllama, refuse: refuseOllama}

type ollamaCall struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

func readOllama(r *http.Request) (Request, error) {
	var wire struct {
		Model    string `json:"model"`
		Stream   bool   `json:"stream"`
		Format   string `json:"format"`
		Messages []struct {
			Role       string       `json:"role"`
			Content    string       `json:"content"`
			Images     [][]byte     `json:"images"`
			ToolCalls  []ollamaCall `json:"tool_calls"`
			ToolName   string       `json:"tool_name"`
			ToolCallID string       `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function openAIFunction `json:"function"`
		} `json:"tools"`
		Options struct {
			Context     int     `json:"num_ctx"`
			MaxTokens   int     `json:"num_predict"`
			Temperature float64 `json:"temperature"`
		} `json:"options"`
	}
	if err := decode(r, &wire); err != nil {
		return Request{}, err
	}
	if !wire.Stream || wire.Options.Context == 0 {
		return Request{}, errors.New("stream and num_ctx are needed here")
	}
	req := Request{
		Model:       wire.Model,
		MaxTokens:   wire.Options.MaxTokens,
		Temperature: wire.Options.Temperature,
		JSON:        wire.Format == "json",
		WantsUsage:  true,
		Context:     wire.Options.Context,
	}
	req.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, t := range wire.Tools {
		req.Tools = append(req.Tools, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: string(t.Function.Parameters)})
	}
	for _, m := range wire.Messages {
		if m.Role == "system" {
			req.System += m.Content
			continue
		}
		if m.Role == "tool" && m.ToolName == "" {
			return Request{}, errors.New("a result without the name of its tool")
		}
		msg := Message{Role: m.Role, Text: m.Content, CallID: m.ToolCallID}
		for _, data := range m.Images {
			msg.Images = append(msg.Images, Image{MIME: http.DetectContentType(data), Data: data})
		}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, Call{ID: c.ID, Name: c.Function.Name, Args: string(c.Function.Arguments)})
		}
		req.Messages = append(req.Messages, msg)
	}
	return req, checkCalls(req.Messages)
}

func refuseOllama(w io.Writer, r Reply) { send(w, object{"error": r.Message}) }

// answerOllama streams a reply as lines of JSON: the text in small pieces, the calls, the end.
func answerOllama(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	say := func(message object) {
		send(w, object{"model": req.Model, "message": message, "done": false})
		_ = http.NewResponseController(w).Flush()
	}
	streamText(r, reply, reply.Text+reply.Refusal, func(s string) { say(object{"role": "assistant", "content": s}) })
	for _, c := range reply.Calls {
		var args any = c.Args
		if json.Valid([]byte(c.Args)) {
			args = json.RawMessage(c.Args)
		}
		function := object{"name": c.Name}
		if c.Args != "" {
			function["arguments"] = args
		}
		call := object{"function": function}
		if c.ID != "" {
			call["id"] = c.ID
		}
		say(object{"role": "assistant", "content": "", "tool_calls": []object{call}})
	}
	end := object{"model": req.Model, "message": object{"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}
	if reply.Stop != "" {
		end["done_reason"] = reply.Stop
	}
	if !reply.NoUsage {
		end["prompt_eval_count"], end["eval_count"] = reply.In, reply.Out
	}
	send(w, end)
}
