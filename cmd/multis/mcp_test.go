package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/mcp"
	"multis/agent/tools"
	"multis/store"
	"multis/store/storetest"
)

// loginServer starts an MCP server that requires a token, with the authorization server that issues it.
func loginServer(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	answer := func(body map[string]any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body)
		}
	}
	mux.HandleFunc("/.well-known/oauth-authorization-server", answer(map[string]any{
		"issuer": web.URL, "authorization_endpoint": web.URL + "/authorize", "token_endpoint": web.URL + "/token",
		"registration_endpoint": web.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
	}))
	mux.HandleFunc("/register", answer(map[string]any{"client_id": "made-known", "token_endpoint_auth_method": "none"}))
	mux.HandleFunc("/token", answer(map[string]any{"access_token": "secret-token", "token_type": "Bearer", "expires_in": 3600}))
	closed := mcp.Serve(t.Context(), mcp.ServeOptions{
		Registry: tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{}),
		Token:    "secret-token",
		Version:  "1",
	})
	mux.Handle("/mcp", closed)
	mux.HandleFunc("/open", func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer secret-token")
		closed.ServeHTTP(w, r)
	})
	return web
}

func TestMCP_LoginAndLogout(t *testing.T) {
	t.Parallel()
	web := loginServer(t)
	dsn := storetest.DSN(t)
	dir := configured(t, dsn, fmt.Sprintf("mcp:\n  desk: {url: %q, login: true}\n  open: {url: %[2]q, login: true}\n  plain: {url: %[2]q}\n",
		web.URL+"/mcp", web.URL+"/open"))
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(st.Close)
	for name, want := range map[string]string{
		"nobody": "multis: there is no mcp.nobody in config.yaml\n",
		"plain":  "multis: mcp.plain has no `login: true` in config.yaml\n",
		"open":   "multis: open: it opens without a login; remove mcp.open.login from config.yaml\n",
	} {
		_, said, err := program(t, dir, "", "mcp", "login", name)
		require.Error(t, err)
		require.Equal(t, want, said)
	}
	_, said, err := program(t, dir, "", "mcp", "login", "desk")
	require.Error(t, err)
	require.Equal(t,
		"multis: desk: that is not where the login ended; paste the whole address, which begins with http://127.0.0.1:8931/login?\n", said)

	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "mcp", "login", "desk")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asProgram+"=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	shown := ""
	for !strings.HasPrefix(shown, web.URL) {
		line, err := lines.ReadString('\n')
		require.NoError(t, err, shown)
		shown = strings.TrimSpace(line)
	}
	address, err := url.Parse(shown)
	require.NoError(t, err)
	require.Equal(t, "/authorize", address.Path)
	require.Equal(t, "S256", address.Query().Get("code_challenge_method"))
	_, err = fmt.Fprintf(in, "%s?code=1&state=%s\n", address.Query().Get("redirect_uri"), address.Query().Get("state"))
	require.NoError(t, err)
	rest := new(strings.Builder)
	_, err = lines.WriteTo(rest)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	require.Contains(t, rest.String(), "Logged in to desk, which has 1 tool.")
	require.NotContains(t, rest.String(), "secret")
	var kept string
	there, err := store.GetSetting(t.Context(), st.DB(), store.SettingLogin+"desk", &kept)
	require.NoError(t, err)
	require.True(t, there)
	require.NotContains(t, kept, "secret")
	require.Empty(t, storetest.ColumnsContaining(t, st, "secret-token"))

	changed, err := loginStore{st}.Replace(t.Context(), "desk", "another", "worse")
	require.NoError(t, err)
	require.False(t, changed, "what is not what it was is left alone")
	changed, err = loginStore{st}.Replace(t.Context(), "desk", kept, "newer")
	require.NoError(t, err)
	require.True(t, changed)

	said, stderr, err := program(t, dir, "", "mcp", "logout", "desk")
	require.NoError(t, err, stderr)
	require.Contains(t, said, "Forgot the login to desk.")
	kept, err = loginStore{st}.Load(t.Context(), "desk")
	require.NoError(t, err)
	require.Empty(t, kept)
	changed, err = loginStore{st}.Replace(t.Context(), "desk", "newer", "back again")
	require.NoError(t, err)
	require.False(t, changed, "nothing brings it back")
}
