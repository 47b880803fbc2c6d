package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
)

// forEachProtocol runs a test for every protocol, with a server of that protocol.
func forEachProtocol(t *testing.T, test func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol)) {
	t.Helper()
	for _, p := range []Protocol{ProtocolAnthropic, ProtocolOpenAI, ProtocolGemini, ProtocolOllama} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, func(script llmtest.Script) (*adapter, *llmtest.Server) {
				s := llmtest.Start(t, script)
				return newAdapter(t, p, s.Root), s
			}, p)
		})
	}
}

// newAdapter returns the adapter of a server at an address.
func newAdapter(t *testing.T, p Protocol, root string) *adapter {
	t.Helper()
	if p == ProtocolOpenAI {
		root += "/v1"
	}
	m, err := Provider{Protocol: p}.connect(endpoint{
		Name:    "test/one",
		Model:   "one",
		BaseURL: root,
		APIKey:  secret,
		Timeout: time.Minute,
	})
	require.NoError(t, err)
	return m
}

// pngHeader is the beginning of a PNG, by which a server knows the format if the protocol has no field for it.
var pngHeader = []byte("\x89PNG\r\n\x1a\n")

func TestProtocols_CarryTurn(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol) {
		m, s := open(llmtest.InTurn(llmtest.Reply{
			Text: "Let me look.", In: 90, Out: 20, Cached: 60,
			Calls: []llmtest.Call{{Name: "search", Args: `{"words":"prices"}`, Signature: "by the model"}, {Name: "now"}},
		}, llmtest.Reply{Text: "It is late."}))
		r := Request{
			System: "Be brief.", MaxTokens: 50, Temperature: 0.5,
			Messages: []Message{{Role: RoleUser, Text: "How late?", Images: []Image{{MIME: "image/png", Data: pngHeader}}}},
			Tools: []Tool{{
				Name: "search", Description: "Searches.",
				Schema: json.RawMessage(`{"type":"object","properties":{"words":{"type":"string"}}}`),
			}, {Name: "now"}},
		}
		res, err := Complete(t.Context(), m, r)
		require.NoError(t, err)
		require.Equal(t, "Let me look.", res.Text)
		require.Equal(t, StopToolCalls, res.Stop)
		cached := int64(60)
		if p == ProtocolOllama { // it does not say
			cached = 0
		}
		require.Equal(t, Usage{In: 90, Out: 20, CacheRead: cached}, res.Usage)
		require.Len(t, res.Calls, 2)
		require.JSONEq(t, `{"words":"prices"}`, string(res.Calls[0].Args))
		require.JSONEq(t, `{}`, string(res.Calls[1].Args))

		r.Messages = append(r.Messages, Message{Role: RoleAssistant, Text: res.Text, Calls: res.Calls},
			Message{Role: RoleTool, CallID: res.Calls[0].ID, Text: "nothing found", IsError: true},
			Message{Role: RoleTool, CallID: res.Calls[1].ID, Text: "23:50"})
		res, err = Complete(t.Context(), m, r)
		require.NoError(t, err)
		require.Equal(t, "It is late.", res.Text)
		require.Equal(t, StopEnd, res.Stop)

		sent := s.Requests()[1]
		require.Equal(t, secret, sent.Key)
		require.Equal(t, "one", sent.Model)
		require.Equal(t, "Be brief.", sent.System)
		require.Equal(t, 50, sent.MaxTokens)
		require.InDelta(t, 0.5, sent.Temperature, 0.001)
		require.Equal(t, p == ProtocolAnthropic, sent.CacheMarked, "the stable beginning is marked where that is asked for")
		require.Len(t, sent.Tools, 2)
		require.Equal(t, "search", sent.Tools[0].Name)
		require.JSONEq(t, `{"type":"object","properties":{"words":{"type":"string"}}}`, sent.Tools[0].Schema)
		require.Len(t, sent.Messages, 4)
		require.Equal(t, llmtest.Message{
			Role:   "user",
			Text:   "How late?",
			Images: []llmtest.Image{{MIME: "image/png", Data: pngHeader}},
		}, sent.Messages[0])
		require.Len(t, sent.Messages[1].Calls, 2)
		require.JSONEq(t, `{"words":"prices"}`, sent.Messages[1].Calls[0].Args)
		require.Contains(t, sent.Messages[2].Text, "nothing found")
		require.True(t, sent.Messages[2].IsError || strings.HasPrefix(sent.Messages[2].Text, "error: "))
		require.Equal(t, "23:50", sent.Messages[3].Text)
		if p == ProtocolGemini {
			require.Equal(t, "by the model", sent.Messages[1].Calls[0].Signature)
		}
	})
}

