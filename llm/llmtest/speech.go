package llmtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Recording is one request for a transcription.
type Recording struct {
	Model, Format, Name, MIME, Key string
	Data                           []byte
}

// Transcript is the response of a SpeechServer. The zero value is an empty transcript.
type Transcript struct {
	Text    string
	Seconds float64 // length of the audio in the response; zero omits it
	Status  int     // HTTP error status; zero means success
	Body    string  // raw body that replaces the answer
}

// SpeechServer serves POST /v1/audio/transcriptions as OpenAI does.
type SpeechServer struct {
	URL string // the base_url to configure

	script   func(Recording) Transcript
	mu       sync.Mutex
	requests []Recording
}

// StartSpeech starts a server that stops when the test ends.
func StartSpeech(t testing.TB, script func(Recording) Transcript) *SpeechServer {
	t.Helper()
	s := &SpeechServer{script: script}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/v1"
	return s
}

// Requests returns the requests so far, in order.
func (s *SpeechServer) Requests() []Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Recording(nil), s.requests...)
}

// ServeHTTP answers POST /v1/audio/transcriptions as the script says, and all else with 404.
func (s *SpeechServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/audio/transcriptions" {
		http.NotFound(w, r)
		return
	}
	got, err := readRecording(r)
	if err != nil {
		http.Error(w, `{"error":{"message":"`+err.Error()+`","type":"invalid_request_error"}}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, got)
	s.mu.Unlock()
	answer := s.script(got)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case answer.Status != 0:
		w.WriteHeader(answer.Status)
		_, _ = io.WriteString(w, `{"error":{"message":"no","type":"invalid_request_error","code":null}}`)
	case answer.Body != "":
		_, _ = io.WriteString(w, answer.Body)
	default:
		send(w, answer.wire())
	}
}

func (t Transcript) wire() any {
	type usage struct {
		Type    string  `json:"type"`
		Seconds float64 `json:"seconds"`
	}
	var counted *usage
	if t.Seconds > 0 {
		counted = &usage{"duration", t.Seconds}
	}
	return struct {
		Text  string `json:"text"`
		Usage *usage `json:"usage,omitempty"`
	}{t.Text, counted}
}

func readRecording(r *http.Request) (Recording, error) {
	file, header, err := r.FormFile("file")
	if err != nil {
		return Recording{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	return Recording{
		Model: r.FormValue("model"), Format: r.FormValue("response_format"), Name: header.Filename, MIME: header.Header.Get("Content-Type"),
		Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), Data: data,
	}, err
}
