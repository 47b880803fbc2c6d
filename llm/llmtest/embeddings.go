package llmtest

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// EmbedRequest is one request for embeddings.
type EmbedRequest struct {
	Key        string // the bearer token, "" when there was none
	Model      string
	Texts      []string
	Dimensions int    // zero if not requested
	Format     string // encoding_format
}

// EmbedReply is the server's response to a request. The zero value is an answer without vectors.
type EmbedReply struct {
	Vectors  [][]float64
	Backward bool  // sends the vectors in reverse order, each with its correct index
	In       int64 // tokens used. Default to a quarter of the bytes, at least 1.
	NoUsage  bool
	Hang     bool // sends nothing until the client disconnects

	Status     int
	Code       string
	RetryAfter string
	Raw        string // the whole body, to simulate an invalid response
}

// EmbedScript returns the reply to a request. It may be called concurrently.
type EmbedScript func(r EmbedRequest) EmbedReply

// Embeddings is a scripted embeddings server.
type Embeddings struct {
	URL string // the base_url for clients

	script   EmbedScript
	mu       sync.Mutex
	requests []EmbedRequest
}

// StartEmbeddings serves a script until the test ends.
func StartEmbeddings(t testing.TB, script EmbedScript) *Embeddings {
	t.Helper()
	s := &Embeddings{script: script}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL + "/v1"
	return s
}

// Requests returns the requests so far, in order.
func (s *Embeddings) Requests() []EmbedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]EmbedRequest(nil), s.requests...)
}

// ServeHTTP answers one request.
func (s *Embeddings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/embeddings") {
		refuse(w, openAI, Reply{Status: http.StatusNotFound, Message: "no such address"})
		return
	}
	var wire struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions"`
		Format     string   `json:"encoding_format"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 8<<20)).Decode(&wire); err != nil {
		refuse(w, openAI, Reply{Status: http.StatusBadRequest, Message: fmt.Sprintf("read request: %v", err)})
		return
	}
	req := EmbedRequest{Model: wire.Model, Texts: wire.Input, Dimensions: wire.Dimensions, Format: wire.Format}
	req.Key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	reply := s.script(req)
	switch {
	case reply.Hang:
		<-r.Context().Done()
	case reply.Raw != "":
		sendRaw(w, Reply{Raw: reply.Raw, Type: "application/json"})
	case reply.Status != 0:
		refuse(w, openAI, Reply{Status: reply.Status, Code: reply.Code, RetryAfter: reply.RetryAfter, Message: strings.Join(req.Texts, " ")})
	default:
		sendVectors(w, req, reply)
	}
}

func sendVectors(w http.ResponseWriter, req EmbedRequest, reply EmbedReply) {
	type embedding struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float64 `json:"embedding"`
	}
	type usage struct {
		Prompt int64 `json:"prompt_tokens"`
		Total  int64 `json:"total_tokens"`
	}
	list := make([]embedding, len(reply.Vectors))
	for i, v := range reply.Vectors {
		at := i
		if reply.Backward {
			at = len(list) - 1 - i
		}
		list[at] = embedding{"embedding", i, v}
	}
	used := &usage{Prompt: reply.In}
	if used.Prompt == 0 {
		used.Prompt = max(1, int64(len(strings.Join(req.Texts, "")))/4)
	}
	if used.Total = used.Prompt; reply.NoUsage {
		used = nil
	}
	w.Header().Set("Content-Type", "application/json")
	send(w, struct {
		Object string      `json:"object"`
		Data   []embedding `json:"data"`
		Model  string      `json:"model"`
		Usage  *usage      `json:"usage,omitempty"`
	}{"list", list, req.Model, used})
}

// Meanings returns a script with a fake embedding model. The vector of a text is the sum of the vectors of its words;
// that of a word is random, and always the same. meanings maps synonyms to the same word; words that it maps to "" are
// ignored.
func Meanings(dimensions int, meanings map[string]string) EmbedScript {
	return func(r EmbedRequest) EmbedReply {
		var reply EmbedReply
		for _, text := range r.Texts {
			reply.Vectors = append(reply.Vectors, embedText(text, dimensions, meanings))
		}
		return reply
	}
}

func embedText(text string, dimensions int, meanings map[string]string) []float64 {
	sum := make([]float64, dimensions)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", r)
	}) {
		if same, known := meanings[word]; known {
			word = same
		}
		if word == "" {
			continue
		}
		h := fnv.New64a()
		h.Write([]byte(word))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range sum {
			sum[i] += r.NormFloat64()
		}
	}
	sum[0] += 1e-6 // a text without words must not have the zero vector
	return sum
}