func TestProtocols_MapStopReasons(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol) {
		length := map[Protocol]string{
			ProtocolAnthropic: "max_tokens",
			ProtocolOpenAI:    "length",
			ProtocolGemini:    "MAX_TOKENS",
			ProtocolOllama:    "length",
		}[p]
		for name, c := range map[string]struct {
			reply llmtest.Reply
			want  StopReason
			text  string
		}{
			"an empty answer": {llmtest.Reply{}, StopEnd, ""},
			"cut for length":  {llmtest.Reply{Text: "so far", Stop: length}, StopLength, "so far"},
			"a refusal": {llmtest.Reply{Refusal: "I will not."}, map[Protocol]StopReason{
				ProtocolGemini:    StopFilter,
				ProtocolOpenAI:    StopRefusal,
				ProtocolAnthropic: StopRefusal,
				ProtocolOllama:    StopEnd,
			}[p], "I will not."},
		} {
			m, _ := open(llmtest.InTurn(c.reply))
			res, err := Complete(t.Context(), m, newRequest("hi"))
			require.NoError(t, err, name)
			require.Equal(t, c.want, res.Stop, name)
			require.Equal(t, c.text, res.Text, name)
		}
	})
}

func TestProtocols_ClassifyErrors(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol) {
		inStream := map[Protocol]string{
			ProtocolAnthropic: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"" + secret + "\"}}\n\n",
			ProtocolOpenAI:    "data: {\"error\":{\"message\":\"" + secret + "\"}}\n\n",
			ProtocolGemini:    "data: {\"error\":{\"code\":500,\"message\":\"" + secret + "\",\"status\":\"INTERNAL\"}}\n\n",
			ProtocolOllama:    "{\"error\":\"" + secret + "\"}\n",
		}[p]
		for name, c := range map[string]struct {
			reply llmtest.Reply
			want  Reason
		}{
			"a wrong key":             {llmtest.Reply{Status: 401, Message: secret}, ReasonKey},
			"too many requests":       {llmtest.Reply{Status: 429, RetryAfter: "7"}, ReasonRateLimit},
			"overloaded":              {llmtest.Reply{Status: 529, Code: "overloaded_error"}, ReasonOverloaded},
			"an unknown model":        {llmtest.Reply{Status: 404}, ReasonModel},
			"a broken server":         {llmtest.Reply{Status: 500, Message: secret}, ReasonServer},
			"a bad request":           {llmtest.Reply{Status: 400, Message: "Your prompt was " + secret}, ReasonRequest},
			"a page instead":          {llmtest.Reply{Raw: "<html>" + secret, Type: "text/html"}, ReasonMalformedReply},
			"an event of broken JSON": {llmtest.Reply{Raw: "event: message_start\ndata: {\"" + secret + "\n\n"}, ReasonMalformedReply},
			"an error in the stream":  {llmtest.Reply{Raw: inStream}, ReasonServer},
			"an empty stream":         {llmtest.Reply{Raw: "\n"}, ReasonDisconnected},
			"a cut answer":            {llmtest.Reply{Text: "0123456789ab", Cut: true}, ReasonDisconnected},
			"ten megabytes":           {llmtest.Reply{Text: strings.Repeat("0123456789", 1<<20)}, ReasonMalformedReply},
		} {
			m, s := open(llmtest.InTurn(c.reply))
			res, err := Complete(t.Context(), m, newRequest("hi"))
			require.Equal(t, c.want, reasonOf(err), name)
			require.NotContains(t, err.Error(), secret, name)
			require.Less(t, len(res.Text), maxReplyBytes, name)
			require.Len(t, s.Requests(), 1, "nothing is tried again here: "+name)
			if c.reply.RetryAfter != "" {
				require.Contains(t, err.Error(), "try again in 7s")
			}
		}
	})
}

