package llm

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
)

const secret = "sk-very-secret"

// connect returns the adapter of a scripted server.
func connect(t *testing.T, script llmtest.Script) (*adapter, *llmtest.Server) {
	t.Helper()
	s := llmtest.Start(t, script)
	return newOpenAI(endpointAt(s.URL)), s
}

// endpointAt returns the endpoint of a test server.
func endpointAt(address string) endpoint {
	return endpoint{
		Name:    "openai/test-1",
		Model:   "test-1",
		BaseURL: address,
		APIKey:  secret,
		Timeout: time.Minute,
	}
}

func TestOpenAI_SendsRequest(t *testing.T) {
	t.Parallel()
	m, s := connect(t, llmtest.Say("On Sunday, from nine."))
	res, err := Complete(t.Context(), m, Request{
		System:    "Be brief.",
		Messages:  []Message{{Role: RoleUser, Text: "Hello"}, {Role: RoleAssistant, Text: "Hi"}, {Role: RoleUser, Text: "When?"}},
		MaxTokens: 50, Temperature: 0.2, JSON: true,
	})
	require.NoError(t, err)
	require.Equal(t, "On Sunday, from nine.", res.Text)
	require.Equal(t, StopEnd, res.Stop)
	require.Equal(t, Usage{In: 5, Out: 5}, res.Usage)
	require.Equal(t, []llmtest.Request{{
		Key: secret, Model: "test-1", System: "Be brief.",
		Messages:  []llmtest.Message{{Role: "user", Text: "Hello"}, {Role: "assistant", Text: "Hi"}, {Role: "user", Text: "When?"}},
		MaxTokens: 50, Temperature: 0.2, JSON: true, WantsUsage: true,
	}}, s.Requests())
}

func TestOpenAI_StreamsPieces(t *testing.T) {
	t.Parallel()
	m, _ := connect(t, llmtest.Say("a long enough answer"))
	var pieces []string
	for d, err := range m.Stream(t.Context(), newRequest("hi")) {
		require.NoError(t, err)
		require.NotEqual(t, Delta{}, d)
		if d.Text != "" {
			pieces = append(pieces, d.Text)
		}
	}
	require.Greater(t, len(pieces), 1)
	require.Equal(t, "a long enough answer", strings.Join(pieces, ""))
}

func TestOpenAI_AsksForTools(t *testing.T) {
	t.Parallel()
	m, s := connect(t, llmtest.InTurn(llmtest.Reply{
		Text:   "Let me look.",
		In:     90,
		Out:    20,
		Cached: 60,
		Calls: []llmtest.Call{
			{Name: "search", Args: `{"words": "prices"}`}, {Name: "now"},
		},
	}, llmtest.Reply{Text: "It is late."}))
	tools := []Tool{
		{Name: "search", Description: "Searches.", Schema: json.RawMessage(`{"type":"object"}`)},
		{Name: "now", Description: "The time."},
	}
	r := Request{Messages: user("How late?"), Tools: tools}
	res, err := Complete(t.Context(), m, r)
	require.NoError(t, err)
	require.Equal(t, Response{
		Text: "Let me look.", Stop: StopToolCalls, Usage: Usage{In: 90, Out: 20, CacheRead: 60}, Model: "openai/test-1",
		Calls: []ToolCall{
			{ID: "call_1", Name: "search", Args: json.RawMessage(`{"words": "prices"}`)},
			{ID: "call_2", Name: "now", Args: json.RawMessage(`{}`)},
		},
	}, res)
	r.Messages = append(r.Messages, Message{Role: RoleAssistant, Text: res.Text, Calls: res.Calls},
		Message{Role: RoleTool, CallID: "call_1", Text: "nothing found", IsError: true}, Message{Role: RoleTool, CallID: "call_2", Text: "23:50"})
	res, err = Complete(t.Context(), m, r)
	require.NoError(t, err)
	require.Equal(t, "It is late.", res.Text)
	sent := s.Requests()[1]
	require.Equal(t, []llmtest.Tool{
		{Name: "search", Description: "Searches.", Schema: `{"type":"object"}`},
		{Name: "now", Description: "The time.", Schema: `{"properties":{},"type":"object"}`},
	}, sent.Tools)
	require.Equal(t, []llmtest.Message{
		{Role: "user", Text: "How late?"},
		{Role: "assistant", Text: "Let me look.", Calls: []llmtest.Call{
			{ID: "call_1", Name: "search", Args: `{"words": "prices"}`}, {ID: "call_2", Name: "now", Args: `{}`},
		}},
		{Role: "tool", CallID: "call_1", Text: "error: nothing found"},
		{Role: "tool", CallID: "call_2", Text: "23:50"},
	}, sent.Messages)
}

