package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"multis/jobs"
	"multis/knowledge"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// traceCollector is a collector that keeps the spans, and all bytes that it was sent.
type traceCollector struct {
	mu    sync.Mutex
	bytes []byte
	spans []*tracepb.Span
}

func (c *traceCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = append(c.bytes, body...)
	for _, resource := range data.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// named returns the names of the spans of a trace.
func (c *traceCollector) named(trace string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, s := range c.spans {
		if fmt.Sprintf("%x", s.GetTraceId()) == trace {
			names = append(names, s.GetName())
		}
	}
	return names
}

// startTraced starts a multis that sends traces, with a document and a chat whose names and texts are canaries.
func startTraced(t *testing.T, model string) (h *processGroup, found *traceCollector, chat store.ChatID) {
	t.Helper()
	found = &traceCollector{}
	collector := httptest.NewServer(found)
	t.Cleanup(collector.Close)
	dir, err := os.MkdirTemp("", "multis-traces-") //nolint:usetesting // t.TempDir is in a folder that no other user can enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	h = &processGroup{
		t:          t,
		homeserver: newFakeHomeserver(t),
		dir:        dir,
		dsn:        storetest.DSN(t),
		procs:      make([]*exec.Cmd, 1),
	}
	h.st, err = store.Open(t.Context(), h.dsn)
	require.NoError(t, err)
	t.Cleanup(h.st.Close)
	h.config = fmt.Sprintf("llm: {model: openai/test, base_url: %q, local: true}\nchats: {burst_quiet: 1ms}\ntraces: {endpoint: %q}\n", model, collector.URL)
	_, err = knowledge.New(h.st).Index(t.Context(), knowledge.File{
		Name: "Zxqvwort-prices.md",
		Data: []byte("# Zxqvwort\n\nZxqvwort costs 90 euro.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	chat = h.chats(1)[0]
	_, err = h.st.Pool().Exec(t.Context(), "update chats set name = 'Zxqvwort Ana' where id = $1", chat)
	require.NoError(t, err)
	require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, chat, policy.ModeBusiness) }))
	h.start(0)
	t.Cleanup(func() { h.kill(0) })
	return h, found, chat
}

// Runs the real program with words in messages, names, documents and prompts that must be in no span.
func TestTraces_HaveNoTexts(t *testing.T) {
	t.Parallel()
	const canary = "Zxqvwort"
	model := llmtest.Start(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if !slices.ContainsFunc(r.Tools, func(tool llmtest.Tool) bool { return tool.Name == "search_docs" }) {
			return llmtest.Reply{Text: `{"sentences": [{"text": "Zxqvwort costs 90 euro.", "source": 1, "quote": "Zxqvwort costs 90 euro."}]}`}
		}
		if r.Messages[len(r.Messages)-1].Role == "user" {
			return llmtest.Reply{Calls: []llmtest.Call{{Name: "search_docs", Args: `{"query": "Zxqvwort"}`}}}
		}
		return llmtest.Reply{Text: "Zxqvwort costs 90 euro."}
	})
	h, found, chat := startTraced(t, model.URL)
	wait := func(what string, done func() bool) {
		t.Helper()
		require.Eventually(t, done, 2*time.Minute, 100*time.Millisecond, what)
	}
	var room store.Chat
	wait("an admin room", func() bool {
		var err error
		room, err = store.AdminChat(t.Context(), h.st.DB())
		return err == nil
	})
	h.storeQuestion(chat, 1, "what does Zxqvwort cost?")
	h.storeMessage(store.Message{
		ChatID:     room.ID,
		EventID:    "$asked",
		Author:     policy.AuthorOwnerClient,
		Sender:     testOwner,
		Body:       "How much is Zxqvwort?",
		Kind:       "text",
		At:         time.Now(),
		ReceivedAt: time.Now(),
		Action:     policy.ActionCommand,
	}, func(message store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: message} })
	traceOf := func(chat store.ChatID) func() string {
		return func() (trace string) {
			_ = h.st.DB().QueryRow(t.Context(), `select trace_id from outbox where chat_id = $1 and state = 'sent' and content::text like '%90 euro%'
				order by seq desc limit 1`, chat).Scan(&trace)
			return trace
		}
	}
	for name, c := range map[string]struct {
		trace func() string
		spans []string
	}{
		"a contact's turn":     {traceOf(chat), []string{"job turn", "invoke_agent", "chat", "search", "sql select", "sql update"}},
		"the owner's question": {traceOf(room.ID), []string{"job ask", "invoke_agent", "chat", "execute_tool", "search", "sql insert"}},
	} {
		var trace string
		wait(name, func() bool {
			trace = c.trace()
			return trace != "" && slices.ContainsFunc(found.named(trace), func(span string) bool { return strings.HasPrefix(span, "job ") })
		})
		for _, span := range c.spans {
			require.Contains(t, found.named(trace), span, name)
		}
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	require.NotContains(t, strings.ToLower(string(found.bytes)), strings.ToLower(canary))
	for _, private := range []string{"@owner:x", "90 euro", "prices.md", model.URL, h.dsn, room.RoomID.String()} {
		require.NotContains(t, string(found.bytes), private)
	}
	require.Greater(t, len(found.spans), 50)
}
