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

// back stands between multis and Synapse: it remembers what multis sends, can lose a send or its answer, and can hold the
// owner's sync.
type back struct {
	URL string

	synapse *httputil.ReverseProxy

	mu    sync.Mutex
	sends []sending
	// intercept decides about a send before Synapse sees it; nil passes all.
	intercept func(sending) fate
	// after is told of a send that Synapse has taken, before multis is; nil is not.
	after   func(sending)
	held    chan struct{}     // closed when answers to polls may go on; nil when they are not held
	answers map[string][]byte // by next_batch: a sync's answer that multis may not have taken in yet
	synced  [][]byte          // answers that multis has asked beyond, so that it has taken them in
}

// sending is a PUT of an event.
type sending struct {
	Room   id.RoomID
	Type   string
	Txn    string
	Sender id.UserID
	Device id.DeviceID
}

// fate is what becomes of a send.
type fate int

const (
	passed fate = iota
	lost        // Synapse never sees it
)

func openBack(t *testing.T, homeserver string) *back {
	t.Helper()
	address, err := url.Parse(homeserver)
	require.NoError(t, err)
	b := &back{synapse: httputil.NewSingleHostReverseProxy(address), answers: map[string][]byte{}}
	b.synapse.ModifyResponse = b.noteSync
	b.synapse.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(b)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b.URL = server.URL
	return b
}

func (b *back) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Header.Del("Accept-Encoding") // to be read here
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

// sync passes a poll on. A poll from a position shows that what led there was taken in.
func (b *back) sync(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	since := r.URL.Query().Get("since")
	if answer, ok := b.answers[since]; ok {
		b.synced = append(b.synced, answer)
		delete(b.answers, since)
	}
	b.mu.Unlock()
	b.synapse.ServeHTTP(w, r)
}

// noteSync keeps the answer to a poll, and holds it back while the sync is held.
func (b *back) noteSync(resp *http.Response) error {
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

// holdSync keeps back the answers to polls that come from now on and returns what lets them go.
func (b *back) holdSync() (release func()) {
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

// tookBySync tells whether multis has taken in an event that came by the sync.
func (b *back) tookBySync(event id.EventID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, answer := range b.synced {
		if bytes.Contains(answer, []byte(event)) {
			return true
		}
	}
	return false
}

// onSend sets what decides about sends.
func (b *back) onSend(intercept func(sending) fate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.intercept = intercept
}

// afterSend sets what is told of sends that Synapse has taken.
func (b *back) afterSend(after func(sending)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.after = after
}

// sentTo lists the PUTs into a room so far.
func (b *back) sentTo(room id.RoomID) []sending {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []sending
	for _, s := range b.sends {
		if s.Room == room {
			found = append(found, s)
		}
	}
	return found
}

// readSending reads PUT /_matrix/client/v3/rooms/{room}/send/{type}/{txn}.
func readSending(r *http.Request) (sending, bool) {
	parts := strings.Split(r.URL.Path, "/")
	if r.Method != http.MethodPut || len(parts) != 9 || parts[6] != "send" {
		return sending{}, false
	}
	query := r.URL.Query()
	return sending{
		Type: parts[7],
		Room: id.RoomID(parts[5]), Txn: parts[8], Sender: id.UserID(query.Get("user_id")), Device: id.DeviceID(query.Get("device_id")),
	}, true
}