func TestProtocols_MarkBrokenArguments(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol) {
		reply := llmtest.Reply{Calls: []llmtest.Call{{Name: "search", Args: `{"words": "pri`}}}
		if p == ProtocolGemini { // the API reports it: the arguments are a part of its JSON
			reply = llmtest.Reply{Stop: "MALFORMED_FUNCTION_CALL"}
		}
		m, _ := open(llmtest.InTurn(reply))
		res, err := Complete(t.Context(), m, newRequest("hi"))
		if p == ProtocolGemini {
			require.Equal(t, ReasonMalformedCall, reasonOf(err))
			return
		}
		require.NoError(t, err)
		require.Nil(t, res.Calls[0].Args)
		require.Equal(t, `{"words": "pri`, res.Calls[0].Malformed) //nolint:testifylint // it is no JSON, which is the point

		again := Request{Messages: append(user("hi"), Message{Role: RoleAssistant, Calls: res.Calls},
			Message{Role: RoleTool, CallID: res.Calls[0].ID, Text: "not JSON", IsError: true})}
		_, err = Complete(t.Context(), m, again)
		require.NoError(t, err, "it can be told")
	})
}

func TestProtocols_TimeOutOnSilence(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), _ Protocol) {
		m, _ := open(llmtest.InTurn(llmtest.Reply{Text: "0123456789ab", Hang: true}))
		m.Timeout = 200 * time.Millisecond
		res, err := Complete(t.Context(), m, newRequest("hi"))
		require.Equal(t, ReasonTimeout, reasonOf(err))
		require.NotEmpty(t, res.Text)

		m, _ = open(func(ctx context.Context, _ llmtest.Request) llmtest.Reply {
			<-ctx.Done()
			return llmtest.Reply{}
		})
		m.Timeout = 50 * time.Millisecond
		_, err = Complete(t.Context(), m, newRequest("hi"))
		require.Equal(t, ReasonTimeout, reasonOf(err))
	})
}

func TestProtocols_RefuseUnknownCertificate(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, _ func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol) {
		asked := false
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
		s.Config.ErrorLog = quiet
		s.StartTLS()
		t.Cleanup(s.Close)
		_, err := Complete(t.Context(), newAdapter(t, p, s.URL), newRequest("hi"))
		require.Equal(t, ReasonTLS, reasonOf(err))
		require.ErrorContains(t, err, "certificate")
		require.False(t, asked)
	})
}

func TestGemini_GetsPlaceholderSignature(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, llmtest.Say("yes"))
	call := ToolCall{ID: "a", Name: "now", Args: json.RawMessage(`{}`)}
	_, err := Complete(t.Context(), newAdapter(t, ProtocolGemini, s.Root), Request{Messages: append(user("hi"),
		Message{Role: RoleAssistant, Calls: []ToolCall{call}}, Message{Role: RoleTool, CallID: "a", Text: "late"})})
	require.NoError(t, err)
	require.Equal(t, missingSignature, s.Requests()[0].Messages[1].Calls[0].Signature)
}

func TestAnthropic_CountsCachedTokens(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{
		Text:    "yes",
		In:      100,
		Out:     7,
		Cached:  50,
		Written: 30,
	}))
	res, err := Complete(t.Context(), newAdapter(t, ProtocolAnthropic, s.Root), newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, Usage{In: 100, Out: 7, CacheRead: 50, CacheWrite: 30}, res.Usage)
}

