package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"multis/agent/tools"
)

// memoryStore is a LoginStore in memory.
type memoryStore struct {
	mu    sync.Mutex
	texts map[string]string
}

func (s *memoryStore) Load(_ context.Context, server string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[server], nil
}

func (s *memoryStore) Save(_ context.Context, server, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts[server] = text
	return nil
}

func (s *memoryStore) Replace(_ context.Context, server, was, text string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts[server] != was {
		return false, nil
	}
	s.texts[server] = text
	return true, nil
}

// oauthServer is an MCP server that requires OAuth, with its authorization server, according to RFC 6749, 7636, 7591,
// 8414 and 9728. An access token is valid for lifetime. A refresh token can be used once.
type oauthServer struct {
	*httptest.Server

	lifetime int // seconds

	// refreshing is called for each request to refresh a token, and returns the HTTP status of the response; 0 issues a new token.
	refreshing func() int

	mu         sync.Mutex
	challenges map[string]string // by code
	token      string            // the valid access token
	refresh    string
	issued     int
	revoked    bool
}

func newOAuthServer(t *testing.T, lifetime int) *oauthServer {
	t.Helper()
	g := &oauthServer{lifetime: lifetime, challenges: map[string]string{}}
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	answer := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	inner := testServer(nil, nil)
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		if token != g.token || g.revoked {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Hour)}, nil
	}
	mux.Handle("/mcp", auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: g.URL + "/resource"})(
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return inner }, nil)))
	mux.Handle("/resource", auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		Resource:             g.URL + "/mcp",
		AuthorizationServers: []string{g.URL},
	}))
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"registration_endpoint":    g.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none"},
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		_ = json.NewDecoder(r.Body).Decode(&asked)
		asked["client_id"] = "made-known"
		answer(w, http.StatusCreated, asked)
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		g.mu.Lock()
		defer g.mu.Unlock()
		code := fmt.Sprint("code-", len(g.challenges))
		g.challenges[code] = q.Get("code_challenge")
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("grant_type") == "refresh_token" && g.refreshing != nil {
			if status := g.refreshing(); status != 0 {
				answer(w, status, map[string]string{"error_description": "\x1b[31msecret-" + strings.Repeat("x", 1000)})
				return
			}
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		byCode := r.FormValue("grant_type") == "authorization_code" &&
			g.challenges[r.FormValue("code")] == base64.RawURLEncoding.EncodeToString(sum[:])
		byRefresh := r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == g.refresh && !g.revoked
		if r.FormValue("client_id") != "made-known" || !byCode && !byRefresh {
			answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
			return
		}
		g.issued++
		g.token, g.refresh = fmt.Sprint("secret-token-", g.issued), fmt.Sprint("secret-refresh-", g.issued)
		answer(w, http.StatusOK, map[string]any{
			"access_token": g.token, "token_type": "Bearer", "expires_in": g.lifetime,
			"refresh_token": g.refresh,
		})
	})
	return g
}

// browse opens an address like the browser of a logged-in user, and returns the address of the last redirect.
func browse(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Header.Get("Location") + "\n", nil
}

// problemOf connects and calls a tool. It returns why connecting failed; empty if it did not.
func problemOf(t *testing.T, s Server) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	registry := tools.NewRegistry(tools.TierPolicy{})
	source := NewSource(registry, []Server{s})
	done := make(chan struct{})
	go func() { defer close(done); _ = source.Run(ctx) }()
	defer func() { cancel(); <-done }()
	var state State
	require.Eventually(t, func() bool {
		state = source.States()[0]
		return state.Problem != "it was not tried yet"
	}, time.Minute, 5*time.Millisecond)
	if state.Problem == "" {
		require.Positive(t, state.Tools)
	}
	return state.Problem
}

func TestLogin_ConnectsToServer(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 3600)
	shelf := &memoryStore{texts: map[string]string{}}
	server := Server{Name: "guarded", URL: g.URL + "/mcp", Logins: &Logins{Store: shelf, Secret: "as-token"}}

	require.Contains(t, problemOf(t, server), "it wants a login: run multis mcp login guarded")

	n, err := Login(t.Context(), server, browse)
	require.NoError(t, err)
	require.Positive(t, n)
	require.Empty(t, problemOf(t, server))
	require.Equal(t, 1, g.issued, "a token that is good is not made new")

	kept := shelf.texts["guarded"]
	plain, err := base64.StdEncoding.DecodeString(kept)
	require.NoError(t, err)
	require.NotContains(t, kept+string(plain), "secret-")

	other := server
	other.Logins = &Logins{Store: shelf, Secret: "another"}
	require.Contains(t, problemOf(t, other), "cannot be read with this as_token: run multis mcp login guarded")
	shelf.texts["other"] = kept
	other = server
	other.Name = "other"
	require.Contains(t, problemOf(t, other), "cannot be read", "one server's login is not another's")
	moved := server
	moved.URL = g.URL + "/elsewhere"
	require.Contains(t, problemOf(t, moved), "it wants a login", "a token goes to no other address")

	g.mu.Lock()
	g.token = "taken back"
	g.mu.Unlock()
	require.Empty(t, problemOf(t, server), "what is taken no more is made new")
	require.Equal(t, 2, g.issued)
	g.mu.Lock()
	g.revoked = true
	g.mu.Unlock()
	require.Contains(t, problemOf(t, server), "its login has ended: run multis mcp login guarded")
}