func TestOpenAI_SeparatesCallsOfOneIndex(t *testing.T) {
	t.Parallel()
	m, _ := connect(t,
		llmtest.InTurn(llmtest.Reply{Raw: `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{\"n\":"}},{"index":0,"id":"b","function":{"arguments":"1}"}}]},"finish_reason":"stop"}]}

data: [DONE]

`}))
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, StopToolCalls, res.Stop)
	require.Equal(t, []ToolCall{
		{ID: "a", Name: "x", Args: json.RawMessage(`{}`)}, {ID: "b", Name: "y", Args: json.RawMessage(`{"n":1}`)},
	}, res.Calls)
}

func TestOpenAI_MarksMalformedArguments(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"cut short": `{"words": "pri`, "a list": `["prices"]`, "prose": "the prices, please",
		"two": `{}{}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Calls: []llmtest.Call{{ID: "-", Name: "search", Args: args}}}))
			res, err := Complete(t.Context(), m, newRequest("hi"))
			require.NoError(t, err)
			require.Len(t, res.Calls, 1)
			require.Nil(t, res.Calls[0].Args)
			require.Equal(t, args, res.Calls[0].Malformed)
			require.NotEmpty(t, res.Calls[0].ID, "made up where none was given")
		})
	}
}

func TestOpenAI_SendsImages(t *testing.T) {
	t.Parallel()
	m, s := connect(t, llmtest.Say("A cat."))
	_, err := Complete(t.Context(), m, Request{Messages: []Message{{
		Role: RoleUser, Text: "What is it?",
		Images: []Image{{MIME: "image/png", Data: []byte{1}}},
	}}})
	require.NoError(t, err)
	require.Equal(t, []llmtest.Message{{Role: "user", Text: "What is it?", Images: []llmtest.Image{{MIME: "image/png", Data: []byte{1}}}}},
		s.Requests()[0].Messages)
}

func TestOpenAIRefusal(t *testing.T) {
	t.Parallel()
	m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Refusal: "I will not."}))
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, StopRefusal, res.Stop)
	require.Equal(t, "I will not.", res.Text)
}

func TestOpenAI_IgnoresEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-for-somebody-else")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
	s := llmtest.Start(t, llmtest.Say("yes"))
	_, err := Complete(t.Context(), newOpenAI(endpoint{
		Name:    "openai/test-1",
		Model:   "test-1",
		BaseURL: s.URL,
		Timeout: time.Minute,
	}), newRequest("hi"))
	require.NoError(t, err)
	require.Empty(t, s.Requests()[0].Key)
}

func TestOpenAI_ReadsFinishReason(t *testing.T) {
	t.Parallel()
	for wire, want := range map[string]StopReason{
		"stop": StopEnd, "length": StopLength, "content_filter": StopFilter,
		"something_new": StopEnd,
	} {
		t.Run(wire, func(t *testing.T) {
			t.Parallel()
			m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Text: "yes", Stop: wire}))
			res, err := Complete(t.Context(), m, newRequest("hi"))
			require.NoError(t, err)
			require.Equal(t, want, res.Stop)
		})
	}
}

func TestOpenAI_WorksWithoutUsage(t *testing.T) {
	t.Parallel()
	m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Text: "yes", NoUsage: true}))
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, Response{Text: "yes", Stop: StopEnd, Model: "openai/test-1"}, res)
}

func TestOpenAIErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply llmtest.Reply
		want  Error
		says  string
	}{
		"a wrong key": {
			llmtest.Reply{Status: 401, Code: "invalid_api_key", Message: "Incorrect API key provided: " + secret},
			Error{Reason: ReasonKey, Status: 401, Code: "invalid_api_key"},
			"openai/test-1: the key was refused, check api_key (HTTP 401, invalid_api_key)",
		},
		"an unknown model": {
			llmtest.Reply{Status: 404, Code: "model_not_found"},
			Error{Reason: ReasonModel, Status: 404, Code: "model_not_found"},
			"openai/test-1: the model or the address does not exist, check the model's name and base_url (HTTP 404, model_not_found)",
		},
		"too many requests": {
			llmtest.Reply{Status: 429, RetryAfter: "7"},
			Error{Reason: ReasonRateLimit, Status: 429, Code: "invalid_request_error", RetryAfter: 7 * time.Second},
			"openai/test-1: too many requests (HTTP 429, invalid_request_error), try again in 7s",
		},
		"no credit": {
			llmtest.Reply{Status: 429, Code: "insufficient_quota"}, Error{Reason: ReasonQuota, Status: 429, Code: "insufficient_quota"}, "no credit",
		},
		"a prompt that is too long": {
			llmtest.Reply{Status: 400, Code: "context_length_exceeded", Message: "Your prompt was: hi"},
			Error{Reason: ReasonRequest, Status: 400, Code: "context_length_exceeded"},
			"refused",
		},
		"a code that may be a secret": {
			llmtest.Reply{Status: 401, Code: secret}, Error{Reason: ReasonKey, Status: 401, Code: "invalid_request_error"}, "refused",
		},
		"a broken server": {
			llmtest.Reply{Status: 500},
			Error{Reason: ReasonServer, Status: 500, Code: "invalid_request_error"},
			"problem",
		},
		"a proxy's page": {
			llmtest.Reply{Status: 502, Raw: "<h1>Bad gateway</h1>", Type: "text/html"},
			Error{Reason: ReasonServer, Status: 502},
			"problem",
		},
		"an error of one word": {
			llmtest.Reply{Status: 404, Raw: `{"error":"model 'x' not found"}`, Type: "application/json"},
			Error{Reason: ReasonModel, Status: 404},
			"does not exist",
		},
		"an endless error": {
			llmtest.Reply{Status: 400, Raw: strings.Repeat("x", 1<<20)},
			Error{Reason: ReasonRequest, Status: 400},
			"refused",
		},
		"a page instead": {
			llmtest.Reply{Raw: "<html>", Type: "text/html; charset=utf-8"},
			Error{Reason: ReasonMalformedReply},
			"does not follow the protocol",
		},
		"a whole object instead": {
			llmtest.Reply{Raw: `{"choices":[]}`, Type: "application/json"},
			Error{Reason: ReasonMalformedReply},
			"does not follow the protocol",
		},
		"an event of broken JSON": {
			llmtest.Reply{Raw: "data: {\"choices\":[{\n\n"},
			Error{Reason: ReasonMalformedReply},
			"does not follow the protocol",
		},
		"an error in the stream": {
			llmtest.Reply{Raw: "data: {\"error\":{\"message\":\"" + secret + "\"}}\n\n"},
			Error{Reason: ReasonServer},
			"problem",
		},
		"an empty stream":         {llmtest.Reply{Raw: "\n"}, Error{Reason: ReasonDisconnected}, "cut off"},
		"an end without a reason": {llmtest.Reply{Raw: "data: [DONE]\n\n"}, Error{Reason: ReasonDisconnected}, "cut off"},
		"an endless answer": {
			llmtest.Reply{Raw: ": " + strings.Repeat(strings.Repeat(" ", 1<<20)+"\n: ", 9)},
			Error{Reason: ReasonMalformedReply},
			"does not follow the protocol",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := connect(t, llmtest.InTurn(c.reply))
			_, err := Complete(t.Context(), m, newRequest("hi"))
			c.want.Model = "openai/test-1"
			require.Equal(t, &c.want, err)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), secret)
			require.Len(t, s.Requests(), 1)
		})
	}
}

func TestOpenAI_ReportsCutAnswer(t *testing.T) {
	t.Parallel()
	m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Text: "0123456789ab", Cut: true}))
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.Equal(t, &Error{Model: "openai/test-1", Reason: ReasonDisconnected}, err)
	require.Equal(t, "012345", res.Text)
}

func TestOpenAI_TimesOutOnSilence(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]llmtest.Script{
		"before its answer": func(ctx context.Context, _ llmtest.Request) llmtest.Reply {
			<-ctx.Done()
			return llmtest.Reply{}
		},
		"within its answer": llmtest.InTurn(llmtest.Reply{Text: "0123456789ab", Hang: true}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := connect(t, script)
			m.Timeout = 100 * time.Millisecond
			_, err := Complete(t.Context(), m, newRequest("hi"))
			require.Equal(t, &Error{Model: "openai/test-1", Reason: ReasonTimeout}, err)
		})
	}
}

func TestOpenAI_EndsWithCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Text: "0123456789ab", Hang: true}))
	var last error
	for d, err := range m.Stream(ctx, newRequest("hi")) {
		if d.Text != "" {
			cancel()
		}
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
}

func TestOpenAI_StopsWhenReaderLeaves(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	m, _ := connect(t, func(ctx context.Context, _ llmtest.Request) llmtest.Reply {
		go func() {
			<-ctx.Done()
			close(left)
		}()
		return llmtest.Reply{Text: "0123456789ab", Hang: true}
	})
	for _, err := range m.Stream(t.Context(), newRequest("hi")) {
		require.NoError(t, err)
		break
	}
	<-left
}

func TestOpenAIUnreachable(t *testing.T) {
	t.Parallel()
	plain := llmtest.Start(t, llmtest.Say("yes"))
	for name, c := range map[string]struct {
		address string
		reason  Reason
	}{
		"a closed port":   {"http://127.0.0.1:1/v1", ReasonUnreachable},
		"an unknown host": {"http://nobody.invalid/v1", ReasonUnreachable},
		"a plain server":  {strings.Replace(plain.URL, "http:", "https:", 1), ReasonTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newOpenAI(endpointAt(c.address))
			_, err := Complete(t.Context(), m, newRequest("hi"))
			require.Equal(t, &Error{Model: "openai/test-1", Reason: c.reason}, err)
		})
	}
}

func TestOpenAI_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	other := llmtest.Start(t, llmtest.Say("yes"))
	moved := httptest.NewServer(http.RedirectHandler(other.URL+"/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	_, err := Complete(t.Context(), newOpenAI(endpointAt(moved.URL)), newRequest("hi"))
	require.Equal(t, &Error{Model: "openai/test-1", Reason: ReasonModel, Status: 307}, err)
	require.Empty(t, other.Requests())
}

func TestOpenAI_LearnsRejectedFeatures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		complaint  string
		understood func(llmtest.Request) bool
	}{
		"the limit's older name": {
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			func(r llmtest.Request) bool { return r.CompletionLimit },
		},
		"usage":       {"Unrecognized request argument: stream_options", func(r llmtest.Request) bool { return !r.WantsUsage }},
		"temperature": {"Unsupported value: 'temperature' does not support 0.5", func(r llmtest.Request) bool { return r.Temperature == 0 }},
		"JSON":        {"'response_format.type' must be 'text'", func(r llmtest.Request) bool { return !r.JSON }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := connect(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
				if !c.understood(r) {
					return llmtest.Reply{Status: 400, Message: c.complaint}
				}
				return llmtest.Reply{Text: "yes"}
			})
			for range 2 {
				_, err := Complete(t.Context(), m, Request{Messages: user("hi"), MaxTokens: 50, Temperature: 0.5, JSON: true})
				require.NoError(t, err)
			}
			require.Len(t, s.Requests(), 3, "one refusal, then it knows")
			for _, r := range s.Requests() {
				require.Equal(t, 50, r.MaxTokens, "the limit is never dropped")
			}
		})
	}
}

func TestOpenAI_StopsWithoutHelpfulDialect(t *testing.T) {
	t.Parallel()
	m, s := connect(t, llmtest.InTurn(llmtest.Reply{Status: 400, Message: "temperature is wrong, and max_completion_tokens too"}))
	_, err := Complete(t.Context(), m, Request{Messages: user("hi"), Temperature: 0.5})
	require.Equal(t, ReasonRequest, reasonOf(err))
	require.Len(t, s.Requests(), 2)
}

func TestOpenAI_IgnoresNullErrors(t *testing.T) {
	t.Parallel()
	m, _ := connect(t, llmtest.InTurn(llmtest.Reply{Raw: `data: {"error":null,"choices":[{"delta":{"content":"yes"},"finish_reason":"stop"}]}

data: [DONE]

`}))
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text)
}

// A field of a type that the protocol does not know stays empty, because servers add fields of their own.
func TestOpenAI_ToleratesUnexpectedTypes(t *testing.T) {
	t.Parallel()
	m, _ := connect(t,
		llmtest.InTurn(llmtest.Reply{Raw: `data: {"id":7,"created":"now","choices":[{"index":"first","logprobs":false,"delta":{"content":"yes","reasoning":{}},"finish_reason":"stop"}],"usage":[]}

data: [DONE]

`}))
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text)
	require.Equal(t, StopEnd, res.Stop)
}
