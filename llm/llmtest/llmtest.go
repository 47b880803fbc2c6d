// Package llmtest is a model server for tests: it speaks the providers' protocols over HTTP as real servers do, and
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
	Key             string // "" when there was none
	Model           string
	System          string
	Messages        []Message // without the system message
	Tools           []Tool
	MaxTokens       int  // under any of its names
	CompletionLimit bool // it came as max_completion_tokens
	Temperature     float64
	JSON            bool
	WantsUsage      bool
	CacheMarked     bool // the instructions, or else the tools, are marked to be cached (Anthropic)
}

// Message is one message of a request. A result of a tool is a message of its own, with the role "tool".
type Message struct {
	Role    string
	Text    string
	Images  []string // their MIME types
	Calls   []Call
	CallID  string // of a result
	IsError bool   // a result that is marked as an error
}

// Tool is a tool that a request offers.
type Tool struct {
	Name        string
	Description string
	Schema      string // JSON
}

// Call is one use of a tool. In a Reply, Args may be any text: models write it, so it may be broken.
type Call struct {
	ID   string // in a Reply it defaults to "call_1", "call_2"; "-" leaves it out
	Name string
	Args string // JSON
	Sign string // the signature that goes with it (Gemini)
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
	Refusal string // what the model says when it will not
	Calls   []Call // tools to use, after the text
	Stop    string // finish_reason. Defaults to "stop", or "tool_calls" with Calls.
	In, Out int64  // tokens used. Default to a quarter of the bytes, at least 1.
	Cached  int64  // tokens of In that came from the cache
	Written int64  // tokens of In that were put there (Anthropic)
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

// InTurn is a script of one reply a request, the last one for all further requests.
func InTurn(replies ...Reply) Script {
	var mu sync.Mutex
	next := 0
	return func(context.Context, Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		reply := replies[min(next, len(replies)-1)]
		next++
		return reply
	}
}

// Server is the scripted server, an http.Handler.
type Server struct {
	// URL is the base_url for clients of the OpenAI protocol, when the server was started by Start, and Root the one for
	// those of Anthropic's and Gemini's.
	URL, Root string

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
	s.URL, s.Root = h.URL+"/v1", h.URL
	return s
}

// Requests are the requests so far, in the order they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// protocol reads a request of one kind of provider and answers it.
type protocol struct {
	read   func(r *http.Request) (Request, error)
	answer func(w http.ResponseWriter, r *http.Request, req Request, reply Reply)
	refuse func(w io.Writer, r Reply)
}

// protocolFor is the protocol that an address belongs to.
func protocolFor(path string) (protocol, bool) {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return openAI, true
	case strings.HasSuffix(path, "/v1/messages"):
		return anthropic, true
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini, true
	default:
		return openAI, false
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, ok := protocolFor(r.URL.Path)
	if !ok || r.Method != http.MethodPost {
		refuse(w, p, Reply{Status: http.StatusNotFound, Message: "no such address"})
		return
	}
	req, err := p.read(r)
	if err != nil {
		refuse(w, p, Reply{Status: http.StatusBadRequest, Message: err.Error()})
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	reply := s.script(r.Context(), req)
	switch {
	case reply.Raw != "":
		sendRaw(w, reply)
	case reply.Status != 0:
		refuse(w, p, reply)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		p.answer(w, r, req, reply.withDefaults(req))
	}
}

// withDefaults numbers the calls and counts the tokens.
func (r Reply) withDefaults(req Request) Reply {
	calls := make([]Call, 0, len(r.Calls))
	out := len(r.Text) + len(r.Refusal)
	for i, c := range r.Calls {
		switch c.ID {
		case "":
			c.ID = fmt.Sprintf("call_%d", i+1)
		case "-":
			c.ID = ""
		}
		calls = append(calls, c)
		out += len(c.Name) + len(c.Args)
	}
	r.Calls = calls
	in := len(req.System)
	for _, m := range req.Messages {
		in += len(m.Text)
	}
	if r.In == 0 {
		r.In = max(1, int64(in/4))
	}
	if r.Out == 0 {
		r.Out = max(1, int64(out/4))
	}
	return r
}

func decode(r *http.Request, into any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<20)).Decode(into); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	return nil
}

func refuse(w http.ResponseWriter, p protocol, r Reply) {
	w.Header().Set("Content-Type", "application/json")
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	w.WriteHeader(r.Status)
	p.refuse(w, r)
}

func sendRaw(w http.ResponseWriter, r Reply) {
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

// sendEvent streams one event, named or not.
func sendEvent(w http.ResponseWriter, name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs
	}
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

// streamText streams a text piece by piece. A reply that is to be cut short or to hang never gets further.
func streamText(r *http.Request, reply Reply, text string, piece func(string)) {
	pieces := splitText(text)
	for i, p := range pieces {
		if i == (len(pieces)+1)/2 && (reply.Cut || reply.Hang) {
			break
		}
		piece(p)
	}
	if reply.Hang {
		<-r.Context().Done()
	}
	if reply.Cut || reply.Hang {
		panic(http.ErrAbortHandler) // the way to drop a connection
	}
}

// splitText cuts a text into pieces of a few characters, at least two when there are two characters.
func splitText(text string) []string {
	var pieces []string
	runes := []rune(text)
	size := max(6, len(runes)/64) // a long text in pieces that do not take all day
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
