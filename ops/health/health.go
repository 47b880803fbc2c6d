// Package health reports whether multis works. State is what the running program answers on the homeserver's port: whether it
// is alive and ready. A Checker checks each part of an installation, for people and for monitors.
package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// The paths of the answers. They are those of other appservices, such as bridges.
const (
	livePath  = "/_matrix/mau/live"
	readyPath = "/_matrix/mau/ready"
)

// requestTimeout limits how long another process waits for an answer. A program that hangs accepts the connection and never answers.
const requestTimeout = 5 * time.Second

// State is the health of the running program.
type State struct {
	ping  func(context.Context) error
	ready atomic.Bool
}

// New returns the state of a program that is not ready yet. ping asks the database.
func New(ping func(context.Context) error) *State { return &State{ping: ping} }

// SetReady says that multis is connected to the homeserver.
func (s *State) SetReady() { s.ready.Store(true) }

// Register adds the answers to mux. They need no token and say nothing about the owner or a contact.
func (s *State) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+livePath, func(w http.ResponseWriter, _ *http.Request) { respond(w, http.StatusOK) })
	mux.HandleFunc("GET "+readyPath, s.readiness)
}

// readiness answers 200 if SetReady was called and the database answers a ping, else 500.
func (s *State) readiness(w http.ResponseWriter, r *http.Request) {
	const pingTimeout = 2 * time.Second
	ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
	defer cancel()
	if !s.ready.Load() || s.ping(ctx) != nil {
		respond(w, http.StatusInternalServerError)
		return
	}
	respond(w, http.StatusOK)
}

// respond responds with an empty JSON object.
func respond(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "{}\n") // if the connection broke, there is nobody to tell
}

// CheckReady returns an error unless the multis at an address of this machine is ready.
func CheckReady(ctx context.Context, address string) error {
	status, _, err := get(ctx, address, readyPath)
	if err != nil {
		return fmt.Errorf("multis does not answer: %w", err)
	}
	if status != http.StatusOK {
		return errors.New("multis is not ready")
	}
	return nil
}

// IsListening reports in answers whether a program answers at an address of this machine, and in other whether that program is not multis.
func IsListening(ctx context.Context, address string) (answers, other bool) {
	status, body, err := get(ctx, address, livePath)
	if err != nil {
		return false, false
	}
	return true, status != http.StatusOK || !json.Valid(body)
}

// get requests a path. It returns the status and the beginning of the body, as far as it arrived.
func get(ctx context.Context, address, path string) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	const maxBody = 1 << 10
	body, _ = io.ReadAll(io.LimitReader(resp.Body, maxBody)) // a body that broke off is not the one that multis sends
	return resp.StatusCode, body, nil
}