func TestLogin_ExpiresWithoutRefresh(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 3600)
	shelf := &memoryStore{texts: map[string]string{}}
	server := Server{Name: "guarded", URL: g.URL + "/mcp", Logins: &Logins{Store: shelf, Secret: "as-token"}}
	kept := login{URL: server.URL, Token: &oauth2.Token{AccessToken: "old"}}
	require.NoError(t, server.Logins.save(t.Context(), server, kept))
	require.Equal(t, "it refused the login (401): run multis mcp login guarded where multis runs", problemOf(t, server))
	kept.Token.Expiry = time.Now()
	require.NoError(t, server.Logins.save(t.Context(), server, kept))
	require.Equal(t, "its login has ended: run multis mcp login guarded where multis runs", problemOf(t, server))
}

func TestRefresh_KeepsNewLogin(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 1)
	shelf := &memoryStore{texts: map[string]string{}}
	server := Server{Name: "guarded", URL: g.URL + "/mcp", Logins: &Logins{Store: shelf, Secret: "as-token"}}
	_, err := Login(t.Context(), server, browse)
	require.NoError(t, err)
	g.refreshing = func() int {
		g.refreshing = nil
		require.NoError(t, shelf.Save(t.Context(), "guarded", ""))
		return 0
	}
	require.Contains(t, problemOf(t, server), "it wants a login", "a logout holds")
	require.Empty(t, shelf.texts["guarded"])

	_, err = Login(t.Context(), server, browse)
	require.NoError(t, err)
	for _, status := range []int{0, http.StatusBadRequest} {
		g.refreshing = func() int {
			g.refreshing = nil
			newer := login{URL: server.URL, Token: &oauth2.Token{AccessToken: g.token}}
			require.NoError(t, server.Logins.save(t.Context(), server, newer))
			return status
		}
		before := g.issued
		problem := problemOf(t, server)
		if status != 0 {
			require.Empty(t, problem)
			require.Equal(t, before, g.issued, "the newer login is taken as it is")
		}
		_, known, err := server.Logins.load(t.Context(), server)
		require.NoError(t, err)
		require.Empty(t, known.Token.RefreshToken, "and not overwritten")
		_, err = Login(t.Context(), server, browse)
		require.NoError(t, err)
	}
}

func TestRefresh_AuthorizationServerDown(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 1)
	shelf := &memoryStore{texts: map[string]string{}}
	server := Server{Name: "guarded", URL: g.URL + "/mcp", Read: []string{"*"}, Logins: &Logins{Store: shelf, Secret: "as-token"}}
	_, err := Login(t.Context(), server, browse)
	require.NoError(t, err)
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests} {
		g.refreshing = func() int { return status }
		said := problemOf(t, server)
		require.Contains(t, said, fmt.Sprint("renew the login: it answers with ", status), "which is no reason to log in again")
		require.NotContains(t, said, "secret")
	}
	g.refreshing = nil
	require.Empty(t, problemOf(t, server))

	registry := tools.NewRegistry(tools.TierPolicy{})
	var slow atomic.Bool
	stuck := make(chan struct{})
	g.refreshing = func() int {
		if !slow.Load() {
			return 0
		}
		<-stuck
		return http.StatusServiceUnavailable
	}
	s := startSource(t, registry, server)
	waitForTools(t, s, 9)
	slow.Store(true)
	s.servers[0].Timeout = 50 * time.Millisecond
	t.Cleanup(func() { slow.Store(false); close(stuck) })
	for range 2 {
		require.Equal(t, tools.CodeTimeout, call(t, registry, "guarded__echo", `{}`, false).Code, "a call ends in its time")
	}
}

