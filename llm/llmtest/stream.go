package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        piece   `json:"delta"`
	FinishReason *string `json:"finish_reason"`
}

type piece struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
}

type usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
}

// answer streams a reply: the role, the text in small pieces, the reason of its end, the usage, the end mark.
func answer(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := stream{w: w, model: req.Model}
	out.piece(piece{Role: "assistant"}, nil)
	pieces := split(reply.Text)
	for i, text := range pieces {
		if i == (len(pieces)+1)/2 && (reply.Cut || reply.Hang) {
			break
		}
		out.piece(piece{Content: text}, nil)
	}
	if reply.Hang {
		<-r.Context().Done()
	}
	if reply.Cut || reply.Hang {
		panic(http.ErrAbortHandler) // the way to drop a connection
	}
	stop := reply.Stop
	if stop == "" {
		stop = "stop"
	}
	out.piece(piece{}, &stop)
	if req.WantsUsage && !reply.NoUsage {
		out.usage(count(req, reply))
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// stream writes chunks as events.
type stream struct {
	w     http.ResponseWriter
	model string
}

func (s stream) piece(p piece, stop *string) {
	s.event(chunk{Choices: []choice{{Delta: p, FinishReason: stop}}})
}

func (s stream) usage(u usage) { s.event(chunk{Choices: []choice{}, Usage: &u}) }

func (s stream) event(c chunk) {
	c.ID, c.Object, c.Created, c.Model = "chatcmpl-1", "chat.completion.chunk", time.Now().Unix(), s.model
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain structs
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", data)
	_ = http.NewResponseController(s.w).Flush()
}

// split cuts a text into pieces of a few characters, at least two when there are two characters.
func split(text string) []string {
	const size = 6
	var pieces []string
	runes := []rune(text)
	if len(runes) > 1 && len(runes) <= size {
		return []string{string(runes[:1]), string(runes[1:])}
	}
	for len(runes) > 0 {
		n := min(size, len(runes))
		pieces = append(pieces, string(runes[:n]))
		runes = runes[n:]
	}
	return pieces
}

func count(req Request, reply Reply) usage {
	bytes := len(req.System)
	for _, m := range req.Messages {
		bytes += len(m.Text)
	}
	u := usage{PromptTokens: reply.In, CompletionTokens: reply.Out}
	if u.PromptTokens == 0 {
		u.PromptTokens = max(1, int64(bytes/4))
	}
	if u.CompletionTokens == 0 {
		u.CompletionTokens = max(1, int64(len(reply.Text)/4))
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}
