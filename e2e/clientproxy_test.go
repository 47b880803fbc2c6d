//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"
)

// clientProxy is a proxy between multis and Synapse's client API. It records the events that multis sends, can drop them, and can
// hold back the answers to /sync.
type clientProxy struct {
	URL string

	synapse *httputil.ReverseProxy

	mu    sync.Mutex
	sends []sendRequest
	// intercept decides whether Synapse gets an event; nil passes all.
	intercept func(sendRequest) verdict
	// after is called when Synapse has accepted an event, before multis gets the response. May be nil.
	after   func(sendRequest)
	held    chan struct{}     // closed to release held responses; nil if they are not held
	answers map[string][]byte // responses to /sync by next_batch, which multis may not have processed
	synced  [][]byte          // responses that multis has processed, as its next request shows
}

// sendRequest is a request to send an event.
type sendRequest struct {
	Room   id.RoomID
	Type   string
	Txn    string
	Sender id.UserID
	Device id.DeviceID
}

// verdict says what the proxy does with an event.
type verdict int

const (
	passed verdict = iota
	lost           // Synapse never sees it
)

func openClientProxy(t *testing.T, homeserver string) *clientProxy {
	t.Helper()
	address, err := url.Parse(homeserver)
	require.NoError(t, err)
	b := &clientProxy{synapse: httputil.NewSingleHostReverseProxy(address), answers: map[string][]byte{}}
	b.synapse.ModifyResponse = b.noteSync
	b.synapse.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(b)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b.URL = server.URL
	return b
}

func (b *clientProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("Accept-Encoding") // so that the proxy can read responses
	if strings.HasSuffix(r.URL.Path, "/sync") {
		b.sync(w, r)
		return
	}
	s, ok := readSending(r)
	if !ok {
		b.synapse.ServeHTTP(w, r)
		return
	}
	b.mu.Lock()
	b.sends = append(b.sends, s)
	intercept, after := b.intercept, b.after
	b.mu.Unlock()
	if intercept != nil && intercept(s) == lost {
		panic(http.ErrAbortHandler) // the connection breaks
	}
	if after == nil {
		b.synapse.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	b.synapse.ServeHTTP(answer, r)
	after(s)
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // multis may be dead by now
}

// sync forwards a request to /sync. Its position shows that multis has processed the response that led to it.
func (b *clientProxy) sync(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	since := r.URL.Query().Get("since")
	if answer, ok := b.answers[since]; ok {
		b.synced = append(b.synced, answer)
		delete(b.answers, since)
	}
	b.mu.Unlock()
	b.synapse.ServeHTTP(w, r)
}

// noteSync records a response of /sync, and waits while responses are held.
func (b *clientProxy) noteSync(resp *http.Response) error {
	if !strings.HasSuffix(resp.Request.URL.Path, "/sync") || resp.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var position struct {
		Next string `json:"next_batch"`
	}
	if err := json.Unmarshal(body, &position); err != nil {
		return err
	}
	b.mu.Lock()
	b.answers[position.Next] = append(b.answers[position.Next], body...)
	held := b.held
	b.mu.Unlock()
	if held == nil {
		return nil
	}
	select {
	case <-held:
		return nil
	case <-resp.Request.Context().Done():
		return resp.Request.Context().Err()
	}
}

// holdSync holds back the responses of /sync from now on, until release is called.
func (b *clientProxy) holdSync() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make(chan struct{})
	b.held = held
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.held = nil
		close(held)
	})
}

// receivedBySync reports whether multis has processed a response of /sync with the event.
func (b *clientProxy) receivedBySync(event id.EventID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, answer := range b.synced {
		if bytes.Contains(answer, []byte(event)) {
			return true
		}
	}
	return false
}

// onSend sets the function that decides about events.
func (b *clientProxy) onSend(intercept func(sendRequest) verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.intercept = intercept
}

// afterSend sets the function that is called for accepted events.
func (b *clientProxy) afterSend(after func(sendRequest)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.after = after
}

// sentTo lists the requests to send into a room so far.
func (b *clientProxy) sentTo(room id.RoomID) []sendRequest {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []sendRequest
	for _, s := range b.sends {
		if s.Room == room {
			found = append(found, s)
		}
	}
	return found
}

// readSending reads PUT /_matrix/client/v3/rooms/{room}/send/{type}/{txn}.
func readSending(r *http.Request) (sendRequest, bool) {
	parts := strings.Split(r.URL.Path, "/")
	if r.Method != http.MethodPut || len(parts) != 9 || parts[6] != "send" {
		return sendRequest{}, false
	}
	query := r.URL.Query()
	return sendRequest{
		Type: parts[7],
		Room: id.RoomID(parts[5]), Txn: parts[8], Sender: id.UserID(query.Get("user_id")), Device: id.DeviceID(query.Get("device_id")),
	}, true
}
