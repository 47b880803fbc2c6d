// Package llmtest is a fake model server for tests. It serves the providers' protocols over HTTP, answers from a script, and
// can simulate failures.
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

// Request is one request of a client.
type Request struct {
	Key             string // API key; empty if there was none
	Model           string
	System          string
	Messages        []Message // without the system message
	Tools           []Tool
	MaxTokens       int  // whatever the protocol calls it
	CompletionLimit bool // whether MaxTokens was sent as max_completion_tokens
	Temperature     float64
	NoCalls         bool // whether no tool may be called, although there are some (OpenAI, Anthropic, Gemini)
	JSON            bool
	WantsUsage      bool
	Context         int  // num_ctx (Ollama)
	CacheMarked     bool // whether the instructions or tools are marked for the cache (Anthropic)
}

// Message is one message of a request. Each tool result is a separate message with the role "tool".
type Message struct {
	Role    string
	Text    string
	Images  []Image
	Calls   []Call
	CallID  string // of a tool result
	IsError bool   // whether a tool result is marked as an error
}

// Image is a picture in a message.
type Image struct {
	MIME string
	Data []byte
}

// Tool is a tool that a request offers.
type Tool struct {
	Name        string
	Description string
	Schema      string // JSON
}

// Call is a tool call. In a Reply, Args may be any text, to simulate malformed arguments.
type Call struct {
	ID        string // in a Reply it defaults to "call_1", "call_2"; "-" leaves it out
	Name      string
	Args      string // JSON
	Signature string // the signature of the call (Gemini)
}

// Last returns the text of the last message, or "" if there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Text
}

// Reply is the server's response to a request. The zero value is a successful empty answer.
type Reply struct {
	Text    string
	Refusal string // the model's refusal
	Calls   []Call // tools to use, after the text
	Stop    string // finish_reason. Defaults to "stop", or "tool_calls" with Calls.
	In, Out int64  // tokens used. Default to a quarter of the bytes, at least 1.
	Cached  int64  // tokens of In that came from the cache
	Written int64  // tokens of In that were written to the cache (Anthropic)
	NoUsage bool   // leaves the usage out
	Cut     bool   // drops the connection after half of the text
	Hang    bool   // sends nothing after half of the text, until the client disconnects

	Status     int    // sends this error status instead of an answer: 401, 429, 500
	Code       string // the code of the error
	Message    string // the message of the error
	RetryAfter string // the Retry-After header

	Raw  string // the whole body, to simulate an invalid response
	Type string // the content type of Raw. Defaults to "text/event-stream".
}

// Script returns the reply to a request. Its context ends when the client disconnects. It may be called concurrently.
type Script func(ctx context.Context, r Request) Reply

// Say returns a script that always answers with text.
func Say(text string) Script {
	return func(context.Context, Request) Reply { return Reply{Text: text} }
}

// InTurn returns a script with one reply per request. The last reply is repeated.
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
	// URL is the base_url for clients of the OpenAI protocol, and Root for those of the other protocols. Both are
	// empty unless Start started the server.
	URL, Root string

	script   Script
	mu       sync.Mutex
	requests []Request
}

// New returns a server that is not listening. Use it as an http.Handler.
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

// Requests returns the requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// protocol implements the API of one kind of provider: it reads a request and answers it.
type protocol struct {
	read   func(r *http.Request) (Request, error)
	answer func(w http.ResponseWriter, r *http.Request, req Request, reply Reply)
	refuse func(w io.Writer, r Reply)
}

// protocolFor returns the protocol of a URL path.
func protocolFor(path string) (protocol, bool) {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return openAI, true
	case strings.HasSuffix(path, "/api/chat"):
		return ollama, true
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

// withDefaults sets call ids and token counts that the script left empty.
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
	_, _ = io.WriteString(w, r.Raw) // the client may have disconnected
}

// send writes one JSON value. Errors are ignored, because the client may have disconnected.
func send(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }

// sendEvent streams one event; name may be empty.
func sendEvent(w http.ResponseWriter, name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain structs can always be encoded
	}
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

// streamText sends a text in pieces. If the reply has Cut or Hang, it sends only the first half, then panics to drop the
// connection: with Hang only once the client has disconnected.
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
		panic(http.ErrAbortHandler) // drops the connection
	}
}

// splitText cuts a text into pieces of a few characters, at least two when there are two characters.
func splitText(text string) []string {
	var pieces []string
	runes := []rune(text)
	size := max(6, len(runes)/64) // larger pieces for a long text, to save time
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
