package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/ops/health"
	"multis/ops/web"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// monitored starts a multis with monitoring and a log file, and lets random messages come in.
func monitored(t *testing.T) (r *run, address string) {
	t.Helper()
	address = fmt.Sprintf("127.0.0.1:%d", freePort(t))
	log := filepath.Join(t.TempDir(), "multis.log")
	r = startServeOn(t, 7, storetest.DSN(t), serveConfig+fmt.Sprintf("ops: {listen: %q}\nlogging: {file: %q}\n", address, log))
	_, err := knowledge.New(r.db).Index(t.Context(), knowledge.File{
		Name: "prices.md",
		Data: []byte("# Prices\n\nA consultation costs 80 EUR.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	r.makeRooms()
	for range 3 {
		r.deliverRandomMessages()
		r.awaitIdle()
	}
	_, err = r.db.Pool().Exec(t.Context(), "update chats set name = 'Zora Quux ' || id where kind <> 'admin'")
	require.NoError(t, err)
	var lines bytes.Buffer
	for event, text := range r.texts {
		line, err := json.Marshal(map[string]any{
			"level": "error", "event_id": event,
			"error": "cannot store from " + event.String() + ": \"" + text + "\"", "message": "Left out",
		})
		require.NoError(t, err)
		lines.Write(append(line, '\n'))
	}
	require.NoError(t, os.WriteFile(log, lines.Bytes(), 0o600))
	return r, address
}

// contactWords returns what contacts wrote, and the names and ids of their chats.
func (r *run) contactWords() []string {
	r.t.Helper()
	words, err := store.ContactWords(r.t.Context(), r.db.DB())
	require.NoError(r.t, err)
	require.NotEmpty(r.t, words)
	for event, text := range r.texts {
		words = append(words, event.String())
		if strings.ContainsFunc(text, unicode.IsSpace) {
			words = append(words, text)
		}
	}
	return words
}

// receiver is the login of the demo bridge; the word is also in codes of multis.
const receiver = "phone"

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(raw)
}

func TestOps_SayNothingOfContacts(t *testing.T) {
	t.Parallel()
	r, address := monitored(t)

	_, body := get(t, "http://"+address+"/health")
	var report health.Report
	require.NoError(t, json.Unmarshal([]byte(body), &report))
	require.Len(t, report.Checks, 9)
	shown := map[string]string{"health": body}

	status, body := get(t, "http://"+address+"/metrics")
	require.Equal(t, http.StatusOK, status)
	shown["metrics"] = body
	series := 0
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	t.Log(series, "series")
	require.LessOrEqual(t, series, 500)
	for _, name := range []string{
		`multis_events_total{door="push"}`, `multis_decisions_total{action="archive",code="silent"}`,
		`multis_sends_total{state="sent"}`, "multis_search_seconds_count",
	} {
		require.Contains(t, body, "\n"+name)
	}
	require.NotContains(t, body, `multis_events_total{door="push"} 0`)

	out := filepath.Join(t.TempDir(), "report.zip")
	require.NoError(t, diagnoseCmd{Out: out}.Run(t.Context(), &cli{Config: r.file, Registration: "registration.yaml"}))
	require.ErrorContains(t, diagnoseCmd{Out: out}.Run(t.Context(), &cli{Config: r.file, Registration: "registration.yaml"}), "exists already")
	archive, err := zip.OpenReader(out)
	require.NoError(t, err)
	defer archive.Close()
	for _, f := range archive.File {
		file, err := f.Open()
		require.NoError(t, err)
		raw, err := io.ReadAll(file)
		require.NoError(t, err)
		shown[f.Name] = string(raw)
	}
	for _, name := range []string{"versions.txt", "doctor.json", "metrics.txt", "log.jsonl", "schema.txt", "config.txt", "plans.txt"} {
		require.NotEmpty(t, shown[name], name)
	}
	require.Contains(t, shown["schema.txt"], "messages.body text not null")
	for name, text := range shown {
		require.NotContains(t, text, "as-token", name)
		require.NotContains(t, text, "Quux", name)
		for _, word := range r.contactWords() {
			if len(word) > 4 && word != receiver {
				require.NotContains(t, text, word, name)
			}
		}
	}
}

func TestOps_ProxyReachesPageOnly(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	monitors := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "for monitors") })
	for _, c := range []struct{ page, host, want string }{
		{"", "127.0.0.1:29400", "for monitors"},
		{"http://127.0.0.1:29400", "127.0.0.1:29400", "for monitors"},
		{"https://multis.example.com", "127.0.0.1:29400", "for monitors"},
		{"https://multis.example.com", "multis.example.com", "Not found"},
		{"https://multis.example.com", "MULTIS.example.com", "Not found"},
		{"https://multis.example.com", "multis.example.com.", "another address"},
		{"https://multis.example.com", "10.0.0.1", "another address"},
	} {
		page := c.page
		var site *web.Site
		if page != "" {
			var err error
			site, err = web.New(t.Context(), web.Options{
				Store:   st,
				Address: page,
				Owner:   "@you:example.com",
				Zone:    time.UTC,
				Now:     time.Now,
			})
			require.NoError(t, err)
		}
		for _, path := range []string{"/health", "/metrics"} {
			req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			req.Host = c.host
			w := httptest.NewRecorder()
			opsRoutes(monitors, monitors, site).ServeHTTP(w, req)
			require.Contains(t, w.Body.String(), c.want, page)
		}
		if page == "" || c.want == "another address" || c.want == "for monitors" && strings.HasPrefix(page, "https:") {
			continue // there is no page
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sign-in", nil)
		req.Host = c.host
		w := httptest.NewRecorder()
		opsRoutes(monitors, monitors, site).ServeHTTP(w, req)
		require.Contains(t, w.Body.String(), "Only the owner gets a link", page)
	}
}