// A number above 2^53 in a call's arguments, such as an id, comes through as it is.
func TestProtocols_KeepLargeNumbers(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, open func(llmtest.Script) (*adapter, *llmtest.Server), _ Protocol) {
		m, _ := open(llmtest.InTurn(llmtest.Reply{Calls: []llmtest.Call{{Name: "search", Args: `{"id":9007199254740993}`}}}))
		res, err := Complete(t.Context(), m, newRequest("hi"))
		require.NoError(t, err)
		require.Len(t, res.Calls, 1)
		require.JSONEq(t, `{"id":9007199254740993}`, string(res.Calls[0].Args))
		require.Contains(t, string(res.Calls[0].Args), "9007199254740993", "which a comparison as JSON does not see")
	})
}

// Other servers of Anthropic's protocol send events without names; the type in their data counts.
func TestAnthropic_ReadsUnnamedEvents(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t,
		llmtest.InTurn(llmtest.Reply{Raw: `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"yes"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}

`}))
	res, err := Complete(t.Context(), newAdapter(t, ProtocolAnthropic, s.Root), newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text)
	require.Equal(t, StopEnd, res.Stop)
}

func TestAnthropic_SendsNoEmptyBlocks(t *testing.T) {
	t.Parallel()
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	calls := []ToolCall{{ID: "a", Name: "now", Args: json.RawMessage(`{}`)}}
	_, err := Complete(t.Context(), newAdapter(t, ProtocolAnthropic, s.URL), Request{Messages: append(user("hi"),
		Message{Role: RoleAssistant, Calls: calls}, Message{Role: RoleTool, CallID: "a"})})
	require.Equal(t, ReasonKey, reasonOf(err))
	require.Contains(t, string(body), `"tool_use_id":"a"`)
	require.NotContains(t, string(body), `"text":""`)
}

// A provider learns nothing about the machine, and nothing but our name about the program.
func TestProtocols_SendNoFingerprint(t *testing.T) {
	t.Parallel()
	forEachProtocol(t, func(t *testing.T, _ func(llmtest.Script) (*adapter, *llmtest.Server), p Protocol) {
		var sent http.Header
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent = r.Header.Clone()
			w.WriteHeader(http.StatusUnauthorized)
		}))
		t.Cleanup(s.Close)
		_, err := Complete(t.Context(), newAdapter(t, p, s.URL), newRequest("hi"))
		require.Equal(t, ReasonKey, reasonOf(err))
		require.Equal(t, "multis", sent.Get("User-Agent"))
		for name := range sent {
			require.False(t, strings.HasPrefix(name, "X-Stainless"), name)
		}
	})
}

// Ollama cuts a prompt that is longer than its context window, so each request asks for a window in which it fits. The
// window never shrinks, because Ollama loads the model again whenever it changes.
func TestOllama_AsksForItsContext(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, llmtest.Say("yes"))
	m := newAdapter(t, ProtocolOllama, s.Root)
	for _, size := range []int{100, 20_000, 100, 1_000_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			_, err := Complete(t.Context(), m, newRequest(strings.Repeat("x", size)))
			require.NoError(t, err)
		})
	}
	var windows []int
	for _, r := range s.Requests() {
		windows = append(windows, r.Context)
	}
	require.Equal(t, []int{ollamaMinContext, 2 * ollamaMinContext, 2 * ollamaMinContext, ollamaMaxContext}, windows)
}

// An address of Ollama's OpenAI API, as it is known from elsewhere, leads to its own API as well.
func TestOllama_AcceptsEitherAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://desk:11434", "http://desk:11434/", "http://desk:11434/v1", "http://desk:11434/v1/"} {
		t.Run(address, func(t *testing.T) {
			p, err := Provider{BaseURL: address, Local: true}.complete("ollama")
			require.NoError(t, err)
			require.Equal(t, "http://desk:11434", p.BaseURL)
			require.Equal(t, ProtocolOllama, p.Protocol)
		})
	}
}
