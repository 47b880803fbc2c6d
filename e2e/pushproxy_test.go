//go:build e2e

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"maunium.net/go/mautrix/id"
)

// pushProxy listens at the address of the registration, forwards Synapse's requests to the process under test and records the
// transactions. Without a process it accepts and discards them, so that no test gets the events of another.
type pushProxy struct {
	server *http.Server

	mu      sync.Mutex
	targets []string // addresses of processes, tried in turn
	refuse  bool
	held    chan struct{} // closed to release held requests; nil if they are not held
	pushed  []transaction
}

// transaction is a transaction that multis has acknowledged, or the proxy while there is no process.
type transaction struct {
	Path   string
	Header http.Header
	Body   []byte
}

func openPushProxy(port int) (*pushProxy, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	f := &pushProxy{}
	f.server = &http.Server{Handler: f}
	go func() {
		if err := f.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
	return f, nil
}

func (f *pushProxy) close() { f.server.Close() }

// setTargets sets the ports of the processes to forward to; without ports, requests are discarded. The record of transactions begins anew.
func (f *pushProxy) setTargets(ports ...int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = false
	f.targets = nil
	f.pushed = nil
	for _, port := range ports {
		f.targets = append(f.targets, fmt.Sprintf("http://127.0.0.1:%d", port))
	}
}

// shut makes every request fail, as if multis were down, or ends that.
func (f *pushProxy) shut(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = on
}

// hold delays all requests, as if multis hung, until release is called.
func (f *pushProxy) hold() (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := make(chan struct{})
	f.held = held
	return sync.OnceFunc(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.held = nil
		close(held)
	})
}

// acknowledged returns the acknowledged transactions with an event.
func (f *pushProxy) acknowledged(event id.EventID) []transaction {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []transaction
	for _, txn := range f.pushed {
		if bytes.Contains(txn.Body, []byte(event)) {
			found = append(found, txn)
		}
	}
	return found
}

func (f *pushProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // Synapse is gone
	}
	f.mu.Lock()
	targets := f.targets
	refuse := f.refuse
	held := f.held
	f.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-r.Context().Done():
			return
		}
	}
	txn := transaction{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	switch {
	case refuse:
		w.WriteHeader(http.StatusBadGateway)
		return
	case len(targets) == 0:
		f.note(r, txn)
		fmt.Fprint(w, "{}")
		return
	}
	for _, target := range targets {
		resp, err := f.pass(r, target, txn)
		if err != nil {
			continue // a process that was killed
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			f.note(r, txn)
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = w.Write(answer) // Synapse may be gone by now
		return
	}
	w.WriteHeader(http.StatusBadGateway)
}

// note records an acknowledged transaction.
func (f *pushProxy) note(r *http.Request, txn transaction) {
	if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "/transactions/") {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pushed = append(f.pushed, txn)
}

func (f *pushProxy) pass(r *http.Request, target string, txn transaction) (*http.Response, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.RequestURI(), bytes.NewReader(txn.Body))
	if err != nil {
		return nil, err
	}
	req.Header = txn.Header
	return slowClient().Do(req)
}
