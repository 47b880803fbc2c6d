package tools_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/internal/fetch"
	"multis/knowledge"
)

func TestFetchURL_NeedsNamedOrAllowedPage(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html><body><h1>Hours</h1><p>We are open on Sundays from ten to four, all year round, holidays too.</p></body></html>"))
	}))
	t.Cleanup(server.Close)
	tool := tools.FetchURL{
		Client:    fetch.New(fetch.Options{AllowPrivate: true}),
		Documents: knowledge.Open(nil, knowledge.Options{}),
		Domains:   []string{"allowed.example"},
	}
	r := tools.NewRegistry(tools.TierPolicy{}, tool)
	call := func(url, words string, approved bool) tools.Result {
		raw, err := json.Marshal(map[string]string{"url": url})
		require.NoError(t, err)
		res, err := r.Do(context.Background(), tools.Call{
			Name:   "fetch_url",
			Args:   raw,
			Caller: tools.Caller{Owner: true, OwnerText: words},
		}, approved)
		require.NoError(t, err)
		return res
	}
	page := server.URL + "/hours"
	require.Equal(t, tools.CodeApproval, call(page, "when are they open?", false).Code)
	require.Equal(t, tools.CodeApproval, call(page+"?stolen=480", "look at "+page, false).Code, "what was added to it is asked about")
	require.Zero(t, asked)
	require.Contains(t, call(page, "look at <"+page+">, please", false).ForLLM, "open on Sundays")
	require.Contains(t, call(page, "", true).ForLLM, "open on Sundays")
	require.Equal(t, tools.Read, tool.TierOf(tools.Call{Args: json.RawMessage(`{"url": "https://www.allowed.example/x"}`)}))
	for _, url := range []string{
		"https://notallowed.example/", "https://allowed.example.evil.example/",
		"https://allowed.example@evil.example/", "x",
	} {
		require.Equal(t, tools.Confirm, tool.TierOf(tools.Call{Args: json.RawMessage(`{"url": "` + url + `"}`)}), url)
	}
}

func TestFetchURL_RedirectStaysAllowed(t *testing.T) {
	t.Parallel()
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/out":
			http.Redirect(w, r, "http://localhost:"+r.URL.Query().Get("port")+"/end", http.StatusFound)
		case "/in":
			http.Redirect(w, r, "/end", http.StatusMovedPermanently)
		default:
			reached++
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html><body><h1>Hours</h1><p>We are open on Sundays from ten to four, all year round, holidays too.</p></body></html>"))
		}
	}))
	t.Cleanup(server.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	tool := tools.FetchURL{Client: fetch.New(fetch.Options{AllowPrivate: true}), Documents: knowledge.Open(nil, knowledge.Options{})}
	get := func(url string, domains ...string) tools.Result {
		raw, err := json.Marshal(map[string]string{"url": url})
		require.NoError(t, err)
		res, err := tool.Run(context.Background(), tools.Call{Args: raw, Caller: tools.Caller{Owner: true, Domains: domains}})
		require.NoError(t, err)
		return res
	}
	res := get(server.URL+"/out?port="+port, "127.0.0.1")
	require.True(t, res.IsError)
	require.Contains(t, res.ForLLM, "it leads to http://localhost:"+port+"/end, which is not allowed")
	require.Zero(t, reached)
	require.Contains(t, get(server.URL+"/in").ForLLM, "open on Sundays", "within the site it is followed")
	require.Contains(t, get(server.URL+"/out?port="+port, "localhost").ForLLM, "open on Sundays", "and so is a redirect to what is allowed")
}

func TestFetchURL_RefusesPrivateNetwork(t *testing.T) {
	t.Parallel()
	tool := tools.FetchURL{Client: fetch.New(fetch.Options{}), Documents: knowledge.Open(nil, knowledge.Options{})}
	for _, url := range []string{"http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "file:///etc/passwd"} {
		res, err := tool.Run(context.Background(), tools.Call{Args: json.RawMessage(`{"url": "` + url + `"}`)})
		require.NoError(t, err)
		require.True(t, res.IsError, url)
	}
}
