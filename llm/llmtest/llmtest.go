// Package llmtest is a model server for tests: it speaks the chat completions protocol over HTTP as real servers do, and
// answers from a script. It can also fail the ways they fail.
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Request is what a client asked.
type Request struct {
	Key         string // the bearer token, "" when there was none
	Model       string
	System      string
	Messages    []Message // without the system message
	MaxTokens   int       // under either of its names
	NewerLimit  bool      // it came as max_completion_tokens
	Temperature float64
	JSON        bool
	WantsUsage  bool
}

// Message is one message of a request.
type Message struct {
	Role string `json:"role"`
	Text string `json:"content"`
}

// Last is the text of the last message, "" when there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// Reply is what the server does with a request. The zero value is an empty answer that went well.
type Reply struct {
	Text    string
	Stop    string // finish_reason. Defaults to "stop".
	In, Out int64  // tokens used. Default to a quarter of the bytes, at least 1.
	NoUsage bool   // leaves the usage out
	Cut     bool   // drops the connection after half of the text
	Hang    bool   // falls silent after half of the text, until the client leaves

	Status     int    // an error instead of an answer: 401, 429, 500
	Code       string // of the error
	Message    string // of the error
	RetryAfter string // its header

	Raw  string // the whole body, for what is no proper answer at all
	Type string // the content type of Raw. Defaults to "text/event-stream".
}

// Script decides on a request. Its context ends when the client leaves. It may be called concurrently.
type Script func(ctx context.Context, r Request) Reply

// Say is a script with one answer for everything.
func Say(text string) Script {
	return func(context.Context, Request) Reply { return Reply{Text: text} }
}

// Server is the scripted server, an http.Handler.
type Server struct {
	// URL is the base_url for clients, when the server was started by Start.
	URL string

	script   Script
	mu       sync.Mutex
	requests []Request
}

// New returns a server that nobody serves yet.
func New(script Script) *Server { return &Server{script: script} }

// Start serves a script until the test ends.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	s := New(script)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL + "/v1"
	return s
}

// Requests are the requests so far, in the order they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		refuse(w, Reply{Status: http.StatusNotFound, Message: "no such address"})
		return
	}
	req, err := read(r)
	if err != nil {
		refuse(w, Reply{Status: http.StatusBadRequest, Message: err.Error()})
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	reply := s.script(r.Context(), req)
	switch {
	case reply.Raw != "":
		raw(w, reply)
	case reply.Status != 0:
		refuse(w, reply)
	default:
		answer(w, r, req, reply)
	}
}

func read(r *http.Request) (Request, error) {
	var wire struct {
		Model               string    `json:"model"`
		Stream              bool      `json:"stream"`
		Messages            []Message `json:"messages"`
		MaxTokens           int       `json:"max_tokens"`
		MaxCompletionTokens int       `json:"max_completion_tokens"`
		Temperature         float64   `json:"temperature"`
		StreamOptions       struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		ResponseFormat struct {
			Type string `json:"type"`
		} `json:"response_format"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 8<<20)).Decode(&wire); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	if !wire.Stream {
		return Request{}, fmt.Errorf("only streams are served here")
	}
	req := Request{
		Model: wire.Model, MaxTokens: wire.MaxTokens + wire.MaxCompletionTokens, NewerLimit: wire.MaxCompletionTokens > 0,
		Temperature: wire.Temperature, JSON: wire.ResponseFormat.Type == "json_object", WantsUsage: wire.StreamOptions.IncludeUsage,
	}
	req.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	for _, m := range wire.Messages {
		if m.Role == "system" {
			req.System += m.Text
		} else {
			req.Messages = append(req.Messages, m)
		}
	}
	return req, nil
}

func refuse(w http.ResponseWriter, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	w.WriteHeader(r.Status)
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

func raw(w http.ResponseWriter, r Reply) {
	if r.Type == "" {
		r.Type = "text/event-stream"
	}
	w.Header().Set("Content-Type", r.Type)
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	_, _ = io.WriteString(w, r.Raw) // a client that left is no fault of ours
}

// send writes one JSON value. What cannot be sent has nobody to read it.
func send(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }
