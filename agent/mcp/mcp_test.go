package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

// asServer makes this test binary an MCP server on its standard input and output.
const asServer = "MULTIS_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		storetest.Main(m)
		return
	}
	if err := testServer(nil, nil).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// testServer is a server with all kinds of tools.
func testServer(wiped *atomic.Int32, release <-chan struct{}) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	object := json.RawMessage(`{"type": "object", "properties": {"a": {"type": "integer"}}}`)
	text := func(s string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, nil
	}
	for name, do := range map[string]mcp.ToolHandler{
		"echo": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(string(r.Params.Arguments))
		},
		"env": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(strings.Join(os.Environ(), "\n"))
		},
		"die": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			os.Exit(3)
			return text("nobody hears this")
		},
		"long": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(strings.Repeat("ä", 1<<17))
		},
		"fail": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such thing"}}}, nil
		},
		"wipe": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			wiped.Add(1)
			return text("wiped")
		},
		"slow": func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-ctx.Done():
			case <-release:
			}
			return nil, context.Canceled
		},
		"picture": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte{1}, MIMEType: "image/png"}}}, nil
		},
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: "What " + name + " does. " + strings.Repeat("x", 3000), InputSchema: object}, do)
	}
	big := fmt.Sprintf(`{"type": "object", "description": %q}`, strings.Repeat("x", maxSchema))
	s.AddTool(&mcp.Tool{Name: "big", InputSchema: json.RawMessage(big)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("")
		})
	s.AddTool(&mcp.Tool{Name: strings.Repeat("n", 70), InputSchema: object},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text("")
		})
	return s
}

// startSource runs a Source with short delays until the test ends.
func startSource(t *testing.T, registry *tools.Registry, servers ...Server) *Source {
	t.Helper()
	s := NewSource(registry, servers)
	for _, c := range s.servers {
		c.delays = delays{change: 50 * time.Millisecond, minRetry: 10 * time.Millisecond, maxRetry: 50 * time.Millisecond}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return s
}

func waitForTools(t *testing.T, s *Source, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return s.States()[0].Problem == "" && s.States()[0].Tools == n }, time.Minute, 10*time.Millisecond)
}

func call(t *testing.T, r *tools.Registry, name, args string, approved bool) tools.Result {
	t.Helper()
	res, err := r.Do(context.Background(), tools.Call{
		ID:     "1",
		Name:   name,
		Args:   json.RawMessage(args),
		Caller: tools.Caller{Owner: true},
	}, approved)
	require.NoError(t, err)
	return res
}

func TestTools_TakenByNameTierAndSize(t *testing.T) {
	t.Parallel()
	var wiped atomic.Int32
	release := make(chan struct{})
	stop := sync.OnceFunc(func() { close(release) })
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return testServer(&wiped, release) }, nil)
	var shown atomic.Value
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown.Store(r.Header.Get("Authorization"))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { stop(); web.CloseClientConnections(); web.Close() })
	registry := tools.NewRegistry(tools.TierPolicy{}, tools.Escalate{})
	s := startSource(t, registry, Server{
		Name: "desk", URL: web.URL, Token: "open-sesame",
		Allow: []string{"[a-df-z]*", "echo"}, Read: []string{"echo", "long", "fail", "slow", "picture", "big"}, Pin: []string{"die"},
	})
	waitForTools(t, s, 8)
	require.Equal(t, "Bearer open-sesame", shown.Load())
	var names []string
	for _, spec := range registry.All() {
		names = append(names, spec.Name)
		require.LessOrEqual(t, len(spec.Description), maxDescription+60, spec.Name)
		require.Equal(t, spec.Name != "escalate", spec.External, spec.Name)
	}
	mapped := "desk__" + strings.Repeat("n", 49) + "_85069ddf"
	require.Equal(t, []string{
		"desk__die", "desk__echo", "desk__fail", "desk__long", mapped, "desk__picture", "desk__slow", "desk__wipe", "escalate",
	},
		names, "env was not allowed")
	skipped := strings.Join(s.States()[0].Skipped, "\n")
	require.Contains(t, skipped, "big: its schema has more than 16000 bytes")

	require.JSONEq(t, `{"a": 7}`, call(t, registry, "desk__echo", `{"a": 7}`, false).ForLLM)
	require.Equal(t, tools.CodeApproval, call(t, registry, "desk__wipe", `{}`, false).Code,
		"what the owner did not call harmless is asked about")
	require.Zero(t, wiped.Load())
	require.Equal(t, "wiped", call(t, registry, "desk__wipe", `{}`, true).ForLLM)
	require.Equal(t, tools.CodeApproval, call(t, registry, "desk__die", `{}`, true).Code, "a yes without the PIN is not enough")
	failed := call(t, registry, "desk__fail", `{}`, false)
	require.True(t, failed.IsError)
	require.Equal(t, "no such thing", failed.ForLLM)
	require.Contains(t, call(t, registry, "desk__long", `{}`, false).ForLLM, "[cut here:")
	require.Contains(t, call(t, registry, "desk__picture", `{}`, false).ForLLM, "not shown")
	s.servers[0].Timeout = 50 * time.Millisecond
	slow := call(t, registry, "desk__slow", `{}`, false)
	stop() // otherwise the test server takes 5 s to end the session
	require.Equal(t, tools.CodeTimeout, slow.Code)
	require.True(t, slow.Retriable)
	contact := tools.Caller{Scope: policy.ContactScope(7)}
	res, err := registry.Do(context.Background(), tools.Call{Name: "desk__echo", Caller: contact}, true)
	require.NoError(t, err)
	require.Equal(t, tools.CodeNotAllowed, res.Code, "never for a contact")
	narrow := tools.Caller{Owner: true, Deny: []string{"desk__*"}}
	require.False(t, narrow.MayCall("desk__echo"), "and not for an agent that has it not")
}

func TestCall_UnansweredIsNotRepeated(t *testing.T) {
	t.Parallel()
	var wiped atomic.Int32
	release := make(chan struct{})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return testServer(&wiped, release) }, nil)
	var status atomic.Int32 // HTTP status of the responses to calls; with 0 the connection is closed
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch code := int(status.Load()); {
		case !bytes.Contains(body, []byte(`"tools/call"`)) || bytes.Contains(body, []byte(`"slow"`)):
			handler.ServeHTTP(w, r)
		case code != 0:
			wiped.Add(1)
			w.WriteHeader(code)
		default:
			wiped.Add(1)
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(func() { close(release); web.CloseClientConnections(); web.Close() })
	registry := tools.NewRegistry(tools.TierPolicy{})
	s := startSource(t, registry, Server{Name: "desk", URL: web.URL, Allow: []string{"wipe", "slow", "echo"}, Read: []string{"echo"}})
	for i, code := range []int{0, http.StatusBadGateway, http.StatusInternalServerError} {
		waitForTools(t, s, 3)
		status.Store(int32(code))
		res := call(t, registry, "desk__wipe", `{}`, true)
		require.EqualValues(t, i+1, wiped.Load(), "it was done")
		require.Equal(t, tools.CodeUnknown, res.Code, code)
		require.Contains(t, res.ForLLM, "Do not repeat it", code)
		require.Equal(t, "⚠️ desk__wipe: whether it was done I don't know", res.ForUser)
		require.False(t, res.Retriable)
	}
	waitForTools(t, s, 3)
	s.servers[0].Timeout = 50 * time.Millisecond
	require.Equal(t, tools.CodeUnknown, call(t, registry, "desk__slow", `{}`, true).Code)
	s.servers[0].Timeout = 0
	res := call(t, registry, "desk__echo", `{}`, false)
	require.Equal(t, tools.CodeFailed, res.Code)
	require.True(t, res.Retriable, "what only reads can be asked again")
}

func TestIsNotExecuted_Errors(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&jsonrpc.Error{Code: jsonrpc.CodeInvalidParams}, &net.OpError{Op: "dial", Err: io.EOF},
		&loginError{why: errLoginRequired},
	} {
		require.True(t, isNotExecuted(fmt.Errorf("calling: %w", err)), err)
	}
	for _, err := range []error{&jsonrpc.Error{Code: codeRejected}, &net.OpError{Op: "read", Err: io.EOF}, io.EOF, mcp.ErrConnectionClosed} {
		require.False(t, isNotExecuted(fmt.Errorf("calling: %w", err)), err)
	}
}

func TestServer_OutputIsLimited(t *testing.T) {
	t.Parallel()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	schema := json.RawMessage(fmt.Sprintf(`{"type": "object", "description": %q}`, strings.Repeat("x", 15_000)))
	for i := range 10 {
		s.AddTool(&mcp.Tool{Name: fmt.Sprint("tool", i), InputSchema: schema},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return nil, io.EOF
			})
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	wordy := startSource(t, tools.NewRegistry(tools.TierPolicy{}), Server{Name: "wordy", URL: web.URL})
	waitForTools(t, wordy, 6)
	require.Len(t, wordy.States()[0].Skipped, 4)
	require.Contains(t, wordy.States()[0].Skipped[0], "tool6: more than 100000 bytes said of all tools")
}

func TestTools_OmitDeadServer(t *testing.T) {
	t.Setenv(asServer, "1")
	t.Setenv("MULTIS_TEST_PASSED", "passed")
	t.Setenv("MULTIS_TEST_SECRET", "hunter2")
	registry := tools.NewRegistry(tools.TierPolicy{})
	s := startSource(t, registry, Server{
		Name:    "own",
		Command: []string{os.Args[0]},
		PassEnv: []string{asServer, "MULTIS_TEST_PASSED"},
		Env:     map[string]string{"OWN_KEY": "its-own-key"},
		Read:    []string{"*"},
	})
	waitForTools(t, s, 9)
	env := call(t, registry, "own__env", `{}`, false).ForLLM
	require.Contains(t, env, "MULTIS_TEST_PASSED=passed")
	require.Contains(t, env, "OWN_KEY=its-own-key")
	require.NotContains(t, env, "hunter2", "it gets what it was given, and no more")
	require.True(t, call(t, registry, "own__die", `{}`, false).IsError)
	require.Eventually(t, func() bool { return s.States()[0].Problem != "" && len(registry.All()) == 0 }, time.Minute, time.Millisecond)
	waitForTools(t, s, 9)
	require.JSONEq(t, `{}`, call(t, registry, "own__echo", `{}`, false).ForLLM)
}

func TestHeaders_SentToTheirServerOnly(t *testing.T) {
	t.Parallel()
	var got, other atomic.Int32
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return testServer(nil, nil) }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Key") == "its-key":
			got.Add(1)
		case r.Header.Get("X-Key") == "":
			other.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	s := startSource(t, tools.NewRegistry(tools.TierPolicy{}), Server{
		Name:    "far",
		URL:     web.URL,
		Headers: map[string]string{"x-key": "its-key"},
	})
	waitForTools(t, s, 9)
	require.Positive(t, got.Load())
	require.Zero(t, other.Load())
	client := plainClient(web.URL, "")
	client.Transport = headerTransport{client.Transport, web.URL, map[string]string{"X-Key": "its-key"}}
	resp, err := client.Get(web.URL + "/.well-known/oauth-authorization-server")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.EqualValues(t, 1, other.Load())
}

func TestTools_ListChangesAreRateLimited(t *testing.T) {
	t.Parallel()
	s := testServer(nil, nil)
	var asked atomic.Int32
	restless := func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				n := asked.Add(1)
				s.AddTool(&mcp.Tool{Name: fmt.Sprint("new", n), InputSchema: json.RawMessage(`{"type": "object"}`)},
					func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
						return nil, io.EOF
					})
			}
			return next(ctx, method, r)
		}
	}
	s.AddReceivingMiddleware(restless)
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	begin := time.Now()
	source := startSource(t, tools.NewRegistry(tools.TierPolicy{}), Server{Name: "restless", URL: web.URL})
	require.Eventually(t, func() bool { return asked.Load() >= 3 }, time.Minute, 5*time.Millisecond, "what changes is looked at")
	require.GreaterOrEqual(t, time.Since(begin), 2*source.servers[0].delays.change)
}

func TestServer_UnreachableStatesReason(t *testing.T) {
	t.Parallel()
	registry := tools.NewRegistry(tools.TierPolicy{})
	s := startSource(t, registry, Server{Name: "gone", Command: []string{"/nonexistent/server"}},
		Server{Name: "false", Command: []string{"false"}},
		Server{Name: "unset", Command: []string{
			"sh", "-c",
			"echo starting >&2; echo 'Error: \033[1mGITHUB_TOKEN\033[0m is not set, nor is api_key=sk-proj-abcdefghijklmnopqrstuvwxyz0123' >&2; echo >&2; exit 1",
		}})
	for i := range 3 {
		require.Eventually(t, func() bool {
			p := s.States()[i].Problem
			return p != "" && p != "it was not tried yet"
		}, time.Minute, 10*time.Millisecond)
	}
	require.Contains(t, s.States()[0].Problem, "no such file")
	require.Contains(t, s.States()[2].Problem, "it said: Error: [1mGITHUB_TOKEN[0m is not set", "the program knows why")
	require.NotContains(t, s.States()[2].Problem, "sk-proj")
	require.Empty(t, registry.All())
}

func TestServe_RequiresTokenAndOnlyReads(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	st := storetest.New(t)
	_, err := knowledge.New(st).Index(ctx, knowledge.File{
		Name: "margins.md",
		Data: []byte("# Margins\n\nThe piano margin is 40 percent.\n"),
		Role: policy.RoleAdmin,
	})
	require.NoError(t, err)
	registry := tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{Search: search.New(st)}, tools.Escalate{},
		tools.AuditSummary{Store: st})
	var recorded []string
	var recordErr error
	record := func(_ context.Context, call tools.Call, outcome string) error {
		recorded = append(recorded, call.Name+" "+string(call.Args)+" "+outcome)
		return recordErr
	}
	web := httptest.NewServer(Serve(ctx, ServeOptions{Registry: registry, Token: "open-sesame", Version: "1", Record: record}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	for _, token := range []string{"", "Bearer ", "Bearer wrong", "open-sesame"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, web.URL, strings.NewReader(`{}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", token)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusUnauthorized, resp.StatusCode, token)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	plain := &http.Transport{}
	t.Cleanup(plain.CloseIdleConnections)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint:             web.URL,
		HTTPClient:           &http.Client{Transport: bearerTransport{token: "open-sesame", local: true, next: plain}},
		DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	list, err := session.ListTools(ctx, nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 1)
	require.Equal(t, "search_docs", list.Tools[0].Name)
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "search_docs", Arguments: map[string]string{"query": "piano margin"}})
	require.NoError(t, err)
	require.Contains(t, resultText(res), "The piano margin is 40 percent.")
	require.Contains(t, resultText(res), "[margins.md")
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "audit_summary"})
	require.Error(t, err)
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "search_docs", Arguments: map[string]int{"query": 7}})
	require.NoError(t, err)
	require.Equal(t, []string{`search_docs {"query":"piano margin"} done`, `search_docs {"query":7} invalid_arguments`}, recorded)
	recordErr = errors.New("no database")
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "search_docs", Arguments: map[string]string{"query": "piano margin"}})
	require.ErrorContains(t, err, "broken", "without an entry in the audit log nothing is told")
	require.NotContains(t, err.Error(), "percent")
	none := httptest.NewServer(Serve(ctx, ServeOptions{Registry: registry, Version: "1", Record: record}))
	t.Cleanup(none.Close)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, none.URL, strings.NewReader(`{}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer ")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusUnauthorized, resp.StatusCode, "without a token nobody is served")
}

func TestProblem_ShowsOnlyHost(t *testing.T) {
	t.Parallel()
	s := startSource(t, tools.NewRegistry(tools.TierPolicy{}),
		Server{Name: "dead", URL: "http://anna:hunter2@127.0.0.1:1/s/secret-path/mcp?key=secret-query"})
	require.Eventually(t, func() bool {
		return strings.Contains(s.States()[0].Problem, "http://127.0.0.1:1")
	}, time.Minute, 10*time.Millisecond)
	for _, secret := range []string{"anna", "hunter2", "secret"} {
		require.NotContains(t, s.States()[0].Problem, secret)
	}
	for said, want := range map[string]string{
		`Post "https://a.example/s/x?y=z#w": EOF`:   `Post "https://a.example": EOF`,
		`see https://u:p@a.example:8443?k=v, then`:  `see https://a.example:8443 then`,
		`redirect to http://[::1]:80/p failed`:      `redirect to http://[::1]:80 failed`,
		`the key api_key=abcdef0123456789 is wrong`: `the key api_key=[secret] is wrong`,
	} {
		require.Equal(t, want, problemText(errors.New(said)))
	}
}