func TestRemote_CannotReachThisMachine(t *testing.T) {
	t.Parallel()
	here := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(here.Close)
	for address, reached := range map[string]bool{
		"http://127.0.0.1:1/mcp": true, "http://localhost/mcp": true,
		"https://tools.example.com/mcp": false, "https://93.184.216.34/mcp": false,
	} {
		client := plainClient(address, "")
		for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "0.0.0.0", "[::ffff:127.0.0.1]", "[::ffff:0.0.0.0]"} {
			resp, err := client.Get(strings.Replace(here.URL, "127.0.0.1", host, 1))
			if !reached {
				require.ErrorIs(t, err, errLocalAddress, address+" "+host)
				continue
			}
			require.NoError(t, err, address+" "+host)
			require.NoError(t, resp.Body.Close())
		}
		client.CloseIdleConnections()
	}
	// The address of a name is checked after it was resolved.
	_, err := newBearerTransport("https://tools.example.com/mcp", "").next.DialContext(t.Context(), "tcp", here.Listener.Addr().String())
	require.ErrorIs(t, err, errLocalAddress)
}

func TestLogin_EscapesServerTexts(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 3600)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/.well-known/oauth-authorization-server"):
			w.Header().Set("Content-Type", "application/json")
			base := "http://" + r.Host
			_ = json.NewEncoder(w).Encode(map[string]any{
				"issuer": base, "authorization_endpoint": g.URL + "/authorize?x=\u009b31m\u202e", "token_endpoint": base + "/token",
				"registration_endpoint":            g.URL + "/register",
				"code_challenge_methods_supported": []string{"S256"},
			})
		case r.URL.Path == "/token":
			http.Error(w, "\x1b]0;owned\a\u202e"+strings.Repeat("endless ", 1000), http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(evil.Close)
	server := Server{
		Name:   "evil",
		URL:    evil.URL + "/mcp",
		Logins: &Logins{Store: &memoryStore{texts: map[string]string{}}, Secret: "as-token"},
	}
	var shown string
	_, err := Login(t.Context(), server, func(_ context.Context, address string) (string, error) {
		shown = address
		return "http://127.0.0.1:8931/login?code=1&state=" + stateOf(t, address), nil
	})
	require.ErrorContains(t, err, "token exchange failed")
	require.LessOrEqual(t, len([]rune(err.Error())), maxProblem+1)
	require.Contains(t, shown, "/authorize?x=%C2%9B31m%E2%80%AE&")
	for _, r := range shown + err.Error() {
		require.True(t, unicode.IsPrint(r), "%q", r)
	}
	_, err = parseRedirect("http://127.0.0.1:8931/login?error=denied&error_description=%1b%5d0%3bowned%07")
	require.EqualError(t, err, "the login was refused: denied ]0;owned")
}

func stateOf(t *testing.T, address string) string {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	return at.Query().Get("state")
}

func TestLogin_RefreshesExpiredToken(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 1) // tokens count as expired ten seconds before their time, so this one is expired at once
	shelf := &memoryStore{texts: map[string]string{}}
	server := Server{Name: "guarded", URL: g.URL + "/mcp", Logins: &Logins{Store: shelf, Secret: "as-token"}}
	_, err := Login(t.Context(), server, browse)
	require.NoError(t, err)
	require.Empty(t, problemOf(t, server))
	require.Greater(t, g.issued, 1)
	require.Empty(t, problemOf(t, server), "the newest refresh token was kept: an older one opens nothing")

	g.mu.Lock()
	g.revoked = true
	g.mu.Unlock()
	require.Contains(t, problemOf(t, server), "its login has ended: run multis mcp login guarded")
}

func TestLogin_Errors(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, 3600)
	shelf := &memoryStore{texts: map[string]string{}}
	server := Server{Name: "guarded", URL: g.URL + "/mcp", Logins: &Logins{Store: shelf, Secret: "as-token"}}
	for ended, want := range map[string]string{
		"":         "paste the whole address",
		"http://[": "that is not an address",
		"code=1":   "paste the whole address",
		"http://127.0.0.1:8931/login?error=access_denied&error_description=not+you": "the login was refused: access_denied not you",
		"http://127.0.0.1:8931/login?code=code-0&state=somebody-else's":             "state",
	} {
		times := 0
		_, err := Login(t.Context(), server, func(context.Context, string) (string, error) { times++; return ended, nil })
		require.ErrorContains(t, err, want, ended)
		require.Equal(t, 1, times, "nobody is asked twice")
	}
	gone := errors.New("gone")
	_, err := Login(t.Context(), server, func(context.Context, string) (string, error) { return "", gone })
	require.ErrorIs(t, err, gone)
	require.Empty(t, shelf.texts)

	open := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return testServer(nil, nil) }, nil))
	defer open.Close()
	server.URL = open.URL
	_, err = Login(t.Context(), server, browse)
	require.ErrorIs(t, err, ErrLoginNotNeeded)
}
