package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
	"multis/knowledge"
	"multis/llm"
	"multis/policy"
)

// Many pages of a site may be old when a customer asks. What he is told is what its page says now.
func TestPage_AnswersWithCurrentText(t *testing.T) {
	t.Parallel()
	var price atomic.Int32
	price.Store(19)
	things := []string{
		"a harpsichord", "a trombone", "a clarinet", "an accordion", "a saxophone", "a mandolin", "a glockenspiel",
		"a theremin",
	}
	mux := http.NewServeMux()
	for i, thing := range things {
		mux.HandleFunc(fmt.Sprintf("/help/%d", i), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, "<html><body><h1>Renting</h1><p>Renting %s costs %d euro a day.</p></body></html>", thing, price.Load())
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b := setup(t, llm.None{})
	documents := knowledge.Open(b.store, knowledge.Options{Fetch: fetch.New(fetch.Options{AllowPrivate: true})})
	for i := range things {
		_, err := documents.IndexAddress(t.Context(), knowledge.File{Origin: fmt.Sprintf("%s/help/%d", server.URL, i), Role: policy.RolePublic})
		require.NoError(t, err)
	}
	_, err := b.store.Pool().Exec(t.Context(), "update documents set indexed_at = indexed_at - interval '1 day' where origin like 'http%'")
	require.NoError(t, err)
	price.Store(29)
	b.agent.Turns.pages = knowledge.NewPages(documents, []string{server.URL + "/help/"})
	b.storeContactMessage("What does renting a theremin cost?", policy.ActionAnswer)
	require.NoError(t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job", true))
	require.Len(t, b.queuedTexts(b.chat), 1)
	require.Contains(t, b.queuedTexts(b.chat)[0], "Renting a theremin costs 29 euro a day.")
}
