package monitor

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/safety/sandbox"
)

// checkerOf returns a Checker without a database, which can only probe.
func checkerOf(t *testing.T) *Checker {
	t.Helper()
	c, err := New(Options{Zone: time.UTC, Problem: "there is no Landlock here."})
	require.NoError(t, err)
	return c
}

// pages is a server with an answer for each case.
func pages() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status": "ok"}`)) })
	mux.HandleFunc("/down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/odd", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(599) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/ok", http.StatusFound) })
	mux.HandleFunc("/circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/circle", http.StatusFound) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/half", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("half"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	return mux
}

func TestProbe_FindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(pages())
	t.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(pages())
	t.Cleanup(secure.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	c := checkerOf(t)
	ends := secure.Certificate().NotAfter
	for name, one := range map[string]struct {
		address string
		change  func(m *Monitor)
		at      time.Time // zero for now
		want    string    // empty for nothing
	}{
		"good":                {address: plain.URL + "/ok"},
		"error status":        {address: plain.URL + "/down", want: "the server says 503 Service Unavailable"},
		"unknown status":      {address: plain.URL + "/odd", want: "the server says 599"},
		"accepted status":     {address: plain.URL + "/down", change: accepts(503)},
		"redirect":            {address: plain.URL + "/moved"},
		"accepted redirect":   {address: plain.URL + "/moved", change: accepts(302)},
		"endless redirects":   {address: plain.URL + "/circle", want: "it redirects more than 5 times"},
		"expected text":       {address: plain.URL + "/ok", change: contains(`"ok"`)},
		"missing text":        {address: plain.URL + "/ok", change: contains("up"), want: "the answer does not contain “up”"},
		"unwanted text":       {address: plain.URL + "/ok", change: lacks("status"), want: "the answer contains “status”"},
		"slow":                {address: plain.URL + "/slow", change: impatient, want: "there was no answer within 1 s"},
		"slow body":           {address: plain.URL + "/half", change: impatient, want: "there was no answer within 1 s"},
		"nobody listens":      {address: closed.URL, want: "the server cannot be reached"},
		"not private":         {address: plain.URL + "/ok", change: func(m *Monitor) { m.IsPrivate = false }, want: "which monitors.shop.private: true allows"},
		"metadata":            {address: "http://169.254.169.254/", want: "it leads to this machine or into a private network"},
		"valid certificate":   {address: secure.URL + "/ok", change: certificate(14)},
		"old certificate":     {address: secure.URL + "/ok", change: certificate(14), at: ends.Add(-13 * 24 * time.Hour), want: "its certificate ends on 29 January 2084, in 13 days"},
		"no certificate":      {address: plain.URL + "/ok", change: certificate(14), want: "the connection is not encrypted"},
		"another certificate": {address: "https://localhost" + secure.URL[len("https://127.0.0.1"):], want: "failed to verify certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			m := shop(one.address)
			m.Timeout = 20 * time.Second
			if one.change != nil {
				one.change(&m)
			}
			c.now = time.Now
			if !one.at.IsZero() {
				c.now = func() time.Time { return one.at }
			}
			problem, err := c.probe(t.Context(), m)
			require.NoError(t, err)
			if one.want == "" {
				require.Empty(t, problem)
			}
			require.Contains(t, problem, one.want)
		})
	}
}

func impatient(m *Monitor) { m.Timeout = time.Second }

func accepts(status int) func(m *Monitor) {
	return func(m *Monitor) { m.Accepts = func(found int) bool { return found == status } }
}

func contains(text string) func(m *Monitor) { return func(m *Monitor) { m.Contains = text } }

func lacks(text string) func(m *Monitor) { return func(m *Monitor) { m.Lacks = text } }

func certificate(days int) func(m *Monitor) {
	return func(m *Monitor) { m.CertificateDays = days }
}

func TestProbe_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := checkerOf(t).probe(ctx, shop("http://127.0.0.1:1/"))
	require.ErrorIs(t, err, context.Canceled, "multis ends, which is no failure of the server")
}

// provedSandbox is the sandbox of this machine, which a test could not escape from.
var provedSandbox = sync.OnceValues(func() (*sandbox.Sandbox, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := sandbox.New(sandbox.Options{Program: []string{program, sandbox.Subcommand}})
	if err != nil {
		return nil, err
	}
	return s, s.Probe(context.Background()).Err()
})

func TestProbe_RunsCommands(t *testing.T) {
	t.Parallel()
	s, err := provedSandbox()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "multis-monitor-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	logs := filepath.Join(dir, "logs")
	require.NoError(t, os.MkdirAll(logs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(logs, "shop.log"), []byte("all is well\n"), 0o644))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, 65534, 65534))
	}
	for name, one := range map[string]struct {
		script string
		change func(m *Monitor)
		want   string
	}{
		"good":            {script: "true"},
		"a status":        {script: "echo looking; echo 'disk is full' >&2; exit 3", want: "it ended with 3 and said: disk is full"},
		"a silent status": {script: "exit 1", want: "it ended with 1"},
		"missing text":    {script: "echo 3 of 5", change: contains("5 of 5"), want: "its output does not contain “5 of 5”"},
		"unwanted text":   {script: "echo ERROR: x", change: lacks("ERROR"), want: "its output contains “ERROR”"},
		"slow":            {script: "sleep 20", change: func(m *Monitor) { m.Timeout = time.Second }, want: "it took longer than 1 s"},
		"a read path":     {script: "cat " + logs + "/shop.log", change: func(m *Monitor) { m.ReadPaths = []string{logs}; m.Contains = "well" }},
		"another path":    {script: "cat " + logs + "/shop.log", want: "Permission denied"},
		"no such program": {change: func(m *Monitor) { m.Command = []string{"no-such-program"} }, want: "there is no program no-such-program"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := Monitor{Name: "disk", Command: []string{"sh", "-c", one.script}, Timeout: 10 * time.Second}
			if one.change != nil {
				one.change(&m)
			}
			c, err := New(Options{Zone: time.UTC, Runner: s, Folder: filepath.Join(dir, "monitors"), Monitors: []Monitor{m}})
			require.NoError(t, err)
			problem, err := c.probe(t.Context(), m)
			require.NoError(t, err)
			if one.want == "" {
				require.Empty(t, problem)
			}
			require.Contains(t, problem, one.want)
		})
	}
	problem, err := checkerOf(t).probe(t.Context(), Monitor{Name: "disk", Command: []string{"true"}})
	require.NoError(t, err)
	require.Equal(t, "commands cannot run here: there is no Landlock here", problem)
}
