// Package appservice connects multis to the homeserver. It receives events by appservice transactions (push) and by the owner's /sync,
// stores them with the jobs they need, and sends messages. It handles rooms, senders and encryption. It does not decide what is answered.
package appservice

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/rs/zerolog"
)

// maxTransaction is the maximum size of a transaction, in bytes. Synapse sends at most 100 events of 64 KiB and their unsigned parts.
const maxTransaction = 64 << 20

// Server handles the homeserver's requests to the appservice.
type Server struct {
	inbox   *Inbox
	hsToken string
}

// NewServer returns a server that stores events through inbox. Requests must carry hsToken.
func NewServer(inbox *Inbox, hsToken string) *Server {
	return &Server{inbox: inbox, hsToken: hsToken}
}

// Handler returns the appservice's HTTP handler.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("PUT /_matrix/app/v1/transactions/{txn}", s.requireToken(s.transaction))
	mux.Handle("POST /_matrix/app/v1/ping", s.requireToken(func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, struct{}{})
	}))
	mux.Handle("GET /_matrix/app/v1/users/{user}", s.requireToken(respondNotFound))
	mux.Handle("GET /_matrix/app/v1/rooms/{alias}", s.requireToken(respondNotFound))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "M_UNRECOGNIZED", "multis does not answer this path")
	})
	return mux
}

// requireToken rejects requests without the hs_token. The comparison takes constant time.
func (s *Server) requireToken(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case !found || token == "":
			fail(w, http.StatusUnauthorized, "M_MISSING_TOKEN", "the request carries no hs_token")
		case subtle.ConstantTimeCompare([]byte(token), []byte(s.hsToken)) != 1:
			fail(w, http.StatusForbidden, "M_FORBIDDEN", "the hs_token is wrong: config.yaml and the homeserver's registration differ")
		default:
			next(w, r)
		}
	})
}

// transaction stores the events that the homeserver pushes. It answers 200 only after they are committed; after any other answer the
// homeserver repeats the transaction.
func (s *Server) transaction(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxTransaction))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		fail(w, http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "a transaction may have 64 MiB")
		return
	case err != nil:
		fail(w, http.StatusBadRequest, "M_NOT_JSON", "the body broke off")
		return
	}
	events, ephemeral, err := parseTransaction(r.Context(), body)
	if err != nil {
		fail(w, http.StatusBadRequest, "M_NOT_JSON", "the transaction is not JSON")
		return
	}
	err = s.inbox.Receive(r.Context(), events, "")
	s.inbox.sources.pushed.Add(int64(len(events)))
	s.inbox.sources.recordPush(s.inbox.now(), err == nil)
	if err != nil {
		zerolog.Ctx(r.Context()).Err(err).Int("events", len(events)).Msg("Cannot store a transaction; the homeserver will send it again")
		fail(w, http.StatusInternalServerError, "M_UNKNOWN", "the events could not be stored")
		return
	}
	if err := s.inbox.ReceiveEphemeral(r.Context(), ephemeral); err != nil {
		zerolog.Ctx(r.Context()).Warn().Err(err).Msg("Cannot note who is typing or reading")
	}
	respond(w, http.StatusOK, struct{}{})
}

// respondNotFound answers the homeserver's queries for users and aliases: multis creates none on demand.
func respondNotFound(w http.ResponseWriter, _ *http.Request) {
	fail(w, http.StatusNotFound, "M_NOT_FOUND", "multis makes no users or aliases on demand")
}

// fail responds with a Matrix error.
func fail(w http.ResponseWriter, status int, code, text string) {
	respond(w, status, struct {
		Code string `json:"errcode"`
		Text string `json:"error"`
	}{code, text})
}

// respond responds with body as JSON.
func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // if the connection broke, the homeserver repeats the request
}
